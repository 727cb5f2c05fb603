#include "shared/replication/delta_codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "shared/base/limits.hpp"
#include "tests/unit/replication/test_chunks.hpp"

namespace shoal {
namespace {

using test::ChunkScript;

struct Body {
  std::array<std::byte, 4096> bytes{};
  std::size_t size = 0;
  std::span<const std::byte> span() const { return std::span<const std::byte>(bytes).first(size); }
};

Body encode(const ChunkScript& script, const ChunkVersion* from, const ChunkVersion& to) {
  Body body;
  body.size = encode_block(from, to, script.departures, body.bytes);
  return body;
}

TEST(DeltaCodec, DecodedVersionIsTheEncodedOneFromEveryBaseline) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    ChunkScript script(seed);
    for (int i = 0; i < 30; ++i) script.step(static_cast<unsigned>(seed % 25));
    std::vector<Departure> departures;
    for (std::size_t to = 0; to < script.versions.size(); ++to) {
      for (std::size_t age = 0; age <= std::min<std::size_t>(to, 12); ++age) {
        const ChunkVersion* from = age == 0 ? nullptr : &script.versions[to - age];
        const Body body = encode(script, from, script.versions[to]);
        ASSERT_GT(body.size, 0u);
        const auto decoded = decode_block(script.table, script.pool, ChunkId{7}, from,
                                          script.versions[to].tick(), body.span(), departures);
        ASSERT_TRUE(decoded.ok()) << "seed " << seed << ": " << to_string(decoded.error());
        ASSERT_TRUE(same_state(*decoded, script.versions[to]))
            << "seed " << seed << " to " << to << " age " << age;
        ASSERT_EQ(decoded->hash(), script.versions[to].hash());
      }
    }
  }
}

TEST(DeltaCodec, SameVersionsGiveTheSameBytes) {
  ChunkScript script(5), again(5);
  for (int i = 0; i < 20; ++i) script.step(15), again.step(15);
  const Body a = encode(script, &script.versions[10], script.versions[20]);
  const Body b = encode(again, &again.versions[10], again.versions[20]);
  EXPECT_TRUE(std::ranges::equal(a.span(), b.span()));
}

// P2: a slot that is reused between baseline and now carries a new id; nothing of the old entity's values is
// left.
TEST(DeltaCodec, SlotReusedBetweenBaselineAndNowIsBoundAnew) {
  ChunkScript script(1);
  ChunkVersion before = script.versions[0];
  before.bind(3, Entity{42, 1});
  before.add_component(0, 3);
  before.set_value(script.table[0].first_column, 3, 1);
  ChunkVersion after = before;
  after.set_tick(before.tick() + 5);
  after.unbind(3);
  script.departures.push_back({after.tick(), 3, Entity{42, 1}, DepartureReason::Destroyed, {}});
  after.bind(3, Entity{42, 2});

  const Body body = encode(script, &before, after);
  std::vector<Departure> departures;
  const auto decoded =
      decode_block(script.table, script.pool, ChunkId{7}, &before, after.tick(), body.span(), departures);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->id(3), (Entity{42, 2}));
  EXPECT_EQ(decoded->present(0), 0u);
  ASSERT_EQ(departures.size(), 1u);
  EXPECT_EQ(departures[0].entity, (Entity{42, 1}));
  EXPECT_EQ(departures[0].reason, DepartureReason::Destroyed);
}

// An entity that came and went between the two versions is in neither, yet another block may have shown it.
TEST(DeltaCodec, DepartureOfAnEntityThatNeitherVersionBindsIsTold) {
  ChunkScript script(1);
  ChunkVersion before = script.versions[0];
  ChunkVersion after = before;
  after.set_tick(before.tick() + 5);
  script.departures.push_back({before.tick() + 3, 9, Entity{8, 77}, DepartureReason::Moved, ChunkId{1234}});
  const Body body = encode(script, &before, after);
  std::vector<Departure> departures;
  ASSERT_TRUE(
      decode_block(script.table, script.pool, ChunkId{7}, &before, after.tick(), body.span(), departures)
          .ok());
  ASSERT_EQ(departures.size(), 1u);
  EXPECT_EQ(departures[0].slot, 9u);
  EXPECT_EQ(departures[0].entity, (Entity{8, 77}));
  EXPECT_EQ(departures[0].reason, DepartureReason::Moved);
  EXPECT_EQ(departures[0].target, ChunkId{1234});
}

TEST(DeltaCodec, TooManyDeparturesAskForAFullState) {
  ChunkScript script(1);
  ChunkVersion after = script.versions[0];
  after.set_tick(after.tick() + 5);
  for (std::uint32_t i = 0; i <= kMaxExtraDepartures; ++i) {
    script.departures.push_back({after.tick(), 0, Entity{i, 1}, DepartureReason::Destroyed, {}});
  }
  EXPECT_EQ(encode(script, &script.versions[0], after).size, 0u);
}

