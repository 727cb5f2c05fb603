// Both ends of a session's channels, on a path that loses, delays, reorders and doubles.
#include "shared/net/message_channels.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "shared/net/send_budget.hpp"
#include "tests/unit/net/message_link.hpp"

namespace shoal {
namespace {

constexpr MessageLimits kSmall{{4096, 8192}, {4096, 8192}};
constexpr MessageLimits kLarge{{1u << 20, (1u << 20) + 4096}, {1u << 20, (1u << 20) + 4096}};

/// Two ends and the paths between them.
struct Pair {
  Pair(const MessageLimits& a_takes, const MessageLimits& b_takes, std::uint64_t seed,
       const MessageQueueLimits& queues = {}, std::uint32_t first = 0)
      : a(a_takes, b_takes, queues, first),
        b(b_takes, a_takes, queues, first),
        to_b(a, b, seed),
        to_a(b, a, seed + 1) {}
  void run(Duration duration, const std::function<void()>& step = {}) {
    for (const Time end = now + duration; now < end;) {
      now = now + milliseconds{5};
      if (step) step();
      to_b.run(now);
      to_a.run(now);
      ASSERT_FALSE(to_b.error) << to_string(*to_b.error);
      ASSERT_FALSE(to_a.error) << to_string(*to_a.error);
      fetch(b, at_b);
      fetch(a, at_a);
    }
  }
  static void fetch(MessageChannels& end, std::vector<ReceivedMessage>& into) {
    while (auto message = end.next()) into.push_back(std::move(*message));
  }

  MessageChannels a;
  MessageChannels b;
  MessageLink to_b;
  MessageLink to_a;
  std::vector<ReceivedMessage> at_a;
  std::vector<ReceivedMessage> at_b;
  Time now{};
};

/// What was queued in one direction, and how it must come out.
class Book {
 public:
  explicit Book(std::uint64_t seed) : random_(seed) {}

  /// Queues one message of 0 to `max_bytes`; the first word of a longer one is its number.
  void queue(MessageChannels& end, std::size_t max_bytes) {
    const MessageChannel channel = random_.chance(0.5) ? MessageChannel::Ordered : MessageChannel::Unordered;
    const std::size_t magnitude = random_.below(21);
    const std::size_t size = std::min<std::size_t>(max_bytes, random_.below(2u << magnitude));
    std::vector<std::byte> bytes = test_bytes(random_.next(), size);
    const auto number = end.queue(channel, bytes);
    if (!number) {
      ASSERT_EQ(number.error(), QueueError::QueueFull);
      return;
    }
    sent_[index(channel)].push_back(std::move(bytes));
    bytes_queued += size;
  }
  /// Each once, the ordered ones in order.
  void check(const std::vector<ReceivedMessage>& received) {
    std::array<std::multimap<std::uint64_t, std::size_t>, 2> by_hash;
    for (std::size_t c = 0; c < 2; ++c) {
      for (std::size_t i = 0; i < sent_[c].size(); ++i) by_hash[c].emplace(hash(sent_[c][i]), i);
    }
    std::size_t next_ordered = 0;
    for (const ReceivedMessage& message : received) {
      const std::size_t c = index(message.channel);
      const auto found = by_hash[c].find(hash(message.span()));
      ASSERT_NE(found, by_hash[c].end()) << "a message that was never sent, or came twice";
      if (message.channel == MessageChannel::Ordered) {
        ASSERT_TRUE(std::ranges::equal(sent_[c][next_ordered], message.span())) << "out of order";
        ++next_ordered;
      } else {
        ASSERT_TRUE(std::ranges::equal(sent_[c][found->second], message.span()));
      }
      by_hash[c].erase(found);
    }
    EXPECT_TRUE(by_hash[0].empty() && by_hash[1].empty())
        << by_hash[0].size() << " ordered and " << by_hash[1].size() << " unordered messages never came";
  }
  std::size_t bytes_queued = 0;

