// The registry against a model that anyone can read: a std::map from entity to what it has. Random operations
// from a seed, with groups, ranges, sorts and values with stable addresses; after each round everything that can be
// asked is asked of both. Ten million operations:
//   SHOAL_MODEL_STEPS=2500000 build/dev/bin/unit_ecs --gtest_filter='*RegistryModel*'     (of each of four seeds)
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "shared/base/random.hpp"
#include "shared/ecs/command_buffer.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

constexpr std::uint32_t kMaxEntities = 300;
constexpr std::uint32_t kReserved = 10;

// A component of the model: its value, and which addition it came by, so that a reset shows.
template <class T>
struct Held {
  T value{};
  std::uint64_t addition = 0;
};
struct ModelEntity {
  std::optional<Held<std::uint16_t>> health;
  std::optional<Held<float>> position;
  std::optional<Held<std::string>> name;
  std::optional<Held<bool>> burning;
  std::optional<Held<int>> pinned;
  const Pinned* address = nullptr;  // of pinned
};
using Model = std::map<Entity, ModelEntity>;

struct SignalCounts {
  int constructed = 0;
  int updated = 0;
  int destroyed = 0;
  friend bool operator==(const SignalCounts&, const SignalCounts&) = default;
};

class RegistryModel : public testing::TestWithParam<std::uint64_t> {
 protected:
  // The pool of positions has a part in no group: its loop destroys the entity at hand, it is sorted alone, and
  // ranges are put in at once.
  RegistryModel()
      : world({.max_entities = kMaxEntities, .reserved_indices = kReserved},
              [](Registry& registry) {
                registry.register_component<Pinned>("test.Pinned");
                registry.declare_group<Health, Pinned>({}, exclude<Burning>);
                registry.declare_group<Name>({}, exclude<Burning>);
              }),
        random(GetParam()) {
    world.on_construct<Health>().connect([this](Registry& registry, Entity entity) {
      ASSERT_TRUE(registry.all_of<Health>(entity));
      ++counted.constructed;
    });
    world.on_update<Health>().connect([this](Registry&, Entity) { ++counted.updated; });
    connection = world.on_destroy<Health>().connect_scoped([this](Registry& registry, Entity entity) {
      const auto known = model.find(entity);
      ASSERT_NE(known, model.end());
      ASSERT_EQ(registry.all_of<Position>(entity), known->second.position.has_value()) << "not whole";
      ASSERT_EQ(registry.get<const Health>(entity).current, known->second.health->value);
      ++counted.destroyed;
    });
  }

  std::size_t steps() const {
    const char* text = std::getenv("SHOAL_MODEL_STEPS");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : 60'000;
  }
  Entity any_living() {
    if (model.empty()) return kNullEntity;
    auto it = model.lower_bound(Entity::from_bits(random.next() % (std::uint64_t{generation_top} << 32)));
    return it == model.end() ? model.begin()->first : it->first;
  }

  void born(Entity entity) {
    ASSERT_FALSE(model.contains(entity));
    model[entity] = {};
    generation_top = std::max(generation_top, entity.generation + 1);
  }
  void died(Entity entity) {
    if (model[entity].health) ++expected.destroyed;
    model.erase(entity);
    if (entity.index >= kReserved) free.push_back({entity.index, entity.generation + 1});
  }

