#include "server/interest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "shared/base/random.hpp"
#include "tests/unit/server/replicated_world.hpp"

namespace shoal {
namespace {

using namespace demo;

constexpr InterestConfig kNear{.square_size = 32, .radius = 100};

class InterestTest : public ::testing::Test, protected test::ReplicatedWorld {
 protected:
  InterestTest() : ReplicatedWorld(kNear) {}
  static Viewer viewer_at(double x, double y) { return {.player = {}, .place = Place{x, y}, .team = {}}; }
  std::vector<SquareKey> seen() const {
    std::vector<SquareKey> result;
    for (const auto& watched : interest.squares()) result.push_back(watched.square);
    return result;
  }
  std::optional<unsigned> level_of(const SquareKey& square) const {
    for (const auto& watched : interest.squares()) {
      if (watched.square == square) return watched.level.value;
    }
    return std::nullopt;
  }

  Interest interest{kNear};
};

TEST_F(InterestTest, CellEntersAtTheRadiusAndLeavesBeyondTheHysteresis) {
  create_at(336, 16);
  end_tick();
  const SquareKey cell = SquareKey::cell(10, 0);  // begins at x = 320
  const auto sees_from = [&](double x) {
    interest.update(viewer_at(x, 16), chunks);
    return interest.sees(cell);
  };
  EXPECT_FALSE(sees_from(215)) << "105 away";
  EXPECT_TRUE(sees_from(221)) << "99 away";
  EXPECT_TRUE(sees_from(215)) << "it stays";
  EXPECT_TRUE(sees_from(205)) << "115 away, 116 is the limit";
  EXPECT_FALSE(sees_from(201)) << "119 away";
  EXPECT_FALSE(sees_from(215)) << "it stays away, too";
  EXPECT_TRUE(sees_from(221));
}

TEST_F(InterestTest, ViewerThatGoesToAndFroOnTheEdgeChangesNothing) {
  for (int column = -12; column <= 12; ++column) create_at(static_cast<float>(column) * 32 + 16, 16);
  end_tick();
  interest.update(viewer_at(16, 16), chunks);
  interest.update(viewer_at(30, 16), chunks);
  interest.update(viewer_at(16, 16), chunks);
  auto before = seen();
  std::sort(before.begin(), before.end());
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(interest.update(viewer_at(i % 2 == 0 ? 30 : 16, 16), chunks)) << "it did look";
    auto after = seen();
    std::sort(after.begin(), after.end());
    ASSERT_EQ(after, before);
  }
}

// P20
TEST_F(InterestTest, OnlyItsOwnTeamAndWhatItOwnsAreSeen) {
  const Entity player = create_at(0, 0);
  const Entity other = create_at(0, 0);
  for (const Entity each : {player, other}) {
    registry.emplace<OnTeam>(each, each == player ? 1u : 2u);
    registry.emplace<OwnedBy>(each, each);
    registry.emplace<Waypoint>(each);
    registry.emplace<Ammunition>(each);
  }
  end_tick();
  interest.update({.player = player, .place = Place{0, 0}, .team = 1}, chunks);
  EXPECT_TRUE(interest.sees(SquareKey::team(1)));
  EXPECT_TRUE(interest.sees(SquareKey::owner(player)));
  EXPECT_FALSE(interest.sees(SquareKey::team(2)));
  EXPECT_FALSE(interest.sees(SquareKey::owner(other)));

  EXPECT_TRUE(interest.update({.player = player, .place = Place{0, 0}, .team = 2}, chunks))
      << "it changed sides";
  EXPECT_FALSE(interest.sees(SquareKey::team(1)));
  EXPECT_TRUE(interest.sees(SquareKey::team(2)));

  EXPECT_TRUE(interest.update(viewer_at(0, 0), chunks)) << "it only watches";
  EXPECT_FALSE(interest.sees(SquareKey::team(2)));
  EXPECT_FALSE(interest.sees(SquareKey::owner(player)));
  EXPECT_TRUE(interest.sees(SquareKey::cell(0, 0)));
}

// P2: what the next life of an index owns is nobody's business who knew the first.
TEST_F(InterestTest, SuccessorOfItsIndexIsAnotherOwner) {
  const Entity player = registry.create();
  registry.emplace<OwnedBy>(player, Entity{player.index, player.generation + 1});
  registry.emplace<Ammunition>(player);
  end_tick();
  interest.update({.player = player, .place = {}, .team = {}}, chunks);
  EXPECT_TRUE(interest.squares().empty());
}

TEST_F(InterestTest, WithoutARadiusEverythingIsSeenAtTheFullRate) {
  create_at(-1000, -1000);
  create_at(1000, 1000);
  registry.create();
  end_tick();
  Interest all(InterestConfig{.square_size = 32, .radius = 0});
  all.update(viewer_at(900, 900), chunks);
  ASSERT_EQ(all.squares().size(), 3u);
  for (const auto& watched : all.squares()) EXPECT_EQ(watched.level.value, 0);
}

TEST_F(InterestTest, ViewerThatLostItsPlaceSeesFromWhereItStoodLast) {
  create_at(500, 500);
  create_at(0, 0);
  end_tick();
  interest.update(viewer_at(500, 500), chunks);
  ASSERT_TRUE(interest.sees(cell_at({500, 500}, 32)));
  create_at(510, 470);
  end_tick();
  EXPECT_TRUE(interest.update({}, chunks)) << "there is a new square";
  EXPECT_TRUE(interest.sees(cell_at({500, 500}, 32)));
  EXPECT_TRUE(interest.sees(cell_at({510, 470}, 32)));
  EXPECT_FALSE(interest.sees(cell_at({0, 0}, 32)));
  Interest never_stood(kNear);
  never_stood.update({}, chunks);
  EXPECT_TRUE(never_stood.sees(cell_at({0, 0}, 32))) << "from the middle of the world";
}

// P18
TEST_F(InterestTest, NothingIsLookedAtAgainWhileNobodyMoved) {
  const Entity walker = create_at(10, 10);
  end_tick();
  EXPECT_TRUE(interest.update(viewer_at(10, 10), chunks)) << "the first time";
  for (int i = 0; i < 20; ++i) {
    move_to(walker, 10 + static_cast<float>(i % 5), 10);
    end_tick();
    EXPECT_FALSE(interest.update(viewer_at(10 + (i % 3) * 0.9, 10), chunks)) << "less than a step";
  }
  create_at(11, 11);
  end_tick();
  EXPECT_FALSE(interest.update(viewer_at(10, 10), chunks)) << "into a chunk that was there";
  create_at(700, 11);
  end_tick();
  EXPECT_TRUE(interest.update(viewer_at(10, 10), chunks)) << "a chunk was opened";
  EXPECT_TRUE(interest.update(viewer_at(12.5, 10), chunks)) << "more than a step";
}

TEST_F(InterestTest, FartherSquaresAreSentMoreRarely) {
  for (const float x : {16.0f, 48.0f, 80.0f, 112.0f}) create_at(x, 16);
  registry.create();
  end_tick();
  interest.update(viewer_at(16, 16), chunks);
  EXPECT_EQ(level_of(SquareKey::always()), 0u);
  EXPECT_EQ(level_of(SquareKey::cell(0, 0)), 0u);
  EXPECT_EQ(level_of(SquareKey::cell(1, 0)), 0u) << "16 away";
  EXPECT_EQ(level_of(SquareKey::cell(2, 0)), 1u) << "48 away";
  EXPECT_EQ(level_of(SquareKey::cell(3, 0)), 2u) << "80 away";
  EXPECT_TRUE(std::is_sorted(interest.squares().begin(), interest.squares().end(),
                             [](const auto& a, const auto& b) { return a.distance < b.distance; }))
      << "nearest first";
}

TEST_F(InterestTest, SquareThatVanishedIsSeenNoMoreUntilItComesBack) {
  const Entity entity = create_at(16, 16);
  end_tick();
  interest.update(viewer_at(16, 16), chunks);
  registry.destroy(entity);
  end_ticks(kRetireTicks + 1);
  EXPECT_TRUE(interest.update(viewer_at(16, 16), chunks));
  EXPECT_FALSE(interest.sees(SquareKey::cell(0, 0)));
  create_at(16, 16);
  end_tick();
  EXPECT_TRUE(interest.update(viewer_at(16, 16), chunks));
  EXPECT_TRUE(interest.sees(SquareKey::cell(0, 0)));
}

// In a small world all squares are looked at, in a large one those around the viewer; compared with the rule itself.
TEST_F(InterestTest, EachWayToLookFindsWhatTheRuleSays) {
  for (const int half_width : {2, 10}) {
    test::ReplicatedWorld world(kNear);
    for (int row = -half_width; row < half_width; ++row) {
      for (int column = -half_width; column < half_width; ++column) {
        if ((row + column) % 3 == 0) continue;
        world.create_at(static_cast<float>(column) * 32 + 16, static_cast<float>(row) * 32 + 16);
      }
    }
    world.end_tick();
    Interest looked(kNear);
    Random random(static_cast<std::uint64_t>(half_width));
    std::set<SquareKey> expected;
    Place place{0, 0};
    for (int step = 0; step < 300; ++step) {
      place.x = std::clamp<double>(place.x + random.uniform(-20, 20), -300, 300);
      place.y = std::clamp<double>(place.y + random.uniform(-20, 20), -300, 300);
      looked.update(viewer_at(place.x, place.y), world.chunks);
      ASSERT_LE(std::abs(looked.centre().x - place.x), kNear.centre_step());
      ASSERT_LE(std::abs(looked.centre().y - place.y), kNear.centre_step());
      std::set<SquareKey> by_rule;
      world.chunks.for_each_square([&](const SquareKey& square, std::span<const ChunkIndex>) {
        const double distance = distance_to_cell(looked.centre(), square, 32);
        const double limit = expected.contains(square) ? 116 : 100;
        if (distance <= limit) by_rule.insert(square);
      });
      expected = by_rule;
      const auto& squares = looked.squares();
      std::set<SquareKey> found;
      for (const auto& watched : squares) found.insert(watched.square);
      ASSERT_EQ(found, expected) << "step " << step;
      ASSERT_EQ(found.size(), squares.size()) << "each once";
    }
  }
}

}  // namespace
}  // namespace shoal