 private:
  static std::size_t index(MessageChannel channel) { return static_cast<std::size_t>(channel); }
  static std::uint64_t hash(std::span<const std::byte> bytes) {
    std::uint64_t value = mix64(bytes.size());
    for (const std::byte b : bytes) value = (value ^ std::to_integer<std::uint64_t>(b)) * 0x100000001B3u;
    return value;
  }
  Random random_;
  std::array<std::vector<std::vector<std::byte>>, 2> sent_;
};

TEST(MessageChannels, ArriveOnceInOrderAndWholeWhateverThePathDoes) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    const bool is_large = seed % 6 == 5;
    const MessageLimits& limits = is_large ? kLarge : kSmall;
    const MessageQueueLimits queues{message_cost(kMaxMessageBytes), message_cost(kMaxMessageBytes)};
    Pair pair(limits, limits, seed, queues, seed % 2 == 0 ? 0 : 0xFFFFFF80);
    Random random(seed + 100);
    for (MessageLink* link : {&pair.to_a, &pair.to_b}) {
      link->faults = {random.uniform() * 0.3, random.uniform() * 0.3, milliseconds{random.below(60)},
                      milliseconds{random.below(120)}};
      link->loss_delay = milliseconds{100 + random.below(200)};
    }
    Book from_a(seed + 200);
    Book from_b(seed + 300);
    const std::size_t memory_limit =
        queues.ordered_bytes + queues.unordered_bytes + 2 * limits.ordered.window_bytes + (128u << 10);
    pair.run(is_large ? seconds{20} : seconds{10}, [&] {
      if (random.chance(is_large ? 0.01 : 0.2)) from_a.queue(pair.a, limits.ordered.max_message_bytes);
      if (random.chance(is_large ? 0.01 : 0.2)) from_b.queue(pair.b, limits.ordered.max_message_bytes);
      for (const MessageChannels* end : {&pair.a, &pair.b}) {
        ASSERT_LE(end->sender().memory_bytes() + end->receiver().memory_bytes(), memory_limit);
      }
    });
    pair.to_a.faults = pair.to_b.faults = {};
    for (int i = 0; i < 120 && !(pair.a.sender().is_empty() && pair.b.sender().is_empty()); ++i) {
      pair.run(seconds{1});
    }
    pair.run(seconds{1});
    from_a.check(pair.at_b);
    from_b.check(pair.at_a);
    EXPECT_LE(pair.a.sender().memory_bytes() + pair.a.receiver().memory_bytes(), 2048u)
        << "all of it is given back";
    if (HasFatalFailure()) return;
  }
}

TEST(MessageChannels, CrowdOfSmallMessagesArrivesOnceOnALossyPath) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    Pair pair(kServerMessageLimits, kClientMessageLimits, seed);
    pair.to_b.faults = {0.2, 0.1, milliseconds{10}, milliseconds{50}};
    Book from_a(seed);
    pair.run(seconds{3}, [&] {
      for (int i = 0; i < 20; ++i) from_a.queue(pair.a, 40);
    });
    pair.to_b.faults = {};
    pair.run(seconds{8});
    from_a.check(pair.at_b);
  }
}

TEST(MessageChannels, LargestMessagePasses) {
  Pair pair(kServerMessageLimits, kClientMessageLimits, 1);
  pair.to_b.faults.loss = 0.05;
  const auto large = test_bytes(9, kMaxMessageBytes);
  ASSERT_TRUE(pair.a.queue(MessageChannel::Ordered, large));
  ASSERT_TRUE(pair.b.queue(MessageChannel::Ordered, test_bytes(10, 64u << 10)));
  pair.run(seconds{60});
  ASSERT_EQ(pair.at_b.size(), 1u);
  EXPECT_TRUE(std::ranges::equal(pair.at_b[0].span(), large));
  ASSERT_EQ(pair.at_a.size(), 1u);
}

TEST(MessageChannels, PayloadNeverTakesMoreThanTheRoomGiven) {
  for (std::size_t room = 0; room < 1200; ++room) {
    MessageChannels channels(kSmall, kSmall);
    Random random(room);
    for (int i = 0; i < 80; ++i) {
      (void)channels.queue(random.chance(0.5) ? MessageChannel::Ordered : MessageChannel::Unordered,
                           test_bytes(1, random.below(1u + random.below(900))));
    }
    MessagesTable table;
    for (std::uint64_t sequence = 1; sequence < 20; ++sequence) {
      if (!table.build(channels, Sequence{sequence}, room)) break;  // checks the size
    }
  }
}

TEST(MessageChannels, SmallMessagesShareAPacket) {
  MessageChannels channels(kSmall, kSmall);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(
        channels.queue(i % 2 == 0 ? MessageChannel::Ordered : MessageChannel::Unordered, test_bytes(1, 20)));
  }
  MessagesTable table;
  ASSERT_TRUE(table.build(channels, Sequence{1}));
  EXPECT_EQ(table.get().ordered()->size() + table.get().unordered()->size(), 20u);
  EXPECT_FALSE(channels.has_something_to_send());
}

// A large message must not hold everything else up.
TEST(MessageChannels, SmallUnorderedMessagePassesALargeOne) {
  for (const MessageChannel large : {MessageChannel::Ordered, MessageChannel::Unordered}) {
    Pair pair(kServerMessageLimits, kClientMessageLimits, 3);
    ASSERT_TRUE(pair.a.queue(large, test_bytes(1, 200u << 10)));
    pair.run(milliseconds{30});
    ASSERT_TRUE(pair.a.queue(MessageChannel::Unordered, test_bytes(2, 30)));
    pair.run(milliseconds{60});
    ASSERT_EQ(pair.at_b.size(), 1u) << "it came first";
    EXPECT_EQ(pair.at_b[0].size, 30u);
    pair.run(seconds{10});
    EXPECT_EQ(pair.at_b.size(), 2u);
  }
}