TEST(DeltaCodec, TargetTooSmallIsSaidAndNotOverrun) {
  ChunkScript script(9);
  for (int i = 0; i < 20; ++i) script.step(20);
  std::array<std::byte, 64> small{};
  small[40] = std::byte{0x5A};
  EXPECT_EQ(encode_block(nullptr, script.versions.back(), {}, std::span<std::byte>(small).first(40)), 0u);
  EXPECT_EQ(small[40], std::byte{0x5A});
}

TEST(DeltaCodec, FullStateFitsItsWorstCase) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ChunkScript script(seed);
    for (int i = 0; i < 20; ++i) script.step(30);
    const auto& to = script.versions.back();
    const Body body = encode(script, nullptr, to);
    std::size_t bits = worst_full_state_bits(script.table);
    for_each_slot(to.bound(), [&](Slot slot) {
      bits += script.table.worst_slot_bits(Audience::Everyone);
      for (ComponentIndex index = 0; index < script.table.size(); ++index) {
        if (to.present(index) & slot_bit(slot)) bits += script.table.value_bits(index);
      }
    });
    EXPECT_LE(body.size, bits / 8);
  }
}

TEST(DeltaCodec, FarIdsCostNoMoreThanTheirWorstCase) {
  ChunkScript script(1);
  ChunkVersion to = script.versions[0];
  for (Slot slot = 0; slot < kChunkSlots; ++slot)
    to.bind(slot, Entity{slot % 2 ? 0xFFFFFFF0u - slot : slot, slot * 77777777 + 1});
  const Body body = encode(script, nullptr, to);
  EXPECT_LE(body.size * 8, worst_full_state_bits(script.table) +
                               kChunkSlots * script.table.worst_slot_bits(Audience::Everyone));
  std::vector<Departure> departures;
  const auto decoded =
      decode_block(script.table, script.pool, ChunkId{7}, nullptr, to.tick(), body.span(), departures);
  ASSERT_TRUE(decoded.ok());
  EXPECT_TRUE(same_state(*decoded, to));
}

// Of an index one generation lives; a mirror that was told of two would end the first before it told of it.
TEST(DeltaCodec, IndexInTwoSlotsIsRefused) {
  ChunkScript script(1);
  ChunkVersion first = script.versions[0];
  first.bind(3, Entity{9, 1});
  ChunkVersion second = first;
  second.set_tick(first.tick() + 1);
  second.bind(5, Entity{9, 2});
  std::vector<Departure> departures;
  for (const ChunkVersion* from : {static_cast<const ChunkVersion*>(nullptr), &std::as_const(first)}) {
    const Body body = encode(script, from, second);
    const auto decoded =
        decode_block(script.table, script.pool, ChunkId{7}, from, second.tick(), body.span(), departures);
    ASSERT_FALSE(decoded.ok());
    EXPECT_EQ(decoded.error(), DecodeError::BadEntity);
  }
}

TEST(DeltaCodec, AtRestADeltaIsABitPerComponentAndThree) {
  ChunkScript script(4);
  for (int i = 0; i < 20; ++i) script.step(20);
  ChunkVersion later = script.versions.back();
  later.set_tick(later.tick() + 9);
  EXPECT_LE(encode(script, &script.versions.back(), later).size, 2u);
}

// T15: whatever the bytes, the reader stays inside them, and a state that was not sent does not pass the
// hash.
TEST(DeltaCodec, DamagedBodiesAreRefusedOrFailTheHash) {
  int accepted = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    ChunkScript script(seed);
    for (int i = 0; i < 12; ++i) script.step(12);
    const ChunkVersion& to = script.versions.back();
    const ChunkVersion* from = seed % 3 == 0 ? nullptr : &script.versions[6];
    const Body good = encode(script, from, to);
    Random random(seed);
    std::vector<Departure> departures;
    for (int round = 0; round < 400; ++round) {
      Body bad = good;
      const std::uint32_t what = random.below(3);
      if (what == 0) bad.size = random.below(static_cast<std::uint32_t>(bad.size));
      if (what == 1) bad.size += 1 + random.below(8);
      if (what == 2) {
        const std::uint32_t flips = 1 + random.below(4);
        for (std::uint32_t i = 0; i < flips; ++i) {
          bad.bytes[random.below(static_cast<std::uint32_t>(bad.size))] ^= std::byte(1u << random.below(8));
        }
      }
      const auto decoded =
          decode_block(script.table, script.pool, ChunkId{7}, from, to.tick(), bad.span(), departures);
      ASSERT_LE(departures.size(), kChunkSlots + kMaxExtraDepartures);
      if (decoded.ok() && !same_state(*decoded, to)) {
        EXPECT_NE(decoded->hash(), to.hash());
        ++accepted;
      }
    }
  }
  EXPECT_GT(accepted, 0) << "no damaged body decoded: the test does not reach the hash";
}

