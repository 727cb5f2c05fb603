#include "shared/net/event_gate.hpp"

#include <gtest/gtest.h>

#include <map>

#include "shared/base/random.hpp"

namespace shoal {
namespace {

constexpr Time kStart{seconds{5}};

class EventGateTest : public ::testing::Test {
 protected:
  struct Left {
    std::uint64_t entity;
    std::uint32_t tick;
    bool is_late;
    friend bool operator==(const Left&, const Left&) = default;
  };
  void push(std::uint64_t entity, std::uint32_t tick, Time came = kStart, std::uint32_t bytes = 8) {
    gate.push(
        {entity, Tick{tick}, {MessageChannel::Ordered, std::make_unique<std::byte[]>(bytes), bytes}, came},
        out);
  }
  std::vector<Left> release(Time now) {
    gate.release(
        now,
        [this](std::uint64_t entity, Tick tick) { return known.contains(entity) && known[entity] >= tick; },
        out);
    std::vector<Left> left;
    for (const EventGate::Event& event : out) left.push_back({event.entity, event.tick.value, event.is_late});
    out.clear();
    return left;
  }
  EventGate gate;
  std::map<std::uint64_t, Tick> known;  // entities and how new their state is
  std::vector<EventGate::Event> out;
};

// P9: an event arrived before the state it speaks of.
TEST_F(EventGateTest, EventWaitsForTheStateOfItsTick) {
  push(7, 100);
  EXPECT_TRUE(release(kStart).empty()) << "the entity is not known";
  known[7] = Tick{99};
  EXPECT_TRUE(release(kStart + milliseconds{100}).empty()) << "its state is older";
  known[7] = Tick{100};
  const auto left = release(kStart + milliseconds{200});
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0], (Left{7, 100, false}));
  EXPECT_EQ(gate.size(), 0u);
  EXPECT_EQ(gate.bytes(), 0u);
}

// P9
TEST_F(EventGateTest, EventWaitsNoLongerThanASecondAndSaysThatItIsLate) {
  push(7, 100);
  EXPECT_TRUE(release(kStart + milliseconds{999}).empty());
  const auto left = release(kStart + milliseconds{1000});
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0], (Left{7, 100, true}));
}

TEST_F(EventGateTest, TicksAreComparedAcrossTheirWrap) {
  push(7, 0xFFFFFFFE);
  known[7] = Tick{2};
  EXPECT_EQ(release(kStart).size(), 1u);
}

TEST_F(EventGateTest, EventsOfOneEntityKeepTheirOrderAndOthersPass) {
  known[8] = Tick{1000};
  push(7, 100);
  push(8, 100);
  push(7, 50);
  known[7] = Tick{60};
  auto left = release(kStart);
  ASSERT_EQ(left.size(), 1u) << "that of tick 50 waits for the one before it";
  EXPECT_EQ(left[0].entity, 8u);
  known[7] = Tick{100};
  left = release(kStart);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].tick, 100u);
  EXPECT_EQ(left[1].tick, 50u);
}

TEST_F(EventGateTest, EventOfNoEntityWaitsForNothing) {
  push(0, 100);
  EXPECT_EQ(release(kStart).size(), 1u);
}

TEST_F(EventGateTest, HoldsABoundedNumberAndTheOldestGoesFirst) {
  for (std::uint32_t i = 0; i < 1000; ++i) push(1 + i % 3, i);
  EXPECT_EQ(gate.size(), EventGate::kMaxEvents);
  ASSERT_EQ(out.size(), 1000 - EventGate::kMaxEvents);
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i].tick, Tick{i});
    EXPECT_TRUE(out[i].is_late);
  }
  out.clear();
  for (int i = 0; i < 10; ++i) push(1, 2000, kStart, 100'000);
  EXPECT_LE(gate.bytes(), EventGate::kMaxBytes);
  out.clear();
  push(1, 3000, kStart, 2 * EventGate::kMaxBytes);
  EXPECT_EQ(gate.size(), 0u);
  EXPECT_EQ(out.back().tick, Tick{3000}) << "one that is larger than all that is held";
}

TEST_F(EventGateTest, EachLeavesOnceInTheOrderOfItsEntityWhateverHappens) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    gate.clear();
    out.clear();
    known.clear();
    std::map<std::uint64_t, std::uint32_t> pushed;  // the tick is the number of the event
    std::map<std::uint64_t, std::uint32_t> left;
    Time now = kStart;
    const auto check = [&](const std::vector<Left>& events) {
      for (const Left& event : events) {
        ASSERT_EQ(event.tick, left[event.entity]) << "seed " << seed;
        ++left[event.entity];
        ASSERT_EQ(event.is_late, event.entity != 0 && !(known.contains(event.entity) &&
                                                        known[event.entity] >= Tick{event.tick}));
      }
    };
    for (int i = 0; i < 400; ++i) {
      now = now + milliseconds{random.below(30)};
      const std::uint64_t entity = random.below(6);
      if (random.chance(0.6)) push(entity, pushed[entity]++, now);
      if (random.chance(0.3)) known[entity] = Tick{pushed[entity]} - random.below(4);
      if (random.chance(0.4)) check(release(now));
    }
    check(release(now + seconds{1}));
    EXPECT_EQ(left, pushed) << "seed " << seed;
  }
}

}  // namespace
}  // namespace shoal