  void create() {
    const std::optional<Entity> entity = world.try_create();
    if (!free.empty()) {
      ASSERT_EQ(entity, free.front()) << "first in, first out";
      free.pop_front();
      born(*entity);
    } else if (index_end < kMaxEntities) {
      ASSERT_EQ(entity, (Entity{index_end, 1}));
      ++index_end;
      born(*entity);
    } else {
      ASSERT_EQ(entity, std::nullopt);
    }
  }
  void create_exact() {
    const Entity entity{random.below(kMaxEntities + 5), random.below(50)};
    const bool taken = std::any_of(model.begin(), model.end(),
                                   [&](const auto& item) { return item.first.index == entity.index; });
    const bool possible = !taken && entity.index < kMaxEntities && entity.generation > 0;
    ASSERT_EQ(world.create_exact(entity), possible) << entity.index << ":" << entity.generation;
    if (!possible) return;
    for (; index_end <= entity.index; ++index_end) free.push_back({index_end, 1});
    std::erase_if(free, [&](Entity waiting) { return waiting.index == entity.index; });
    born(entity);
  }
  void create_range() {
    std::vector<Entity> entities(random.below(6));
    if (entities.size() > free.size() + (kMaxEntities - index_end)) return;
    world.create(entities);
    for (const Entity entity : entities) {
      if (free.empty()) {
        ASSERT_EQ(entity, (Entity{index_end, 1}));
        ++index_end;
      } else {
        ASSERT_EQ(entity, free.front());
        free.pop_front();
      }
      born(entity);
    }
  }
  void destroy(Entity entity) {
    world.destroy(entity);
    died(entity);
  }
  // Values for some who have none, in no order.
  template <class T, class H, class V>
  void insert(std::optional<H> ModelEntity::*member, V value_of) {
    std::vector<Entity> entities;
    for (const auto& [entity, known] : model) {
      if (!(known.*member) && random.below(5) == 0) entities.push_back(entity);
    }
    for (std::size_t i = entities.size(); i > 1; --i)
      std::swap(entities[i - 1], entities[random.below(static_cast<std::uint32_t>(i))]);
    std::vector<T> values;
    for (const Entity entity : entities) values.push_back(value_of(model[entity].*member));
    world.insert<T>(entities, std::span<const T>(values));
  }
  void insert_range() {
    const auto number = [&] { return static_cast<std::uint16_t>(random.below(1000)); };
    switch (random.below(4)) {
      case 0:
        return insert<Health>(&ModelEntity::health, [&](auto& held) {
          ++expected.constructed;
          held = {number(), ++additions};
          return Health{held->value, 0};
        });
      case 1:
        return insert<Position>(&ModelEntity::position, [&](auto& held) {
          held = {static_cast<float>(number()), ++additions};
          return Position{held->value, 0};
        });
      case 2:
        return insert<Name>(&ModelEntity::name, [&](auto& held) {
          held = {std::to_string(number()), ++additions};
          return Name{held->value};
        });
      default:
        return insert<Burning>(&ModelEntity::burning, [&](auto& held) {
          held = {true, ++additions};
          return Burning{};
        });
    }
  }
  void sort() {
    const auto by_entity = [](Entity a, Entity b) { return a < b; };
    switch (random.below(6)) {
      case 0:
        return world.sort<Position>([](const Position& a, const Position& b) { return a.x < b.x; });
      case 1:
        return world.sort_as<Position, Health>();
      case 2:
        return world.sort_as<Burning, Position>();
      case 3:
        return world.sort<Burning>(by_entity);
      case 4:
        return world.group<Health, Pinned>({}, exclude<Burning>)
            .sort<Pinned>([](const Pinned& a, const Pinned& b) { return a.number < b.number; });
      default:
        return world.group<Name>({}, exclude<Burning>).sort(by_entity);
    }
  }
  void write_through_a_group() {
    world.group<Health, Pinned>({}, exclude<Burning>)
        .each([&](Entity entity, Health& health, Pinned& pinned) {
          ASSERT_EQ(health.current, model[entity].health->value);
          ASSERT_EQ(&pinned, model[entity].address);
          pinned.number = health.current;
          model[entity].pinned->value = health.current;
        });
  }
  void put(Entity entity) {
    ModelEntity& known = model[entity];
    const auto value = static_cast<std::uint16_t>(random.below(1000));
    switch (random.below(5)) {
      case 0:
        ++(known.health ? expected.updated : expected.constructed);
        world.emplace_or_replace<Health>(entity, Health{value, 0});
        known.health = {value, known.health ? known.health->addition : ++additions};
        break;
      case 1:
        if (known.position) {
          world.patch<Position>(entity, [&](Position& position) { position.x = value; });
        } else {
          world.emplace<Position>(entity, static_cast<float>(value), 0.0f);
        }
        known.position = {static_cast<float>(value), known.position ? known.position->addition : ++additions};
        break;
      case 2:
        world.emplace_or_replace<Name>(entity, std::to_string(value) + std::string(30, '.'));
        known.name = {std::to_string(value) + std::string(30, '.'),
                      known.name ? known.name->addition : ++additions};
        break;
      case 3: {
        const Pinned* address = &world.emplace_or_replace<Pinned>(entity, value, std::string(30, '.'));
        if (known.pinned) {
          ASSERT_EQ(address, known.address);
        }
        known.address = address;
        known.pinned = {value, known.pinned ? known.pinned->addition : ++additions};
        break;
      }
      default:
        world.get_or_emplace<Burning>(entity);
        if (!known.burning) known.burning = {true, ++additions};
        break;
    }
  }
  void take(Entity entity) {
    ModelEntity& known = model[entity];
    switch (random.below(5)) {
      case 0:
        if (known.health) ++expected.destroyed;
        ASSERT_EQ(world.remove<Health>(entity), known.health.has_value());
        known.health.reset();
        break;
      case 1:
        ASSERT_EQ(world.remove(entity, world.component_type<Position>()), known.position.has_value());
        known.position.reset();
        break;
      case 2:
        ASSERT_EQ(world.remove<Name>(entity), known.name.has_value());
        known.name.reset();
        break;
      case 3:
        ASSERT_EQ(world.remove<Pinned>(entity), known.pinned.has_value());
        known.pinned.reset();
        break;
      default:
        ASSERT_EQ(world.remove<Burning>(entity), known.burning.has_value());
        known.burning.reset();
        break;
    }
  }
  void loop_that_destroys() {
    std::vector<Entity> gone;
    for (auto [entity, position] : world.view<Position>(exclude<Burning>)) {
      if (random.below(4) != 0) continue;
      world.destroy(entity);
      gone.push_back(entity);
      died(entity);
    }
  }
  void write_through_a_view() {
    world.view<Health, const Position>().each([&](Entity entity, Health& health, const Position& position) {
      health.current = static_cast<std::uint16_t>(position.x);
      model[entity].health->value = health.current;
    });
  }
  void clear_all_of_a_type() {
    world.clear<Health>();
    for (auto& [entity, known] : model) {
      if (known.health) ++expected.destroyed;
      known.health.reset();
    }
  }
  void by_command_buffer(Entity entity) {
    if (free.empty() || model[entity].name) return;
    const Entity temporary = commands.create();
    commands.emplace<Name>(temporary, "spawned");
    commands.emplace<Name>(entity, "named");
    commands.apply(world);
    model[entity].name = {"named", ++additions};
    ASSERT_EQ(commands.created()[0], free.front());
    free.pop_front();
    born(commands.created()[0]);
    model[commands.created()[0]].name = {"spawned", ++additions};
  }

