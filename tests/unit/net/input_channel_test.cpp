#include "shared/net/input_channel.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shared/base/limits.hpp"
#include "shared/base/random.hpp"
#include "shared/net/connection.hpp"

namespace shoal {
namespace {

std::vector<std::byte> payload_of(std::uint32_t tick, std::size_t size = 4) {
  std::vector<std::byte> payload(size, std::byte{0});
  for (std::size_t i = 0; i < size && i < 4; ++i) payload[i] = static_cast<std::byte>(tick >> (8 * i));
  return payload;
}

/// An update on its way: what the sender built, as the receiver reads it.
class Update {
 public:
  explicit Update(const InputSender& sender, std::size_t room = kMaxPacketBodyBytes) {
    const auto inputs = sender.build(builder_, room);
    builder_.Finish(protocol::CreateClientUpdate(builder_, flatbuffers::nullopt, inputs));
  }
  explicit Update(const std::vector<std::pair<std::uint32_t, std::size_t>>& ticks_and_sizes) {
    std::vector<flatbuffers::Offset<protocol::Input>> inputs;
    for (const auto& [tick, size] : ticks_and_sizes) {
      const std::vector<std::uint8_t> payload(size, 1);
      inputs.push_back(protocol::CreateInput(builder_, tick, builder_.CreateVector(payload)));
    }
    builder_.Finish(
        protocol::CreateClientUpdate(builder_, flatbuffers::nullopt, builder_.CreateVector(inputs)));
  }
  const protocol::ClientUpdate& get() {
    const auto* update = verified<protocol::ClientUpdate>(
        std::as_bytes(std::span(builder_.GetBufferPointer(), builder_.GetSize())));
    SHOAL_ASSERT(update != nullptr, "the update verifies");
    return *update;
  }
  std::size_t size() const { return builder_.GetSize(); }

