// Where the change tracker binds an entity: squares with hysteresis, teams, owners.
#include <gtest/gtest.h>

#include <algorithm>

#include "shared/base/random.hpp"
#include "shared/ecs/local.hpp"
#include "tests/unit/server/replicated_world.hpp"

namespace shoal {
namespace {

using namespace demo;

constexpr Audience kEach[] = {Audience::Everyone, Audience::Team, Audience::Owner};

class SquaresTest : public ::testing::Test, protected test::ReplicatedWorld {};
class AudiencesTest : public ::testing::Test, protected test::ReplicatedWorld {
 protected:
  /// Something with components for all three.
  Entity create_member(std::uint32_t team, Entity owner) {
    const Entity entity = create_at(10, 10);
    registry.emplace<OnTeam>(entity, team);
    registry.emplace<OwnedBy>(entity, owner);
    registry.emplace<Waypoint>(entity);
    registry.emplace<Ammunition>(entity);
    return entity;
  }
  bool is_bound(Entity entity, Audience audience) const {
    return tracker->binding(entity, audience).is_bound();
  }
};

TEST_F(SquaresTest, EntityOnTheEdgeOfASquareStaysWhereItIs) {
  const Entity entity = create_at(31, 16);
  end_tick();
  const ChunkIndex home = index_of(entity);
  EXPECT_EQ(square_of(entity), SquareKey::cell(0, 0));
  for (int i = 0; i < 50; ++i) {
    move_to(entity, i % 2 == 0 ? 35.5f : 30.0f, i % 3 == 0 ? -3.5f : 1.0f);
    end_tick();
    ASSERT_EQ(index_of(entity), home);
    if (!registry.remove<Burning>(entity))
      registry.emplace<Burning>(entity);  // for other reasons it is looked at
  }
  EXPECT_TRUE(chunk_of(entity).departures().empty());
  move_to(entity, 37, 16);
  end_tick();
  EXPECT_EQ(square_of(entity), SquareKey::cell(1, 0)) << "further outside than an eighth of a square";
  move_to(entity, 29, 16);
  end_tick();
  EXPECT_EQ(square_of(entity), SquareKey::cell(1, 0)) << "there it stays, too";
}

TEST_F(SquaresTest, MoveToAnotherSquareIsToldWithItsTarget) {
  const Entity entity = create_at(16, 16);
  registry.emplace<Health>(entity, std::uint16_t{5}, std::uint16_t{9});
  create_at(17, 16);
  end_tick();
  const ChunkIndex home = index_of(entity);
  move_to(entity, 500, 16);
  registry.get<Health>(entity).current = 6;
  const Tick moved_at = end_tick();
  EXPECT_EQ(square_of(entity), cell_at({500, 16}, 32));
  const auto log = chunks[home].departures();
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].entity, entity);
  EXPECT_EQ(log[0].reason, DepartureReason::Moved);
  EXPECT_EQ(log[0].target, chunk_of(entity).id());
  EXPECT_EQ(log[0].tick, moved_at);
  const ColumnIndex current = table[component("shoal.demo.Health")].first_column;
  EXPECT_EQ(chunk_of(entity).current().value(current, tracker->binding(entity).slot), 6u);
  EXPECT_EQ(chunks[home].bound_count(), 1u) << "the other one stays";
}

TEST_F(SquaresTest, EntityThatLosesItsPlaceGoesWhereEveryoneSeesIt) {
  const Entity entity = create_at(16, 16);
  end_tick();
  registry.remove<Position>(entity);
  end_tick();
  EXPECT_EQ(square_of(entity), SquareKey::always());
  registry.emplace<Position>(entity, 100.0f, 100.0f, 0.0f);
  end_tick();
  EXPECT_EQ(square_of(entity), cell_at({100, 100}, 32));
}

// R14: it is a change of value, and the value is a place.
TEST_F(SquaresTest, PlaceThatWasRemovedAndAddedElsewhereWithinATickIsOneMove) {
  const Entity entity = create_at(16, 16);
  end_tick();
  const ChunkIndex home = index_of(entity);
  registry.remove<Position>(entity);
  registry.emplace<Position>(entity, 500.0f, 16.0f, 0.0f);
  end_tick();
  EXPECT_EQ(square_of(entity), cell_at({500, 16}, 32));
  EXPECT_EQ(chunks[home].departures().size(), 1u);
}

TEST_F(SquaresTest, WayThroughManySquaresWithinATickIsOneMove) {
  const Entity entity = create_at(16, 16);
  end_tick();
  const ChunkIndex home = index_of(entity);
  for (int i = 1; i < 9; ++i) move_to(entity, 16 + static_cast<float>(i) * 40, 16);
  end_tick();
  EXPECT_EQ(chunks[home].departures().size(), 1u);
  EXPECT_EQ(chunks.size(), 2u);
}

