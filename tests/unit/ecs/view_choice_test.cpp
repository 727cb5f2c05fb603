// What a view can be asked for: optional types, another leading pool, whole spans, single entities, many types.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Indices = std::vector<std::uint32_t>;

std::set<std::uint32_t> possibly_changed(const StorageBase& pool) {
  std::set<std::uint32_t> indices;
  pool.for_each_possibly_changed([&](std::uint32_t index, const void*) { indices.insert(index); });
  return indices;
}

/// 200 entities with a position; every second has a velocity, in falling order; the first ten burn.
struct ViewChoice : testing::Test {
  ViewChoice() {
    for (std::uint32_t i = 0; i < 200; ++i)
      world.emplace<Position>(world.create(), static_cast<float>(i), 0.0f);
    for (std::uint32_t i = 200; i-- > 0;) {
      if (i % 2 == 0) world.emplace<Velocity>(at(i), static_cast<float>(i), 0.0f);
    }
    for (std::uint32_t i = 0; i < 10; ++i) world.emplace<Burning>(at(i));
    world.clear_changes();
  }
  Entity at(std::uint32_t index) { return world.entity_at(index); }
  template <class V>
  static Indices order_of(const V& view) {
    Indices by_range;
    for (auto&& item : view) by_range.push_back(std::get<0>(item).index);
    Indices by_each;
    view.each([&](Entity entity, auto&&...) { by_each.push_back(entity.index); });
    EXPECT_EQ(by_range, by_each);
    return by_range;
  }
  World world;
};

TEST_F(ViewChoice, MaybeIsAPointerThatIsNullWhereThereIsNone) {
  using Optional = decltype(world.view<const Position, Maybe<Velocity>>());
  static_assert(std::is_same_v<Optional::Value, std::tuple<Entity, const Position&, Velocity*>>);
  using Const = decltype(std::as_const(world).view<Position, Maybe<Velocity>>());
  static_assert(std::is_same_v<Const::Value, std::tuple<Entity, const Position&, const Velocity*>>);
  const auto check = [&](Entity entity, const Position& position, const Velocity* velocity) {
    EXPECT_EQ(position.x, static_cast<float>(entity.index));
    ASSERT_EQ(velocity != nullptr, entity.index % 2 == 0);
    if (velocity != nullptr) {
      EXPECT_EQ(velocity->dx, position.x);
    }
  };
  int visits = 0;
  for (auto [entity, position, velocity] : world.view<const Position, Maybe<const Velocity>>()) {
    check(entity, position, velocity);
    ++visits;
  }
  world.view<const Position, Maybe<const Velocity>>().each(
      [&](Entity entity, const Position& position, const Velocity* velocity) {
        check(entity, position, velocity);
        ++visits;
      });
  std::as_const(world).view<Position, Maybe<Velocity>>().each(
      [&](const Position&, const Velocity*) { ++visits; });
  EXPECT_EQ(visits, 600);
  EXPECT_FALSE(world.storage<Velocity>().any_changes()) << "const pointers mark nothing";
}

TEST_F(ViewChoice, MaybeMarksWhatItHandsOutAndNothingElse) {
  world.view<const Position, Maybe<Velocity>>(exclude<Burning>).each([](const Position&, Velocity* velocity) {
    if (velocity != nullptr) velocity->dy = 1;
  });
  const auto changed = possibly_changed(world.storage<Velocity>());
  for (std::uint32_t i = 10; i < 200; i += 2) EXPECT_TRUE(changed.contains(i));
  world.clear_changes();
  for (auto [entity, burning, velocity] : world.view<Burning, const Position, Maybe<Velocity>>()) {
    if (velocity != nullptr) velocity->dy = 2;
  }
  for (std::uint32_t i = 0; i < 10; i += 2)
    EXPECT_TRUE(possibly_changed(world.storage<Velocity>()).contains(i));
  EXPECT_FALSE(world.storage<Position>().any_changes());
}

TEST_F(ViewChoice, MaybeOfSingleEntities) {
  const auto view = world.view<const Position, Maybe<Velocity>>(exclude<Burning>);
  EXPECT_TRUE(view.contains(at(11)));
  EXPECT_FALSE(view.contains(at(3)));
  EXPECT_EQ(std::get<1>(view.get(at(11))), nullptr);
  ASSERT_NE(std::get<1>(view.get(at(12))), nullptr);
  std::get<1>(view.get(at(12)))->dy = 5;
  EXPECT_EQ(world.get<const Velocity>(at(12)).dy, 5.0f);
  EXPECT_TRUE(possibly_changed(world.storage<Velocity>()).contains(12));
  EXPECT_FALSE(view.find(at(3)).has_value());
  EXPECT_EQ(view.size_hint(), 200u) << "an optional type never leads, however small";
  EXPECT_EQ(view.front(), at(10));
}

