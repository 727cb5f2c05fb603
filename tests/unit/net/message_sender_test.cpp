#include "shared/net/message_sender.hpp"

#include <gtest/gtest.h>

#include "tests/unit/net/message_link.hpp"

namespace shoal {
namespace {

constexpr MessageLimits kPeer{{4096, 8192}, {4096, 8192}};
constexpr std::size_t kEntry = 12;

struct Sent {
  std::vector<OutgoingFragment> fragments;
  std::size_t units() const {
    std::size_t sum = 0;
    for (const OutgoingFragment& fragment : fragments) sum += fragment.units;
    return sum;
  }
};

Sent choose(MessageSender& sender, std::uint64_t sequence, std::size_t room = 1000) {
  std::array<OutgoingFragment, kMaxFragments> chosen;
  const std::size_t count = sender.choose(room, kEntry, Sequence{sequence}, chosen);
  return {{chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(count)}};
}

/// Sends until nothing may leave; everything is acknowledged at once, sequences go on from `sequence`.
std::size_t drain(MessageSender& sender, std::uint64_t& sequence) {
  std::size_t units = 0;
  while (sender.has_something_to_send()) {
    units += choose(sender, ++sequence).units();
    EXPECT_TRUE(sender.settle(Sequence{sequence}, true));
  }
  return units;
}

// T12: a message that fits nowhere blocked its channel for ever.
TEST(MessageSender, MessageThatCanNeverFitIsRefusedWhenQueued) {
  MessageSender sender(kPeer, {2000, 100'000});
  const auto refusal = [&](MessageChannel channel, std::size_t size) {
    const auto queued = sender.queue(channel, test_bytes(1, size));
    return queued ? std::optional<QueueError>{} : queued.error();
  };
  EXPECT_EQ(refusal(MessageChannel::Unordered, 4097), QueueError::TooLarge) << "above what the peer takes";
  EXPECT_EQ(refusal(MessageChannel::Ordered, 1905), QueueError::TooLarge) << "above the whole queue";
  EXPECT_EQ(refusal(MessageChannel::Unordered, kMaxMessageBytes + 1), QueueError::TooLarge);
  EXPECT_EQ(refusal(MessageChannel::Ordered, 1904), std::nullopt);
  EXPECT_EQ(refusal(MessageChannel::Ordered, 0), QueueError::QueueFull) << "later it will fit";
  EXPECT_EQ(refusal(MessageChannel::Unordered, 4096), std::nullopt);
  std::uint64_t sequence = 0;
  drain(sender, sequence);
  EXPECT_TRUE(sender.is_empty()) << "what was taken passed";
  EXPECT_EQ(refusal(MessageChannel::Ordered, 0), std::nullopt);
}

TEST(MessageSender, LostFragmentsLeaveFirstAndOnlyThose) {
  MessageSender sender(kPeer);
  const auto bytes = test_bytes(1, 4000);
  ASSERT_TRUE(sender.queue(MessageChannel::Ordered, bytes));
  const Sent first = choose(sender, 1, 500);
  const Sent second = choose(sender, 2, 500);
  ASSERT_EQ(first.fragments.size(), 1u);
  ASSERT_TRUE(sender.settle(Sequence{2}, true));
  ASSERT_TRUE(sender.settle(Sequence{1}, false));
  EXPECT_FALSE(sender.settle(Sequence{1}, false)) << "each ends once";
  EXPECT_FALSE(sender.settle(Sequence{7}, true)) << "not one of these";
  const Sent again = choose(sender, 3, 500);
  ASSERT_FALSE(again.fragments.empty());
  EXPECT_EQ(again.fragments[0].first_unit, first.fragments[0].first_unit);
  EXPECT_EQ(again.fragments[0].units, first.fragments[0].units);
  EXPECT_TRUE(
      std::ranges::equal(again.fragments[0].bytes, std::span(bytes).first(again.fragments[0].bytes.size())));
  EXPECT_EQ(sender.resent_units(), first.units());
}

TEST(MessageSender, EveryUnitIsSentOnceWhenNothingIsLost) {
  MessageSender sender(kPeer);
  for (const std::size_t size : {0u, 1u, 64u, 65u, 4096u, 63u}) {
    ASSERT_TRUE(sender.queue(MessageChannel::Ordered, test_bytes(size, size)));
    ASSERT_TRUE(sender.queue(MessageChannel::Unordered, test_bytes(size, size)));
  }
  std::uint64_t sequence = 0;
  // The window holds one round of both.
  EXPECT_EQ(drain(sender, sequence), 2u * (1 + 1 + 1 + 2 + 64 + 1));
  EXPECT_TRUE(sender.is_empty());
  EXPECT_EQ(sender.queued_bytes(MessageChannel::Ordered), 0u);
}

TEST(MessageSender, MessageBeginsOnlyWhenTheWindowHoldsAllOfIt) {
  MessageSender sender(kPeer);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(sender.queue(MessageChannel::Ordered, test_bytes(1, 3000)));
  std::uint64_t sequence = 0;
  EXPECT_EQ(drain(sender, sequence), 2u * message_units(3000)) << "the third would go beyond 8192";
  EXPECT_EQ(sender.queued_bytes(MessageChannel::Ordered), 2u * message_cost(3000));
  ASSERT_TRUE(sender.take_limit(MessageChannel::Ordered, 8192 + message_cost(3000)));
  EXPECT_EQ(drain(sender, sequence), std::size_t{message_units(3000)});
  ASSERT_TRUE(sender.take_limit(MessageChannel::Ordered, 8192)) << "an older packet came late";
  EXPECT_FALSE(sender.has_something_to_send());
  ASSERT_TRUE(sender.take_limit(MessageChannel::Ordered, 8192 + 2 * message_cost(3000)));
  EXPECT_EQ(drain(sender, sequence), std::size_t{message_units(3000)});
  EXPECT_TRUE(sender.is_empty());
}

// T15
TEST(MessageSender, LimitThatNoReaderCanHaveReachedIsRefused) {
  MessageSender sender(kPeer);
  EXPECT_FALSE(sender.take_limit(MessageChannel::Ordered, 8193))
      << "nothing was sent, so nothing was fetched";
  ASSERT_TRUE(sender.queue(MessageChannel::Ordered, test_bytes(1, 10)));
  std::uint64_t sequence = 0;
  drain(sender, sequence);
  EXPECT_TRUE(sender.take_limit(MessageChannel::Ordered, 8192 + message_cost(10)));
  EXPECT_FALSE(sender.take_limit(MessageChannel::Ordered, 8193 + message_cost(10)));
  EXPECT_FALSE(sender.take_limit(MessageChannel::Unordered, 8193));
}

TEST(MessageSender, NumbersAndLimitsGoRoundWithoutANotice) {
  constexpr std::uint32_t kFirst = 0xFFFFFF00;
  MessageSender sender(kPeer, {}, kFirst);
  std::uint64_t sequence = 0;
  std::uint32_t limit = kFirst + 8192;
  for (std::uint32_t i = 0; i < 600; ++i) {
    const auto number = sender.queue(MessageChannel::Ordered, test_bytes(1, 100));
    ASSERT_TRUE(number);
    EXPECT_EQ(*number, kFirst + i);
    drain(sender, sequence);
    ASSERT_TRUE(sender.is_empty()) << i;
    limit += message_cost(100);
    ASSERT_TRUE(sender.take_limit(MessageChannel::Ordered, limit)) << i;
    ASSERT_FALSE(sender.take_limit(MessageChannel::Ordered, limit + 1)) << i;
  }
}

TEST(MessageSender, SendsLessWhileMuchIsLostAndMoreAgainLater) {
  MessageSender sender(kClientMessageLimits);
  ASSERT_TRUE(sender.queue(MessageChannel::Ordered, test_bytes(1, 1u << 20)));
  std::uint64_t sequence = 0;
  const auto flight = [&] {
    const std::uint64_t from = sequence + 1;
    while (sender.has_something_to_send()) choose(sender, ++sequence);
    return std::pair(from, sequence - from + 1);
  };
  const auto settle = [&](std::pair<std::uint64_t, std::uint64_t> sent, bool acknowledged) {
    for (std::uint64_t i = 0; i < sent.second; ++i) sender.settle(Sequence{sent.first + i}, acknowledged);
  };
  auto sent = flight();
  const std::uint64_t at_first = sent.second;
  settle(sent, true);
  sent = flight();
  EXPECT_GE(sent.second, 2 * at_first - 2) << "doubled";
  settle(sent, false);
  sent = flight();
  EXPECT_LE(sent.second, at_first + 2) << "halved once for all that was lost together";
  EXPECT_GE(sent.second, at_first - 2);
  for (int i = 0; i < 8; ++i) {
    settle(sent, false);
    sent = flight();
  }
  EXPECT_GE(sent.second, 4u) << "but it goes on";
  EXPECT_LE(sent.second, 6u);
}

TEST(MessageSender, NotesAboutPacketsAreBoundedWhenNothingComesBack) {
  MessageSender sender(kClientMessageLimits);
  while (sender.queue(MessageChannel::Unordered, {})) {
  }
  std::uint64_t sequence = 0;
  while (sender.has_something_to_send()) choose(sender, ++sequence, 100);
  EXPECT_LE(sender.memory_bytes(), (256u << 10) + (64u << 10));
  const std::size_t queued = sender.queued_bytes(MessageChannel::Unordered);
  for (std::uint64_t i = 1; i <= sequence; ++i) sender.settle(Sequence{i}, i % 2 == 0);
  EXPECT_LT(sender.queued_bytes(MessageChannel::Unordered), queued);
  EXPECT_TRUE(sender.has_something_to_send());
}

TEST(MessageSender, NotesAboutPacketsAreBoundedWhenOneAnswerIsMissing) {
  MessageSender sender(kClientMessageLimits);
  ASSERT_TRUE(sender.queue(MessageChannel::Ordered, test_bytes(1, 1u << 20)));
  std::uint64_t sequence = 0;
  std::size_t units = 0;
  while (sender.has_something_to_send()) {
    ASSERT_GT(choose(sender, ++sequence, 100).units(), 0u);
    if (sequence > 1) {
      ASSERT_TRUE(sender.settle(Sequence{sequence}, true));
    }
    ++units;
  }
  EXPECT_EQ(units, MessageSender::kMaxSentFragments);
  ASSERT_TRUE(sender.settle(Sequence{1}, true));
  EXPECT_GT(drain(sender, sequence), 10'000u) << "and goes on";
  EXPECT_TRUE(sender.is_empty());
}

TEST(MessageSender, NoMoreThanTheWindowOfMessagesIsUnderWay) {
  for (const MessageChannel channel : {MessageChannel::Ordered, MessageChannel::Unordered}) {
    MessageSender sender(kClientMessageLimits);
    for (std::uint32_t i = 0; i < 2 * kMessageWindow; ++i) ASSERT_TRUE(sender.queue(channel, {}));
    const Sent first = choose(sender, 1, 12 + 1);
    ASSERT_EQ(first.fragments.size(), 1u);
    std::uint64_t sequence = 1;
    EXPECT_EQ(drain(sender, sequence), kMessageWindow - 1) << "counted from the one that is not acknowledged";
    ASSERT_TRUE(sender.settle(Sequence{1}, true));
    EXPECT_EQ(drain(sender, sequence), std::size_t{kMessageWindow});
    EXPECT_TRUE(sender.is_empty());
  }
}

TEST(MessageSender, SilenceSavesUpNoClaimToTheOtherChannelsShare) {
  MessageSender sender(kClientMessageLimits);
  std::uint64_t sequence = 0;
  ASSERT_TRUE(sender.queue(MessageChannel::Ordered, test_bytes(1, 500'000)));
  drain(sender, sequence);  // alone
  ASSERT_TRUE(sender.queue(MessageChannel::Ordered, test_bytes(1, 200'000)));
  ASSERT_TRUE(sender.queue(MessageChannel::Unordered, test_bytes(1, 200'000)));
  std::array<std::size_t, 2> units{};
  for (int i = 0; i < 20; ++i) {
    for (const OutgoingFragment& fragment : choose(sender, ++sequence).fragments) {
      units[static_cast<std::size_t>(fragment.channel)] += fragment.units;
    }
    ASSERT_TRUE(sender.settle(Sequence{sequence}, true));
  }
  EXPECT_GT(units[0], 100u);
  EXPECT_GT(units[1], 100u);
}

}  // namespace
}  // namespace shoal