TEST_F(AudiencesTest, EntityIsBoundForEachAudienceThatMaySeeSomethingOfIt) {
  const Entity player = create_member(3, {});
  registry.get<OwnedBy>(player).player = player;
  end_tick();
  EXPECT_EQ(square_of(player), SquareKey::cell(0, 0));
  EXPECT_EQ(square_of(player, Audience::Team), SquareKey::team(3));
  EXPECT_EQ(square_of(player, Audience::Owner), SquareKey::owner(player));
}

// R13: that it changed sides was written through a plain reference, and no signal was raised.
TEST_F(AudiencesTest, ChangeOfTeamMovesWhatTheTeamSees) {
  const Entity player = registry.create();
  const Entity entity = create_member(1, player);
  end_tick();
  const ChunkIndex first = index_of(entity, Audience::Team);
  const Tick everyone_since = chunk_of(entity).current().tick();
  registry.get<OnTeam>(entity).team = 2;
  end_tick();
  EXPECT_EQ(square_of(entity, Audience::Team), SquareKey::team(2));
  ASSERT_EQ(chunks[first].departures().size(), 1u);
  EXPECT_EQ(chunks[first].departures()[0].reason, DepartureReason::Moved);
  EXPECT_EQ(chunks[first].departures()[0].target, chunk_of(entity, Audience::Team).id());
  EXPECT_EQ(chunk_of(entity).current().tick(), everyone_since) << "for everyone else nothing happened";
  EXPECT_EQ(square_of(entity, Audience::Owner), SquareKey::owner(player));
  registry.patch<OnTeam>(entity, [](OnTeam& on) { on.team = 1; });
  end_tick();
  EXPECT_EQ(square_of(entity, Audience::Team), SquareKey::team(1));
}

TEST_F(AudiencesTest, ChangeOfOwnerMovesWhatTheOwnerSees) {
  const Entity anna = registry.create();
  const Entity bert = registry.create();
  const Entity entity = create_member(1, anna);
  end_tick();
  const ChunkIndex first = index_of(entity, Audience::Owner);
  registry.get<OwnedBy>(entity).player = bert;
  end_tick();
  EXPECT_EQ(square_of(entity, Audience::Owner), SquareKey::owner(bert));
  EXPECT_EQ(chunks[first].bound_count(), 0u);
  registry.get<OwnedBy>(entity).player = kNullEntity;
  end_tick();
  EXPECT_FALSE(is_bound(entity, Audience::Owner)) << "it belongs to nobody";
  registry.get<OwnedBy>(entity).player = anna;
  end_tick();
  EXPECT_EQ(square_of(entity, Audience::Owner), SquareKey::owner(anna));
}

TEST_F(AudiencesTest, WhoHasNoTeamOrOwnerShowsThoseComponentsToNobody) {
  const Entity entity = create_member(1, registry.create());
  end_tick();
  const ChunkIndex of_team = index_of(entity, Audience::Team);
  registry.remove<OnTeam>(entity);
  registry.remove<OwnedBy>(entity);
  end_tick();
  EXPECT_FALSE(is_bound(entity, Audience::Team));
  EXPECT_FALSE(is_bound(entity, Audience::Owner));
  EXPECT_TRUE(is_bound(entity, Audience::Everyone));
  ASSERT_EQ(chunks[of_team].departures().size(), 1u);
  EXPECT_EQ(chunks[of_team].departures()[0].reason, DepartureReason::NoLongerReplicated);
}

TEST_F(AudiencesTest, TeamWithoutComponentsForItBindsNothing) {
  const Entity entity = create_at(10, 10);
  registry.emplace<OnTeam>(entity, 1u);
  end_tick();
  EXPECT_FALSE(is_bound(entity, Audience::Team));
  registry.emplace<Waypoint>(entity);
  end_tick();
  EXPECT_TRUE(is_bound(entity, Audience::Team));
  registry.remove<Waypoint>(entity);
  end_tick();
  EXPECT_FALSE(is_bound(entity, Audience::Team)) << "with its last component";
}

// P20: that it exists is a secret, too.
TEST_F(AudiencesTest, EntityWithNothingButItsOwnersComponentsIsThereForNobodyElse) {
  const Entity player = registry.create();
  const Entity entity = registry.create();
  registry.emplace<Ammunition>(entity);
  end_tick();
  for (const Audience audience : kEach) EXPECT_FALSE(is_bound(entity, audience)) << "it has no owner yet";
  registry.emplace<OwnedBy>(entity, player);
  end_tick();
  EXPECT_TRUE(is_bound(entity, Audience::Owner));
  EXPECT_FALSE(is_bound(entity, Audience::Everyone));
  EXPECT_FALSE(is_bound(entity, Audience::Team));
  registry.emplace<Health>(entity);
  end_tick();
  EXPECT_TRUE(is_bound(entity, Audience::Everyone));
  EXPECT_TRUE(is_bound(entity, Audience::Owner));
}