  void step() {
    const Entity entity = any_living();
    const std::uint32_t choice = random.below(1000);
    if (choice < 220) return create();
    if (choice < 240) return create_exact();
    if (choice < 245) return create_range();
    if (entity.is_null()) return;
    if (choice < 370) return destroy(entity);
    if (choice < 375) return insert_range();
    if (choice < 378) return sort();
    if (choice < 379) return world.shrink_to_fit();
    if (choice < 380) return write_through_a_group();
    if (choice < 720) return put(entity);
    if (choice < 960) return take(entity);
    if (choice < 990) return by_command_buffer(entity);
    if (choice < 995) return write_through_a_view();
    if (choice < 998) return loop_that_destroys();
    return clear_all_of_a_type();
  }

  template <class T, class H, class Value>
  void compare_component(Entity entity, const std::optional<H>& held, Value value_of) {
    const auto& registry = std::as_const(world);
    ASSERT_EQ(registry.all_of<T>(entity), held.has_value()) << registry.describe(entity);
    ASSERT_EQ(registry.has(entity, registry.component_type<T>()), held.has_value()) << "the mask differs";
    if constexpr (!kIsTag<T>) {
      const T* value = registry.try_get<T>(entity);
      ASSERT_EQ(value != nullptr, held.has_value());
      if (held) {
        ASSERT_EQ(value_of(*value), held->value);
      }
    }
  }
  void compare() {
    const auto& registry = std::as_const(world);
    ASSERT_EQ(registry.alive_count(), model.size());
    ASSERT_EQ(counted, expected) << "signals";
    std::size_t visited = 0;
    registry.for_each_entity([&](Entity entity) { visited += model.contains(entity); });
    ASSERT_EQ(visited, model.size());
    for (const auto& [entity, known] : model) {
      ASSERT_TRUE(registry.alive(entity));
      compare_component<Health>(entity, known.health, [](const Health& health) { return health.current; });
      compare_component<Position>(entity, known.position,
                                  [](const Position& position) { return position.x; });
      compare_component<Name>(entity, known.name, [](const Name& name) { return name.text; });
      compare_component<Burning>(entity, known.burning, [](const Burning&) { return true; });
      compare_component<Pinned>(entity, known.pinned, [](const Pinned& pinned) { return pinned.number; });
      if (known.pinned) {
        ASSERT_EQ(registry.try_get<Pinned>(entity), known.address) << "it has moved";
      }
    }
    const auto has = [](const auto& held) { return held.has_value(); };
    compare_view(registry.view<Health>(), [&](const ModelEntity& e) { return has(e.health); });
    compare_view(registry.view<Health, Position>(),
                 [&](const ModelEntity& e) { return has(e.health) && has(e.position); });
    compare_view(registry.view<Name, Burning, Position>(),
                 [&](const ModelEntity& e) { return has(e.name) && has(e.burning) && has(e.position); });
    compare_view(registry.view<Position>(exclude<Health, Burning>),
                 [&](const ModelEntity& e) { return has(e.position) && !has(e.health) && !has(e.burning); });
    compare_view(registry.view<Burning>(exclude<Name>),
                 [&](const ModelEntity& e) { return has(e.burning) && !has(e.name); });
    compare_view(registry.view<Pinned, Maybe<Name>>().led_by<Pinned>(),
                 [&](const ModelEntity& e) { return has(e.pinned); });
    compare_group(world.group<const Health, const Pinned>({}, exclude<Burning>),
                  [&](const ModelEntity& e) { return has(e.health) && has(e.pinned) && !has(e.burning); });
    compare_group(world.group<const Name>({}, exclude<Burning>),
                  [&](const ModelEntity& e) { return has(e.name) && !has(e.burning); });
  }
  template <class G, class Belongs>
  void compare_group(const G& group, Belongs belongs) {
    std::size_t members = 0;
    for (const auto& [entity, known] : model) {
      ASSERT_EQ(group.contains(entity), belongs(known)) << world.describe(entity);
      members += belongs(known);
    }
    ASSERT_EQ(group.size(), members);
  }
  template <class V, class Belongs>
  void compare_view(const V& view, Belongs belongs) {
    std::vector<Entity> found;
    for (auto&& item : view) found.push_back(std::get<0>(item));
    std::sort(found.begin(), found.end());
    std::vector<Entity> wanted;
    for (const auto& [entity, known] : model) {
      if (belongs(known)) wanted.push_back(entity);
      ASSERT_EQ(view.contains(entity), belongs(known));
    }
    ASSERT_EQ(found, wanted);
  }