TEST(MessageChannels, BothChannelsGetTheSameShareOfAFullPath) {
  Pair pair(kServerMessageLimits, kClientMessageLimits, 4);
  std::array<std::size_t, 2> bytes{};
  for (int i = 0; i < 400; ++i) {
    while (pair.a.queue(MessageChannel::Ordered, test_bytes(1, 30'000))) {
    }
    while (pair.a.queue(MessageChannel::Unordered, test_bytes(1, 40))) {
    }
    pair.run(milliseconds{25});
    for (const ReceivedMessage& message : pair.at_b)
      bytes[static_cast<std::size_t>(message.channel)] += message.size + 12;
    pair.at_b.clear();
  }
  EXPECT_GT(bytes[0], 300'000u);
  EXPECT_GT(bytes[1], 300'000u);
}

TEST(MessageChannels, PeerThatHearsNothingCostsABoundedQueueAndGetsAllOfIt) {
  Pair pair(kServerMessageLimits, kClientMessageLimits, 7);
  pair.to_b.faults.loss = 1;
  std::size_t queued = 0;
  for (int i = 0; i < 300; ++i) {
    const auto done = pair.a.queue(MessageChannel::Ordered, test_bytes(1, 10'000));
    if (done) {
      ++queued;
    } else {
      EXPECT_EQ(done.error(), QueueError::QueueFull);
    }
    pair.run(milliseconds{50});
  }
  EXPECT_LT(queued, 200u);
  EXPECT_LE(pair.a.sender().memory_bytes(), (1u << 20) + (64u << 10));
  pair.to_b.faults.loss = 0;
  pair.run(seconds{60});
  EXPECT_EQ(pair.at_b.size(), queued) << "what was queued comes when it can";
}

// Who reads nothing is sent nothing more, and goes on when it reads again.
TEST(MessageChannels, ReaderThatFetchesNothingSlowsItsSenderDown) {
  MessageChannels a(kSmall, kSmall);
  MessageChannels b(kSmall, kSmall);
  MessageLink to_b(a, b, 1);
  MessageLink to_a(b, a, 2);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(a.queue(MessageChannel::Ordered, test_bytes(1, 1000)));
  Time now{};
  const auto run = [&](int steps) {
    for (; steps > 0; --steps) {
      now = now + milliseconds{10};
      to_b.run(now);
      to_a.run(now);
    }
  };
  run(200);
  ASSERT_FALSE(to_b.error) << to_string(*to_b.error);
  EXPECT_LE(b.receiver().held_bytes(MessageChannel::Ordered), kSmall.ordered.window_bytes);
  int fetched = 0;
  for (int i = 0; i < 20; ++i) {
    while (b.next()) ++fetched;
    run(20);
    ASSERT_FALSE(to_b.error) << to_string(*to_b.error);
  }
  EXPECT_EQ(fetched, 20);
}

// P12: a burst of messages starved state for a minute.
TEST(MessageChannels, BurstOfMessagesLeavesHalfOfTheBudgetToState) {
  Pair pair(kServerMessageLimits, kClientMessageLimits, 9);
  SendBudget budget(100'000, Time{});
  std::uint64_t state = 0;
  std::uint64_t messages = 0;
  std::uint64_t sequence = 0;
  std::vector<Sequence> sent;
  Time now{};
  for (int tick = 0; tick < 30 * 20; ++tick) {
    now = now + milliseconds{33};
    while (pair.a.queue(MessageChannel::Ordered, test_bytes(1, 100'000))) {
    }
    budget.refill(now);
    // Messages ask first and state always waits.
    MessagesTable table;
    while (budget.may_send_other(true) && pair.a.has_something_to_send() &&
           table.build(pair.a, Sequence{++sequence})) {
      budget.spend_other(table.size());
      messages += table.size();
      ASSERT_FALSE(pair.b.take(table.get()));
      sent.push_back(Sequence{sequence});
    }
    while (pair.b.next()) {
    }
    while (pair.b.has_something_to_send() && table.build(pair.b, Sequence{++sequence})) {
      ASSERT_FALSE(pair.a.take(table.get()));
      pair.b.settle(Sequence{sequence}, true);
    }
    for (const Sequence each : sent) pair.a.settle(each, true);
    sent.clear();
    while (budget.may_send_state()) {
      budget.spend_state(700);
      state += 700;
    }
  }
  EXPECT_GE(state, 100'000u * 20 * 48 / 100);
  EXPECT_GE(messages, 100'000u * 20 * 45 / 100) << "and messages are not starved either";
}

TEST(MessageChannels, IdleSessionCostsLittle) {
  EXPECT_LE(sizeof(MessageChannels), 2048u);
  MessageChannels channels(kServerMessageLimits, kClientMessageLimits);
  EXPECT_EQ(channels.sender().memory_bytes() + channels.receiver().memory_bytes(), 0u);
  EXPECT_FALSE(channels.has_something_to_send());
}

}  // namespace
}  // namespace shoal