TEST_F(ViewChoice, MaybeMayBeTakenAwayAndGivenDuringTheLoop) {
  std::map<std::uint32_t, int> visits;
  world.view<const Position, Maybe<const Velocity>>().each(
      [&](Entity entity, const Position&, const Velocity* velocity) {
        ++visits[entity.index];
        ASSERT_EQ(velocity != nullptr, world.all_of<Velocity>(entity));
        if (velocity != nullptr) {
          world.remove<Velocity>(entity);
        } else {
          world.emplace<Velocity>(entity);
        }
        if (entity.index + 1 < 200) world.get_or_emplace<Velocity>(at(entity.index + 1));
      });
  EXPECT_EQ(visits.size(), 200u);
  for (const auto& [index, count] : visits) EXPECT_EQ(count, 1) << index;
}

TEST_F(ViewChoice, LedByAnotherPoolVisitsInItsOrder) {
  Indices falling;
  for (std::uint32_t i = 200; i-- > 0;) {
    if (i % 2 == 0) falling.push_back(i);
  }
  const Indices rising(falling.rbegin(), falling.rend());
  const auto view = world.view<Position, const Velocity>();
  EXPECT_EQ(order_of(view), falling) << "the smallest pool leads";
  EXPECT_EQ(order_of(view.led_by<Velocity>()), falling);
  EXPECT_EQ(order_of(view.led_by<Position>()), rising);
  EXPECT_EQ(view.led_by<Position>().size_hint(), 200u);
  EXPECT_EQ(view.led_by<Position>().front(), at(0));
  EXPECT_EQ(view.led_by<Position>().back(), at(198));
  EXPECT_EQ(view.front(), at(198));
  EXPECT_EQ(view.back(), at(0));
  EXPECT_THAT(order_of(world.view<Position, Velocity>(exclude<Burning>).led_by<Position>()).front(), 10u);
  EXPECT_THAT(order_of(world.view<Burning, Position, Velocity>().led_by<Velocity>()),
              ElementsAre(8, 6, 4, 2, 0));
  EXPECT_EQ(order_of(world.view<const Position, Maybe<Velocity>>().led_by<Position>()).size(), 200u);
}

template <class V, class L>
concept CanBeLedBy = requires(const V& view) { view.template led_by<L>(); };
template <class V>
concept HasSpans = requires(const V& view) { view.each_span([](auto&&...) {}); };

TEST_F(ViewChoice, OnlyARequiredTypeOfTheViewLeads) {
  using V = decltype(world.view<Position, const Velocity, Maybe<Health>, Maybe<const Name>>());
  static_assert(CanBeLedBy<V, Position> && CanBeLedBy<V, Velocity>);
  static_assert(!CanBeLedBy<V, Burning>, "is none of the view's");
  static_assert(!CanBeLedBy<V, Health> && !CanBeLedBy<V, Name>, "may be missing");
}

TEST_F(ViewChoice, SpansAreForTypesThatLieInARow) {
  static_assert(HasSpans<decltype(world.view<Position, const Velocity, Burning>())>);
  static_assert(!HasSpans<decltype(world.view<Position, Maybe<Velocity>>())>, "spans have no gaps");
  World other({}, [](Registry& registry) { registry.register_component<Pinned>("test.Pinned"); });
  static_assert(!HasSpans<decltype(other.view<Position, Pinned>())>,
                "values with stable addresses lie anywhere");
}

struct Span {
  Indices indices;
  std::vector<float> positions;
  std::vector<float> velocities;
};

TEST_F(ViewChoice, SpansCoverEachMatchOnceAndBelongTogether) {
  // Stretches of several lengths that are alike, and others that are not.
  const std::uint32_t lengths[] = {1, 2, 7, 8, 9, 63, 64, 65, 300, 3};
  std::vector<Entity> entities;
  for (const std::uint32_t length : lengths) {
    for (std::uint32_t i = 0; i < length; ++i) entities.push_back(world.create());
    world.create();  // no part of it
    entities.push_back(world.create());
  }
  for (const Entity entity : entities)
    world.emplace<Position>(entity, static_cast<float>(entity.index), 0.0f);
  std::size_t first = 0;
  for (const std::uint32_t length : lengths) {
    // The one behind each stretch has a position only.
    for (std::size_t i = first; i < first + length; ++i)
      world.emplace<Velocity>(entities[i], static_cast<float>(entities[i].index), 0.0f);
    first += length + 1;
  }
  for (const bool excluding : {false, true}) {
    for (const bool led_by_position : {false, true}) {
      world.clear_changes();
      std::set<std::uint32_t> expected;
      world.for_each_entity([&](Entity entity) {
        if (world.all_of<Position, Velocity>(entity) && !(excluding && world.all_of<Burning>(entity)))
          expected.insert(entity.index);
      });
      std::set<std::uint32_t> covered;
      std::size_t longest = 0;
      const auto take = [&](std::span<const std::uint32_t> indices, std::span<Position> positions,
                            std::span<const Velocity> velocities) {
        ASSERT_EQ(indices.size(), positions.size());
        ASSERT_EQ(indices.size(), velocities.size());
        ASSERT_FALSE(indices.empty());
        longest = std::max(longest, indices.size());
        for (std::size_t i = 0; i < indices.size(); ++i) {
          EXPECT_TRUE(covered.insert(indices[i]).second) << indices[i] << " twice";
          EXPECT_EQ(positions[i].x, static_cast<float>(indices[i]));
          EXPECT_EQ(velocities[i].dx, static_cast<float>(indices[i]));
          positions[i].y = 1;
        }
      };
      if (excluding) {
        const auto view = world.view<Position, const Velocity>(exclude<Burning>);
        led_by_position ? view.led_by<Position>().each_span(take) : view.each_span(take);
      } else {
        const auto view = world.view<Position, const Velocity>();
        led_by_position ? view.led_by<Position>().each_span(take) : view.each_span(take);
      }
      EXPECT_EQ(covered, expected);
      EXPECT_EQ(longest, excluding ? 1u : 300u) << "longest stretch";
      const auto changed = possibly_changed(world.storage<Position>());
      for (const std::uint32_t index : covered) EXPECT_TRUE(changed.contains(index)) << index;
      EXPECT_FALSE(world.storage<Velocity>().any_changes());
    }
  }
}