  // R14: the summary of the log is the difference of two snapshots.
  template <class H>
  void expect_net(std::vector<NetChange>& net, Entity entity, ComponentType type,
                  const std::optional<H>& before, const std::optional<H>& after) {
    if (before && after && before->addition != after->addition) net.push_back({entity, type, NetKind::Reset});
    if (before && !after) net.push_back({entity, type, NetKind::Removed});
    if (!before && after) net.push_back({entity, type, NetKind::Added});
  }
  void compare_summary() {
    std::vector<NetChange> wanted;
    const auto compare_lives = [&](Entity entity, const ModelEntity& before, const ModelEntity& after) {
      expect_net(wanted, entity, world.component_type<Health>(), before.health, after.health);
      expect_net(wanted, entity, world.component_type<Position>(), before.position, after.position);
      expect_net(wanted, entity, world.component_type<Name>(), before.name, after.name);
      expect_net(wanted, entity, world.component_type<Burning>(), before.burning, after.burning);
      expect_net(wanted, entity, world.component_type<Pinned>(), before.pinned, after.pinned);
    };
    for (const auto& [entity, before] : started) {
      const auto after = model.find(entity);
      compare_lives(entity, before, after == model.end() ? ModelEntity{} : after->second);
      if (after == model.end()) wanted.push_back({entity, {}, NetKind::Died});
    }
    for (const auto& [entity, after] : model) {
      if (started.contains(entity)) continue;
      wanted.push_back({entity, {}, NetKind::Born});
      compare_lives(entity, {}, after);
    }
    const auto in_order = [](const NetChange& a, const NetChange& b) {
      return std::tuple(a.entity, a.type, a.kind) < std::tuple(b.entity, b.type, b.kind);
    };
    const auto got = summary.summarize(world.log().entries());
    std::vector<NetChange> found(got.begin(), got.end());
    std::sort(found.begin(), found.end(), in_order);
    std::sort(wanted.begin(), wanted.end(), in_order);
    ASSERT_EQ(found.size(), wanted.size());
    ASSERT_TRUE(found == wanted);
  }

  Model model;
  Model started;  // at the start of the round
  std::deque<Entity> free;
  std::uint32_t index_end = kReserved;
  std::uint32_t generation_top = 2;
  std::uint64_t additions = 0;
  SignalCounts counted;
  SignalCounts expected;
  CommandBuffer commands;
  ChangeSummary summary;
  World world;
  ScopedConnection connection;  // its listener looks into the model, which the world's end does not keep
  Random random;
};

TEST_P(RegistryModel, AgreesOverRandomOperations) {
  const std::size_t total = steps();
  for (std::size_t done = 0; done < total;) {
    started = model;
    world.log().clear();
    for (std::uint32_t round = random.below(100) + 1; round > 0; --round, ++done) {
      step();
      ASSERT_FALSE(HasFatalFailure()) << "operation " << done << " of seed " << GetParam();
    }
    compare();
    compare_summary();
    ASSERT_FALSE(HasFatalFailure()) << "after operation " << done << " of seed " << GetParam();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RegistryModel, testing::Range<std::uint64_t>(1, 5));

}  // namespace
}  // namespace shoal::test