 private:
  flatbuffers::FlatBufferBuilder builder_;
};

std::vector<std::uint32_t> take_all(InputReceiver& receiver) {
  std::vector<std::uint32_t> ticks;
  while (const auto input = receiver.next()) {
    EXPECT_TRUE(std::ranges::equal(input->payload, payload_of(input->tick.value, input->payload.size())));
    ticks.push_back(input->tick.value);
  }
  return ticks;
}

TEST(InputChannel, RepeatsUntilAcknowledged) {
  InputSender sender;
  InputReceiver receiver;
  for (std::uint32_t tick = 1; tick <= 3; ++tick) sender.push(Tick{tick}, payload_of(tick));
  EXPECT_FALSE(receiver.newest());
  ASSERT_TRUE(receiver.accept(Update(sender).get()));
  ASSERT_TRUE(receiver.accept(Update(sender).get()));
  EXPECT_EQ(take_all(receiver), (std::vector<std::uint32_t>{1, 2, 3})) << "each once, in order";
  ASSERT_TRUE(sender.acknowledge(*receiver.newest()));
  EXPECT_EQ(sender.unacknowledged(), 0u);
  EXPECT_TRUE(receiver.accept(Update(sender).get())) << "no inputs are no error";
}

TEST(InputChannel, HandsOutEachInputOnceInOrderUnderLossAndDuplication) {
  // P14: from 0 and across the wrap of the tick.
  for (const std::uint32_t start : {0u, 0xFFFFFFFFu - 500u}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Random random(seed);
      InputSender sender;
      InputReceiver receiver;
      std::vector<std::uint32_t> taken;
      constexpr std::uint32_t kInputs = 1000;
      for (std::uint32_t i = 0; i < kInputs + 200; ++i) {
        if (i < kInputs) sender.push(Tick{start + i}, payload_of(start + i, random.below(12)));
        Update update(sender);
        for (std::uint32_t copies = random.below(3); copies > 0 && random.chance(0.7); --copies) {
          ASSERT_TRUE(receiver.accept(update.get()));
        }
        for (const std::uint32_t tick : take_all(receiver)) taken.push_back(tick);
        if (receiver.newest() && random.chance(0.5)) {
          ASSERT_TRUE(sender.acknowledge(*receiver.newest()));
        }
      }
      ASSERT_EQ(taken.size(), kInputs) << "seed " << seed;
      for (std::uint32_t i = 0; i < kInputs; ++i) ASSERT_EQ(taken[i], start + i);
    }
  }
}

// P21
TEST(InputChannel, BothSidesAreBoundedAndTheOldestGivesWay) {
  InputSender sender;
  InputReceiver receiver;
  for (std::uint32_t tick = 1; tick <= 100; ++tick) sender.push(Tick{tick}, payload_of(tick));
  EXPECT_EQ(sender.unacknowledged(), kMaxInputs);
  EXPECT_EQ(sender.dropped(), 100 - kMaxInputs);
  ASSERT_TRUE(receiver.accept(Update(sender, 100000).get()));
  ASSERT_TRUE(sender.acknowledge(Tick{100}));
  sender.push(Tick{101}, payload_of(101));
  ASSERT_TRUE(receiver.accept(Update(sender).get()));
  EXPECT_EQ(receiver.waiting(), kMaxInputs);
  EXPECT_EQ(receiver.dropped(), 1u);
  EXPECT_EQ(receiver.peek()->tick, Tick{100 - kMaxInputs + 2});
}

TEST(InputChannel, NeverTakesMoreThanTheRoomGiven) {
  InputSender sender;
  for (std::uint32_t tick = 0; tick < kMaxInputs; ++tick) sender.push(Tick{tick}, payload_of(tick, 1 + tick));
  for (std::size_t room = 0; room < 1200; ++room) {
    flatbuffers::FlatBufferBuilder builder;
    (void)sender.build(builder, room);
    ASSERT_LE(builder.GetSize(), room) << "room of " << room;
  }
}

TEST(InputChannel, LimitedRoomStillMakesProgressFromTheOldest) {
  InputSender sender;
  InputReceiver receiver;
  for (std::uint32_t tick = 1; tick <= 60; ++tick) sender.push(Tick{tick}, payload_of(tick, kMaxInputBytes));
  std::uint32_t expected = 0;
  while (sender.unacknowledged() > 0) {
    ASSERT_TRUE(receiver.accept(Update(sender, 500).get()));
    const auto ticks = take_all(receiver);
    ASSERT_FALSE(ticks.empty());
    for (const std::uint32_t tick : ticks) ASSERT_EQ(tick, ++expected) << "no gap";
    ASSERT_TRUE(sender.acknowledge(*receiver.newest()));
  }
  EXPECT_EQ(expected, 60u);
}

// T15
TEST(InputChannel, ListsThatNoSenderWritesAreRefusedWhole) {
  InputReceiver receiver;
  EXPECT_FALSE(receiver.accept(Update({{1, 4}, {1, 4}}).get())) << "the same tick twice";
  EXPECT_FALSE(receiver.accept(Update({{5, 4}, {4, 4}}).get())) << "backwards";
  EXPECT_FALSE(receiver.accept(Update({{1, 4}, {2, kMaxInputBytes + 1}}).get())) << "too long";
  std::vector<std::pair<std::uint32_t, std::size_t>> many;
  for (std::uint32_t i = 0; i <= kMaxInputs; ++i) many.emplace_back(i, 1);
  EXPECT_FALSE(receiver.accept(Update(many).get())) << "too many";
  EXPECT_EQ(receiver.waiting(), 0u);
  EXPECT_FALSE(receiver.newest());
}

// T15
TEST(InputChannel, AcknowledgementOfAnInputThatWasNeverMadeChangesNothing) {
  InputSender sender;
  EXPECT_FALSE(sender.acknowledge(Tick{5}));
  sender.push(Tick{1}, payload_of(1));
  EXPECT_FALSE(sender.acknowledge(Tick{2}));
  EXPECT_EQ(sender.unacknowledged(), 1u);
}

}  // namespace
}  // namespace shoal
