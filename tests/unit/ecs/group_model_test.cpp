// Several groups at once against a model that anyone can read: a std::map from entity to the numbers it holds. Random
// operations from a seed; after each one the invariants of owning_group.hpp are checked, and every value and mark.
// SHOAL_MODEL_STEPS in the environment runs longer (operations in all).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "shared/base/random.hpp"
#include "tests/unit/ecs/numbered_components.hpp"

namespace shoal::test {
namespace {

using Held = std::array<std::optional<int>, kTypes>;
template <class T>
constexpr std::size_t kNumber = type_number<T>();

// Positions with velocities; names, which look at what the first one owns; pinned ones with a tag; healths alone. Each
// type has a part in two of them at least.
const auto kMoving = [](Registry& registry) {
  return registry.group<Position, Velocity>(observe<Health>, exclude<Burning>);
};
const auto kNamed = [](Registry& registry) {
  return registry.group<Name>(observe<Position>, exclude<Frozen>);
};
const auto kPinned = [](Registry& registry) { return registry.group<Frozen, Pinned>({}, exclude<Health>); };
const auto kHealthy = [](Registry& registry) {
  return registry.group<Health>(observe<Burning>, exclude<Pinned>);
};

class GroupModel : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::uint32_t kMaxEntities = 60;

  GroupModel()
      : world({.max_entities = kMaxEntities},
              [](Registry& registry) {
                register_the_rest(registry);
                registry.declare_group<Position, Velocity>(observe<Health>, exclude<Burning>);
                registry.declare_group<Name>(observe<Position>, exclude<Frozen>);
                registry.declare_group<Frozen, Pinned>({}, exclude<Health>);
                registry.declare_group<Health>(observe<Burning>, exclude<Pinned>);
              }),
        random(GetParam()) {
    world.log().set_enabled(false);
  }

  // --- Operations ---