TEST_F(ViewChoice, SpansLeaveTagsOutAndTakeThemIntoAccount) {
  Indices covered;
  world.view<Burning, const Position>().each_span(
      [&](std::span<const std::uint32_t> indices, std::span<const Position> positions) {
        EXPECT_EQ(indices.size(), positions.size());
        covered.insert(covered.end(), indices.begin(), indices.end());
      });
  EXPECT_THAT(covered, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  std::size_t calls = 0;
  world.view<Burning>().each_span([&](std::span<const std::uint32_t> indices) { calls += indices.size(); });
  EXPECT_EQ(calls, 10u);
  world.view<Health>().each_span([&](auto&&...) { calls = 1000; });
  world.view<Health, Position>().each_span([&](auto&&...) { calls = 1000; });
  EXPECT_EQ(calls, 10u) << "of nobody: no call";
}

TEST_F(ViewChoice, FindFrontAndBackSeeWhatTheLoopSees) {
  const auto view = world.view<Position, Velocity>(exclude<Burning>);
  const Indices order = order_of(view);
  EXPECT_EQ(view.front().index, order.front());
  EXPECT_EQ(view.back().index, order.back());
  const std::set<std::uint32_t> visited(order.begin(), order.end());
  for (std::uint32_t i = 0; i < 200; ++i) {
    EXPECT_EQ(view.find(at(i)).has_value(), visited.contains(i));
    EXPECT_EQ(view.contains(at(i)), visited.contains(i));
  }
  world.clear_changes();
  std::get<0>(*view.find(at(12))).y = 4;
  EXPECT_EQ(world.get<const Position>(at(12)).y, 4.0f);
  EXPECT_TRUE(possibly_changed(world.storage<Position>()).contains(12));
  world.clear<Velocity>();
  EXPECT_TRUE(view.empty());
  EXPECT_EQ(view.front(), kNullEntity);
  EXPECT_EQ(view.back(), kNullEntity);
  EXPECT_FALSE(view.find(kNullEntity).has_value());
}

template <int kNumber>
struct Numbered {
  int value = 0;
};

TEST(ViewOfManyTypes, HandsOutEachTypesOwnValue) {
  Registry registry;
  [&]<int... kNumbers>(std::integer_sequence<int, kNumbers...>) {
    (registry.register_component<Numbered<kNumbers>>("test.Numbered" + std::to_string(kNumbers)), ...);
    registry.freeze();
    for (int i = 0; i < 300; ++i) {
      const Entity entity = registry.create();
      // Each type is missing somewhere; from 200 on all are there.
      ((i >= 200 || i % 12 != kNumbers
            ? void(registry.emplace<Numbered<kNumbers>>(entity, i * 100 + kNumbers))
            : void()),
       ...);
    }
    std::size_t visits = 0;
    const auto check = [&](Entity entity, const Numbered<kNumbers>&... values) {
      EXPECT_TRUE(((values.value == static_cast<int>(entity.index) * 100 + kNumbers) && ...)) << entity.index;
      ++visits;
    };
    const auto view = registry.view<Numbered<kNumbers>...>();
    view.each(check);
    (view.template led_by<Numbered<kNumbers>>().each(check), ...);
    for (auto&& item : view) std::apply(check, item);
    EXPECT_EQ(visits, 100u * (1 + sizeof...(kNumbers) + 1));
  }(std::make_integer_sequence<int, 12>{});
}

TEST(ViewOfNobody, VisitsNobody) {
  World world;
  int visits = 0;
  world.view<Position>().each([&](Position&) { ++visits; });
  world.view<Position, Maybe<Velocity>>(exclude<Burning>).each([&](Position&, Velocity*) { ++visits; });
  for ([[maybe_unused]] auto item : world.view<Position, Velocity>()) ++visits;
  EXPECT_EQ(visits, 0);
}

}  // namespace
}  // namespace shoal::test