TEST_F(AudiencesTest, LocalAndDeathEndEachBindingWithTheirReason) {
  const Entity player = registry.create();
  for (const bool dies : {false, true}) {
    const Entity entity = create_member(1, player);
    end_tick();
    std::vector<ChunkIndex> homes;
    for (const Audience audience : kEach) homes.push_back(index_of(entity, audience));
    if (dies) {
      registry.destroy(entity);
    } else {
      registry.emplace<Local>(entity);
    }
    end_tick();
    for (const ChunkIndex home : homes) {
      const Departure& last = chunks[home].departures().back();
      EXPECT_EQ(last.entity, entity);
      EXPECT_EQ(last.reason, dies ? DepartureReason::Destroyed : DepartureReason::NoLongerReplicated);
    }
    for (const Audience audience : kEach) EXPECT_FALSE(is_bound(entity, audience));
  }
}

// P3
TEST_F(AudiencesTest, HiddenAndShownWithinATickIsNothing) {
  const Entity player = registry.create();
  const Entity entity = create_member(1, player);
  end_tick();
  const std::uint64_t commits = chunks.commits();
  registry.emplace<Local>(entity);
  registry.remove<Local>(entity);
  registry.remove<OnTeam>(entity);
  registry.emplace<OnTeam>(entity, 1u);
  registry.get<OwnedBy>(entity).player = kNullEntity;
  registry.get<OwnedBy>(entity).player = player;
  move_to(entity, 500, 500);
  move_to(entity, 10, 10);
  end_tick();
  EXPECT_EQ(chunks.commits(), commits);
  for (const Audience audience : kEach) EXPECT_TRUE(chunk_of(entity, audience).departures().empty());
}

// Whatever the operations: bound is what `square_of` says, with hysteresis, and nothing else.
TEST_F(AudiencesTest, BoundWhereTheRegistrySaysAfterRandomOperations) {
  Random random(11);
  std::vector<Entity> alive{registry.create(), registry.create()};
  const auto any = [&] { return alive[random.below(static_cast<std::uint32_t>(alive.size()))]; };
  for (int round = 0; round < 400; ++round) {
    for (std::uint32_t i = random.below(14); i > 0; --i) {
      const Entity entity = any();
      switch (random.below(10)) {
        case 0:
        case 1:
          alive.push_back(registry.create());
          break;
        case 2:
          if (alive.size() < 3) break;
          registry.destroy(entity);
          std::erase(alive, entity);
          break;
        case 3:
          if (!registry.remove<Local>(entity)) registry.emplace<Local>(entity);
          break;
        case 4:
          if (!registry.remove<Waypoint>(entity)) registry.emplace<Waypoint>(entity);
          break;
        case 5:
          if (!registry.remove<Ammunition>(entity)) registry.emplace<Ammunition>(entity);
          break;
        case 6:
          if (auto* team = registry.try_get<OnTeam>(entity); !team) {
            registry.emplace<OnTeam>(entity, random.below(3));
          } else if (random.chance(0.7)) {
            team->team = random.below(3);
          } else {
            registry.remove<OnTeam>(entity);
          }
          break;
        case 7:
          if (auto* owned = registry.try_get<OwnedBy>(entity); !owned) {
            registry.emplace<OwnedBy>(entity, any());
          } else if (random.chance(0.7)) {
            owned->player = random.chance(0.2) ? kNullEntity : any();
          } else {
            registry.remove<OwnedBy>(entity);
          }
          break;
        case 8:
          if (!registry.all_of<Position>(entity)) {
            registry.emplace<Position>(entity, random.uniform(-60, 60), random.uniform(-60, 60), 0.0f);
          } else if (random.chance(0.2)) {
            registry.remove<Position>(entity);
          }
          break;
        default:
          if (auto* position = registry.try_get<Position>(entity)) {
            position->x += random.uniform(-9, 9);
            position->y += random.uniform(-9, 9);
          }
      }
    }
    end_tick();
    std::size_t bindings = 0;
    for (const Entity entity : alive) {
      for (const Audience audience : kEach) {
        const auto square = tracker->square_of(entity, audience);
        ASSERT_EQ(is_bound(entity, audience), square.has_value()) << "round " << round;
        if (!square) continue;
        ++bindings;
        const SquareKey& bound = square_of(entity, audience);
        const auto place = tracker->place_of(entity);
        const bool is_about_there = square->kind == SquareKind::Cell && bound.kind == SquareKind::Cell &&
                                    is_about_in(*place, bound, 32, 4);
        ASSERT_TRUE(bound == *square || is_about_there) << "round " << round;
        const ChunkVersion& version = chunk_of(entity, audience).current();
        const Slot slot = tracker->binding(entity, audience).slot;
        ASSERT_EQ(version.id(slot), entity);
        if (audience == Audience::Team) {
          ASSERT_NE(version.present(component("shoal.demo.Waypoint")) & slot_bit(slot), 0u);
        }
      }
    }
    std::size_t slots = 0;
    chunks.for_each([&](ChunkIndex, const Chunk& chunk) {
      ASSERT_EQ(chunk.is_dirty(), false) << "each change is a version";
      slots += chunk.bound_count();
    });
    ASSERT_EQ(slots, bindings) << "round " << round;
  }
}

}  // namespace
}  // namespace shoal
