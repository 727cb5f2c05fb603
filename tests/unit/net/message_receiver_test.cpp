#include "shared/net/message_receiver.hpp"

#include <gtest/gtest.h>

#include "tests/unit/net/message_link.hpp"

namespace shoal {
namespace {

using Entry = protocol::FragmentEntry;
constexpr MessageLimits kLimits{{4096, 8192}, {1000, 4096}};

class MessageReceiverTest : public ::testing::Test {
 protected:
  std::optional<MessagesError> take(const std::vector<Entry>& ordered, const std::vector<Entry>& unordered,
                                    std::size_t body_bytes) {
    return receiver.take(MessagesTable(ordered, unordered, test_bytes(1, body_bytes)).get());
  }
  std::optional<MessagesError> take(MessageChannel channel, const Entry& entry,
                                    const std::vector<std::byte>& body) {
    if (channel == MessageChannel::Ordered) return receiver.take(MessagesTable({entry}, {}, body).get());
    return receiver.take(MessagesTable({}, {entry}, body).get());
  }
  std::vector<std::uint32_t> fetch_sizes() {
    std::vector<std::uint32_t> sizes;
    while (const auto message = receiver.next()) sizes.push_back(message->size);
    return sizes;
  }
  MessageReceiver receiver{kLimits};
};

using Sizes = std::vector<std::uint32_t>;

TEST_F(MessageReceiverTest, OrderedMessagesWaitForThoseBeforeThem) {
  EXPECT_FALSE(take({{2, 30, 0, 1}, {1, 20, 0, 1}}, {}, 50));
  EXPECT_EQ(fetch_sizes(), Sizes{});
  EXPECT_FALSE(take({{0, 10, 0, 1}}, {}, 10));
  EXPECT_EQ(fetch_sizes(), (Sizes{10, 20, 30}));
}

TEST_F(MessageReceiverTest, UnorderedMessagesWaitForNobody) {
  EXPECT_FALSE(take({}, {{2, 30, 0, 1}, {0, 100, 0, 1}}, 94));
  EXPECT_EQ(fetch_sizes(), Sizes{30}) << "the other one lacks a unit";
  EXPECT_FALSE(take({}, {{0, 100, 1, 1}}, 36));
  EXPECT_EQ(fetch_sizes(), Sizes{100});
}

TEST_F(MessageReceiverTest, FragmentsComeInAnyOrder) {
  const auto bytes = test_bytes(5, 200);
  const auto part = [&](std::uint32_t unit) {
    const auto body = std::span(bytes).subspan(unit * 64, fragment_bytes(200, unit, 1));
    return std::vector<std::byte>(body.begin(), body.end());
  };
  for (const std::uint16_t unit : std::array<std::uint16_t, 4>{3, 0, 2, 1}) {
    EXPECT_FALSE(receiver.next());
    ASSERT_FALSE(take(MessageChannel::Ordered, {0, 200, unit, 1}, part(unit)));
  }
  const auto message = receiver.next();
  ASSERT_TRUE(message);
  EXPECT_TRUE(std::ranges::equal(message->span(), bytes));
}

TEST_F(MessageReceiverTest, DuplicatesOfAnyAgeAreNotHandedOutAgain) {
  for (const MessageChannel channel : {MessageChannel::Ordered, MessageChannel::Unordered}) {
    const auto body = test_bytes(1, 64);
    ASSERT_FALSE(take(channel, {1, 100, 0, 1}, body));
    ASSERT_FALSE(take(channel, {1, 100, 0, 1}, body)) << "the same fragment once more";
    ASSERT_FALSE(take(channel, {0, 64, 0, 1}, body));
    EXPECT_EQ(fetch_sizes(), Sizes{64});
    ASSERT_FALSE(take(channel, {0, 64, 0, 1}, body)) << "a message that is over";
    ASSERT_FALSE(take(channel, {1, 100, 1, 1}, test_bytes(2, 36)));
    EXPECT_EQ(fetch_sizes(), Sizes{100});
    ASSERT_FALSE(take(channel, {1, 100, 0, 1}, body));
    ASSERT_FALSE(take(channel, {0, 64, 0, 1}, body));
    EXPECT_EQ(fetch_sizes(), Sizes{});
  }
  // One that is over while an older one is not.
  ASSERT_FALSE(take({}, {{3, 5, 0, 1}}, 5));
  ASSERT_FALSE(take({}, {{3, 5, 0, 1}}, 5));
  EXPECT_EQ(fetch_sizes(), Sizes{5});
}

// T15: counts, indices and sizes from the wire.
TEST_F(MessageReceiverTest, WhatNoSenderWritesIsAnError) {
  using E = MessagesError;
  const struct {
    E error;
    std::vector<Entry> ordered;
    std::vector<Entry> unordered;
    std::size_t body_bytes;
  } cases[] = {
      {E::TooManyFragments, std::vector<Entry>(40, {0, 0, 0, 1}), std::vector<Entry>(25, {0, 0, 0, 1}), 0},
      {E::EmptyFragment, {{0, 100, 0, 0}}, {}, 0},
      {E::TooLarge, {{0, 4097, 0, 1}}, {}, 64},
      {E::TooLarge, {}, {{0, 1001, 0, 1}}, 64},
      {E::TooLarge, {{0, 0xFFFFFFFF, 0, 1}}, {}, 64},
      {E::OutsideMessage, {{0, 100, 2, 1}}, {}, 64},
      {E::OutsideMessage, {{0, 100, 1, 2}}, {}, 100},
      {E::OutsideMessage, {{0, 0, 0, 2}}, {}, 0},
      {E::OutsideMessage, {{0, 100, 0xFFFF, 0xFFFF}}, {}, 100},
      {E::WrongBodies, {{0, 100, 0, 2}}, {}, 99},
      {E::WrongBodies, {{0, 100, 0, 2}}, {}, 101},
      {E::WrongBodies, {}, {}, 1},
      {E::WrongBodies, {{0, 64, 0, 1}}, {{0, 64, 0, 1}}, 127},
      {E::OutsideWindow, {{kMessageWindow, 1, 0, 1}}, {}, 1},
      {E::OutsideWindow, {}, {{0x7FFFFFFF, 1, 0, 1}}, 1},
      {E::Contradiction, {{0, 100, 0, 1}, {0, 99, 1, 1}}, {}, 64 + 35},
      {E::Contradiction, {{0, 200, 0, 1}, {0, 200, 0, 1}}, {}, 128},  // the same unit, other bytes
      {E::Contradiction, {{1, 64, 0, 1}, {1, 64, 0, 1}}, {}, 128},    // complete, and waits for number 0
      {E::Overrun, {{0, 4096, 0, 1}, {1, 4096, 0, 1}}, {}, 128},
  };
  for (const auto& each : cases) {
    receiver = MessageReceiver(kLimits);
    EXPECT_EQ(take(each.ordered, each.unordered, each.body_bytes), each.error)
        << to_string(each.error) << ", case " << &each - cases;
  }
}

// T11: fragments filled memory.
TEST_F(MessageReceiverTest, FragmentsOfALiarAreBounded) {
  for (const MessageChannel channel : {MessageChannel::Ordered, MessageChannel::Unordered}) {
    receiver = MessageReceiver(kLimits);
    std::optional<MessagesError> error;
    std::uint32_t number = 0;
    for (; number < 10'000 && !error; ++number) error = take(channel, {number, 300, 1, 1}, test_bytes(1, 64));
    EXPECT_EQ(error, MessagesError::Overrun);
    EXPECT_LE(receiver.held_bytes(channel), kLimits.of(channel).window_bytes);
    EXPECT_LE(receiver.memory_bytes(), kLimits.of(channel).window_bytes + (16u << 10));
  }
  // Empty ones cost as well.
  receiver = MessageReceiver(kLimits);
  std::optional<MessagesError> error;
  std::uint32_t number = 1;
  for (; number < 10'000 && !error; ++number) error = take({{number, 0, 0, 1}}, {}, 0);
  EXPECT_EQ(error, MessagesError::Overrun);
  EXPECT_EQ(number, 8192 / kMessageCostBytes + 2);
}

TEST_F(MessageReceiverTest, LimitIsToldWhenThePeerMightWaitForIt) {
  std::uint32_t number = 0;
  const auto receive = [&](std::uint32_t size) {
    const std::uint32_t units = message_units(size);
    ASSERT_FALSE(take({{number++, size, 0, static_cast<std::uint16_t>(units)}}, {}, size));
  };
  receive(1000);
  EXPECT_FALSE(receiver.limit_to_tell(MessageChannel::Ordered)) << "it was not fetched";
  EXPECT_EQ(fetch_sizes().size(), 1u);
  EXPECT_EQ(receiver.limit_to_tell(MessageChannel::Ordered), 8192 + message_cost(1000));
  EXPECT_FALSE(receiver.must_tell_limit()) << "there is room for more; it rides along with something else";
  receive(1000);
  EXPECT_EQ(fetch_sizes().size(), 1u);
  ASSERT_TRUE(receiver.must_tell_limit()) << "a quarter of the window";
  receiver.told(Sequence{5});
  EXPECT_FALSE(receiver.must_tell_limit());
  receiver.settle(Sequence{4}, false);
  EXPECT_FALSE(receiver.must_tell_limit()) << "another packet";
  receiver.settle(Sequence{5}, false);
  EXPECT_TRUE(receiver.must_tell_limit()) << "the peer does not know yet";
  receiver.told(Sequence{6});
  receiver.settle(Sequence{6}, true);
  EXPECT_FALSE(receiver.must_tell_limit());
  EXPECT_FALSE(receiver.limit_to_tell(MessageChannel::Ordered));
}

TEST_F(MessageReceiverTest, NumbersGoRound) {
  receiver = MessageReceiver(kLimits, 0xFFFFFFFE);
  for (const std::uint32_t number : {0u, 0xFFFFFFFFu, 1u}) {
    ASSERT_FALSE(take({{number, number == 0 ? 10u : 20u, 0, 1}}, {}, number == 0 ? 10u : 20u));
  }
  EXPECT_EQ(fetch_sizes(), Sizes{});
  ASSERT_FALSE(take({{0xFFFFFFFE, 5, 0, 1}}, {}, 5));
  EXPECT_EQ(fetch_sizes(), (Sizes{5, 20, 10, 20}));
  ASSERT_FALSE(take({{0xFFFFFFFF, 20, 0, 1}}, {}, 20)) << "over";
  EXPECT_EQ(take({{2 + kMessageWindow, 1, 0, 1}}, {}, 1), MessagesError::OutsideWindow);
}

TEST(UnitSet, KnowsItsMembersAndTheirRuns) {
  for (const std::uint32_t units : {1u, 64u, 65u, 300u}) {
    UnitSet set(units);
    EXPECT_EQ(set.first_run(10).count, 0u);
    set.insert(units - 1);
    set.insert(units - 1);
    EXPECT_EQ(set.size(), 1u);
    EXPECT_EQ(set.first_run(10).first, units - 1);
    EXPECT_EQ(set.first_run(10).count, 1u) << "and no further than the end";
    if (units > 1) {
      for (std::uint32_t unit = 0; unit < units; ++unit) set.insert(unit);
      set.erase(0);
      EXPECT_FALSE(set.has(0));
      EXPECT_EQ(set.first_run(1000).first, 1u);
      EXPECT_EQ(set.first_run(1000).count, units - 1);
      EXPECT_EQ(set.first_run(3).count, 3u);
    }
  }
}

}  // namespace
}  // namespace shoal