// What became of the departed is not in the state's hash: a damaged reason must not kill the wrong entity.
TEST(DeltaCodec, DamagedDeparturesAreRefused) {
  ChunkScript script(1);
  ChunkVersion before = script.versions[0];
  for (Slot slot = 0; slot < 8; ++slot) before.bind(slot, Entity{slot + 10, slot + 1});
  ChunkVersion after = before;
  after.set_tick(before.tick() + 5);
  for (Slot slot = 0; slot < 4; ++slot) {
    after.unbind(slot);
    script.departures.push_back(
        {after.tick(), slot, before.id(slot), DepartureReason::NoLongerReplicated, {}});
  }
  script.departures.push_back({before.tick() + 2, 20, Entity{99, 7}, DepartureReason::Destroyed, {}});
  const Body good = encode(script, &before, after);
  std::vector<Departure> expected;
  ASSERT_TRUE(
      decode_block(script.table, script.pool, ChunkId{7}, &before, after.tick(), good.span(), expected).ok());
  int told_otherwise = 0;
  for (std::size_t bit = 0; bit < good.size * 8; ++bit) {
    Body bad = good;
    bad.bytes[bit / 8] ^= std::byte(1u << bit % 8);
    std::vector<Departure> departures;
    const auto decoded =
        decode_block(script.table, script.pool, ChunkId{7}, &before, after.tick(), bad.span(), departures);
    if (!decoded.ok() || decoded->hash() != after.hash()) continue;
    for (std::size_t i = 0; i < departures.size(); ++i) {
      told_otherwise +=
          departures[i].entity != expected[i].entity || departures[i].reason != expected[i].reason;
    }
  }
  EXPECT_EQ(told_otherwise, 0);
}

TEST(DeltaCodec, RandomBytesOnARandomBaselineAreHarmless) {
  ChunkScript script(11);
  for (int i = 0; i < 12; ++i) script.step(12);
  Random random(3);
  std::vector<Departure> departures;
  for (int round = 0; round < 20000; ++round) {
    Body body;
    body.size = random.below(200);
    for (std::size_t i = 0; i < body.size; ++i) body.bytes[i] = static_cast<std::byte>(random.next());
    const ChunkVersion* from = round % 2 ? &script.versions[random.below(12)] : nullptr;
    (void)decode_block(script.table, script.pool, ChunkId{7}, from, Tick{500}, body.span(), departures).ok();
  }
  EXPECT_LT(script.pool.columns_in_use(), 1000u);
}

TEST(ChunkVersion, ColumnsThatDidNotChangeAreShared) {
  ChunkScript script(2);
  for (int i = 0; i < 10; ++i) script.step(20);
  const std::size_t before = script.pool.columns_in_use();
  ChunkVersion copy = script.versions.back();
  EXPECT_EQ(script.pool.columns_in_use(), before);
  for_each_slot(copy.present(0), [&](Slot slot) { copy.set_value(script.table[0].first_column, slot, 5); });
  EXPECT_EQ(script.pool.columns_in_use(), before + 1);
}

TEST(ChunkVersion, WhatLeavesASlotLeavesNoTrace) {
  ChunkScript script(2);
  ChunkVersion never(script.table, script.pool, ChunkId{7});
  ChunkVersion once = never;
  once.bind(5, Entity{1, 1});
  once.add_component(0, 5);
  once.set_value(script.table[0].first_column, 5, 99);
  once.unbind(5);
  EXPECT_TRUE(same_state(never, once));
  EXPECT_EQ(never.hash(), once.hash());
}

TEST(ChunkVersion, HashTellsEveryPartOfTheState) {
  ChunkScript script(2);
  ChunkVersion base(script.table, script.pool, ChunkId{7});
  base.bind(5, Entity{1, 1});
  base.add_component(0, 5);
  std::vector<std::uint32_t> hashes{base.hash()};
  const auto differs = [&](auto&& change) {
    ChunkVersion changed = base;
    change(changed);
    hashes.push_back(changed.hash());
  };
  differs([](ChunkVersion& v) { v.set_tick(v.tick() + 1); });
  differs([&](ChunkVersion& v) { v.set_value(script.table[0].first_column, 5, 1); });
  differs([](ChunkVersion& v) { v.add_component(3, 5); });
  differs([](ChunkVersion& v) { v.bind(6, Entity{2, 1}); });
  differs([](ChunkVersion& v) { v.unbind(5), v.bind(5, Entity{1, 2}), v.add_component(0, 5); });
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

}  // namespace
}  // namespace shoal