  Entity any_living() {
    return std::next(model.begin(), random.below(static_cast<std::uint32_t>(model.size())))->first;
  }
  void born(Entity entity) { ASSERT_TRUE(model.emplace(entity, Held{}).second); }
  void create() {
    if (const auto entity = world.try_create()) born(*entity);
  }
  void create_some() {
    std::vector<Entity> entities(random.below(5));
    if (entities.size() > world.entity_table().room()) return;
    world.create(entities);
    for (const Entity entity : entities) born(entity);
  }
  void create_exactly() {
    const Entity entity{random.below(kMaxEntities), 1 + random.below(100)};
    if (world.create_exact(entity)) born(entity);
  }
  void destroy(Entity entity) {
    world.destroy(entity);
    model.erase(entity);
    forget(entity);
  }
  void put(Entity entity, std::size_t type) {
    const int number = static_cast<int>(random.below(30'000));
    with_type(type, [&]<class T>() {
      if constexpr (kIsTag<T>) {
        world.emplace_or_replace<T>(entity);
        model[entity][type] = 0;
      } else {
        T& value = world.emplace_or_replace<T>(entity, made<T>(number));
        ASSERT_EQ(number_of(value), number) << "the reference that emplace gives";
        model[entity][type] = number;
      }
    });
    announced.insert({entity, type});
  }
  void take(Entity entity, std::size_t type) {
    with_type(type, [&]<class T>() { ASSERT_EQ(world.remove<T>(entity), model[entity][type].has_value()); });
    model[entity][type].reset();
    announced.erase({entity, type});
    written.erase({entity, type});
  }
  void toggle(Entity entity, std::size_t type) {
    model[entity][type] ? take(entity, type) : put(entity, type);
  }
  void insert(std::size_t type) {
    std::vector<Entity> entities;
    for (const auto& [entity, held] : model) {
      if (!held[type] && random.below(3) == 0) entities.push_back(entity);
    }
    for (std::size_t i = entities.size(); i > 1; --i)
      std::swap(entities[i - 1], entities[random.below(static_cast<std::uint32_t>(i))]);
    with_type(type, [&]<class T>() {
      std::vector<T> values;
      for (const Entity entity : entities) {
        const int number = kIsTag<T> ? 0 : static_cast<int>(random.below(30'000));
        if constexpr (kIsTag<T>) {
          values.emplace_back();
        } else {
          values.push_back(made<T>(number));
        }
        model[entity][type] = number;
        announced.insert({entity, type});
      }
      world.insert<T>(entities, std::span<const T>(values));
    });
  }
  void clear(std::size_t type) {
    with_type(type, [&]<class T>() { world.clear<T>(); });
    for (auto& [entity, held] : model) {
      held[type].reset();
      announced.erase({entity, type});
      written.erase({entity, type});
    }
  }
  void write(Entity entity, std::size_t type) {
    if (!model[entity][type]) return;
    with_type(type, [&]<class T>() {
      if constexpr (!kIsTag<T>) {
        model[entity][type] = (*model[entity][type] + 1) % 30'000;
        world.get<T>(entity) = made<T>(*model[entity][type]);
        written.insert({entity, type});
      }
    });
  }
  void sort() {
    const auto by_x = [](const Position& a, const Position& b) { return a.x < b.x; };
    switch (random.below(5)) {
      case 0: {
        kMoving(world).sort<Position>(by_x);
        const auto positions = kMoving(world).values<const Position>();
        ASSERT_TRUE(std::is_sorted(positions.begin(), positions.end(), by_x));
        return;
      }
      case 1:
        return kNamed(world).sort([](Entity a, Entity b) { return b < a; });
      case 2:
        return kPinned(world).sort<Pinned>(
            [](const Pinned& a, const Pinned& b) { return a.number < b.number; });
      case 3:
        return kHealthy(world).sort([](Entity a, Entity b) { return a.index < b.index; });
      default:
        return world.sort<Burning>([](Entity a, Entity b) { return a < b; });  // owned by none
    }
  }

  /// A loop over a group with an action on the entity at hand.
  void loop() {
    const bool act = random.below(2) == 0;
    const auto visit = [&](std::set<Entity>& visited, Entity entity) {
      EXPECT_TRUE(visited.insert(entity).second) << "a second time";
      if (!act || random.below(4) != 0) return;
      if (random.below(4) == 0) return destroy(entity);
      for (std::uint32_t i = random.below(3); i > 0; --i) toggle(entity, random.below(kTypes));
    };
    std::set<Entity> visited;
    std::vector<Entity> expected;
    const auto members = [&](const auto& group) {
      for (std::size_t at = 0; at < group.size(); ++at) expected.push_back(group.entity_at(at));
    };
    if (random.below(2) == 0) {
      members(kMoving(world));
      kMoving(world).each([&](Entity entity, Position& position, const Velocity& velocity, Health& health) {
        ASSERT_EQ(number_of(velocity), *model[entity][kNumber<Velocity>]);
        rewrite(entity, position);
        rewrite(entity, health);
        visit(visited, entity);
      });
    } else {
      members(kPinned(world));
      kPinned(world).each([&](Entity entity, Pinned& pinned) {
        rewrite(entity, pinned);
        visit(visited, entity);
      });
    }
    for (const Entity entity : expected)
      ASSERT_TRUE(visited.contains(entity)) << entity.index << " was left out";
    ASSERT_EQ(visited.size(), expected.size());
  }
  template <class T>
  void rewrite(Entity entity, T& value) {
    ASSERT_EQ(number_of(value), *model[entity][kNumber<T>]);
    model[entity][kNumber<T>] = (*model[entity][kNumber<T>] + 1) % 30'000;
    value = made<T>(*model[entity][kNumber<T>]);
    written.insert({entity, kNumber<T>});
  }
  void forget(Entity entity) {
    for (std::size_t type = 0; type < kTypes; ++type) {
      announced.erase({entity, type});
      written.erase({entity, type});
    }
  }

  void step() {
    const std::uint32_t choice = random.below(1000);
    if (choice < 80 || model.empty()) return create();
    if (choice < 90) return create_some();
    if (choice < 100) return create_exactly();
    const Entity entity = any_living();
    if (choice < 160) return destroy(entity);
    if (choice < 500) return put(entity, random.below(kTypes));
    if (choice < 800) return take(entity, random.below(kTypes));
    if (choice < 900) return write(entity, random.below(kTypes));
    if (choice < 925) return insert(random.below(kTypes));
    if (choice < 950) return sort();
    if (choice < 975) return loop();
    if (choice < 980) return clear(random.below(kTypes));
    if (choice < 985) return world.shrink_to_fit();
    if (choice < 990) {
      world.clear_changes();
      announced.clear();
      written.clear();
      return;
    }
    if (choice < 991) {
      world.clear();
      model.clear();
      announced.clear();
      written.clear();
    }
  }

  // --- Invariants ---

  template <class... O, class... W, class... X>
  void check_group(detail::Types<O...>, detail::Types<W...>, detail::Types<X...>, const auto& group) {
    std::set<std::uint32_t> expected;
    for (const auto& [entity, held] : model) {
      const bool belongs =
          (held[kNumber<O>] && ...) && (held[kNumber<W>] && ...) && !(held[kNumber<X>] || ...);
      if (belongs) expected.insert(entity.index);
      ASSERT_EQ(group.contains(entity), belongs) << world.describe(entity);
    }
    const auto indices = group.indices();
    ASSERT_EQ(std::set<std::uint32_t>(indices.begin(), indices.end()), expected) << "invariant 1";
    ASSERT_EQ(group.size(), expected.size()) << "invariant 1: each once";
    const auto check_pool = [&](const StorageBase& pool) {
      ASSERT_GE(pool.size(), group.size());
      ASSERT_TRUE(std::equal(indices.begin(), indices.end(), pool.indices().begin()))
          << "invariant 2: " << pool.name() << " has them in another order";
    };
    (check_pool(world.storage<O>()), ...);
  }
  template <class T>
  void check_pool() {
    constexpr std::size_t kType = kNumber<T>;
    const auto& pool = std::as_const(world).template storage<T>();
    std::set<std::uint32_t> dirty;
    std::set<std::uint32_t> reported;
    pool.for_each_dirty([&](std::uint32_t index, const void*) { dirty.insert(index); });
    pool.for_each_possibly_changed([&](std::uint32_t index, const void*) { reported.insert(index); });
    std::size_t size = 0;
    for (const auto& [entity, held] : model) {
      ASSERT_EQ(pool.contains(entity), held[kType].has_value()) << pool.name();
      ASSERT_EQ(world.has(entity, pool.type()), held[kType].has_value()) << "mask, " << pool.name();
      ASSERT_EQ(dirty.contains(entity.index), announced.contains({entity, kType}))
          << "dirty, " << pool.name();
      if (written.contains({entity, kType})) {
        ASSERT_TRUE(reported.contains(entity.index)) << "lost a write, " << pool.name();
      }
      if (!held[kType]) continue;
      ++size;
      if constexpr (!kIsTag<T>) {
        ASSERT_EQ(number_of(*pool.try_get(entity)), *held[kType]) << pool.name();
      }
      ASSERT_EQ(pool.indices()[pool.position(entity.index)], entity.index);
    }
    ASSERT_EQ(pool.size(), size);
  }
  void check() {
    using detail::Types;
    ASSERT_EQ(world.alive_count(), model.size());
    check_group(Types<Position, Velocity>{}, Types<Health>{}, Types<Burning>{}, kMoving(world));
    check_group(Types<Name>{}, Types<Position>{}, Types<Frozen>{}, kNamed(world));
    check_group(Types<Frozen, Pinned>{}, Types<>{}, Types<Health>{}, kPinned(world));
    check_group(Types<Health>{}, Types<Burning>{}, Types<Pinned>{}, kHealthy(world));
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (check_pool<std::tuple_element_t<I, AllTypes>>(), ...);
    }(std::make_index_sequence<kTypes>{});
  }

  std::size_t steps() const {
    const char* text = std::getenv("SHOAL_MODEL_STEPS");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : 5'000;
  }

  World world;
  Random random;
  std::map<Entity, Held> model;
  std::set<std::pair<Entity, std::size_t>> announced;  // since the last clear_changes
  std::set<std::pair<Entity, std::size_t>> written;
};

TEST_P(GroupModel, InvariantsHoldAfterEachOfRandomOperations) {
  const std::size_t total = steps();
  for (std::size_t done = 0; done < total; ++done) {
    step();
    ASSERT_FALSE(HasFailure()) << "operation " << done << " of seed " << GetParam();
    check();
    ASSERT_FALSE(HasFailure()) << "after operation " << done << " of seed " << GetParam();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, GroupModel, testing::Range<std::uint64_t>(1, 5));

}  // namespace
}  // namespace shoal::test
