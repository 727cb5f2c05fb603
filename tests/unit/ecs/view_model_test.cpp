// Views against a loop over all entities that asks each one. Random worlds, random views, random actions on the entity
// at hand and, in pools that do not lead, on others: `each` and range-for visit who is in the view from the start until
// its turn, once, with the right values; and whatever was written is found by who looks for changes.
// SHOAL_VIEW_WORLDS in the environment plays more worlds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "shared/base/random.hpp"
#include "tests/unit/ecs/numbered_components.hpp"

namespace shoal::test {
namespace {

using Held = std::array<std::optional<int>, kTypes>;

class ViewModel : public testing::TestWithParam<std::uint64_t> {
 protected:
  ViewModel() : random(GetParam()) {}

  // --- The world and its model ---

  void put(Entity entity, std::size_t type) {
    const int number = static_cast<int>(random.below(30'000));
    with_type(type, [&]<class T>() {
      if constexpr (kIsTag<T>) {
        world->emplace_or_replace<T>(entity);
        model[entity][type] = 0;
      } else {
        world->emplace_or_replace<T>(entity, made<T>(number));
        model[entity][type] = number;
      }
    });
  }
  void take(Entity entity, std::size_t type) {
    with_type(type, [&]<class T>() { ASSERT_EQ(world->remove<T>(entity), model[entity][type].has_value()); });
    model[entity][type].reset();
    written.erase({entity, type});
  }
  void destroy(Entity entity) {
    world->destroy(entity);
    model.erase(entity);
  }
  Entity create() {
    const Entity entity = world->create();
    model[entity] = {};
    return entity;
  }

  /// Stretches of entities that were made alike, some of them in another order in some pools, with holes.
  void make_world() {
    constexpr std::uint32_t kLengths[] = {1, 7, 8, 9, 63, 64, 65, 200, 2100};
    model.clear();
    written.clear();
    world.emplace(RegistryLimits{}, [](Registry& registry) { register_the_rest(registry); });
    const std::uint32_t stretches = 1 + random.below(6);
    for (std::uint32_t stretch = 0; stretch < stretches; ++stretch) {
      // The longest are seldom: they take the most time.
      const std::uint32_t length = kLengths[random.below(random.below(6) == 0 ? 9 : 8)];
      std::vector<Entity> entities;
      for (std::uint32_t i = 0; i < length; ++i) entities.push_back(create());
      for (std::size_t type = 0; type < kTypes; ++type) {
        // Tags are rare, so that excluding them leaves somebody; sometimes nobody has one.
        if (random.below(type >= 5 ? 5 : 2) != 0) continue;
        if (random.below(4) == 0) {
          for (std::size_t i = entities.size(); i > 1; --i)
            std::swap(entities[i - 1], entities[random.below(static_cast<std::uint32_t>(i))]);
        }
        for (const Entity entity : entities) put(entity, type);
      }
    }
    const std::uint32_t holes = random.below(3) == 0 ? 0 : random.below(20);
    for (std::uint32_t i = 0; i < holes && !model.empty(); ++i) {
      const Entity entity = any_living();
      random.below(3) == 0 ? destroy(entity) : toggle(entity, random.below(kTypes));
    }
    world->clear_changes();
  }
  Entity any_living() {
    for (;;) {
      const Entity entity = world->entity_at(random.below(std::max(1u, world->entity_table().index_end())));
      if (!entity.is_null()) return entity;
    }
  }
  void toggle(Entity entity, std::size_t type) {
    model[entity][type] ? take(entity, type) : put(entity, type);
  }

  // --- A loop ---

  template <class... T>
  static constexpr std::array<std::size_t, sizeof...(T)> numbers() {
    return {type_number<detail::ComponentOf<T>>()...};
  }

  void act_on(Entity entity, std::size_t leading) {
    switch (random.below(10)) {
      case 0:
        return destroy(entity);
      case 1:
        return take(entity, leading);
      case 2:
        take(entity, leading);
        return put(entity, leading);
      case 3: {
        const std::size_t type = random.below(kTypes);
        toggle(entity, type);
        return toggle(entity, type);
      }
      case 4:
        for (int i = 0; i < 3; ++i) toggle(entity, random.below(kTypes));
        return;
      case 5: {  // somebody new
        const Entity other = create();
        if (const std::size_t type = random.below(kTypes); type != leading) put(other, type);
        disturbed.insert(other);
        return;
      }
      case 6: {  // somebody else, in another pool
        const Entity other = any_living();
        const std::size_t type = random.below(kTypes);
        if (other == entity || type == leading) return;
        disturbed.insert(other);
        return toggle(other, type);
      }
      case 7:
        return world->shrink_to_fit();
      default:
        return toggle(entity, random.below(kTypes));
    }
  }

  /// A value as the loop hands it out: right, and if it may be written to, written to.
  template <class Reference>
  void check_value(Entity entity, Reference&& value) {
    using Value = std::remove_reference_t<Reference>;
    if constexpr (std::is_pointer_v<Value>) {
      constexpr std::size_t kType = type_number<std::remove_const_t<std::remove_pointer_t<Value>>>();
      ASSERT_EQ(value != nullptr, model[entity][kType].has_value());
      if (value != nullptr) check_value(entity, *value);
    } else {
      constexpr std::size_t kType = type_number<std::remove_const_t<Value>>();
      ASSERT_TRUE(model[entity][kType].has_value()) << "it has none";
      ASSERT_EQ(number_of(value), *model[entity][kType]) << "entity " << entity.index << ", type " << kType;
      if constexpr (!std::is_const_v<Value>) {
        const int number = (*model[entity][kType] + 1) % 30'000;
        value = made<Value>(number);
        model[entity][kType] = number;
        written.insert({entity, kType});
      }
    }
  }

  template <class... T, class... X, class V>
  void check_loop(detail::Types<T...>, Exclude<X...>, const V& view, std::size_t leading, bool use_each) {
    const auto belongs = [&](Entity entity) {
      const auto known = model.find(entity);
      return known != model.end() &&
             ((detail::Included<T>::kOptional || known->second[type_number<detail::ComponentOf<T>>()]) &&
              ...) &&
             !(known->second[type_number<X>()].has_value() || ...);
    };
    std::set<Entity> expected;
    for (const auto& [entity, held] : model) {
      if (belongs(entity)) expected.insert(entity);
      ASSERT_EQ(view.contains(entity), belongs(entity));
    }
    disturbed.clear();
    std::set<Entity> visited;
    // Few actions in most loops, so that there are long stretches between them.
    const std::uint32_t calm = 1 + random.below(random.below(2) == 0 ? 4 : 400);
    const auto visit = [&](Entity entity, auto&&... values) {
      if (HasFatalFailure()) return;
      ASSERT_TRUE(visited.insert(entity).second) << "entity " << entity.index << " a second time";
      ASSERT_TRUE(belongs(entity)) << "entity " << entity.index << " is not in the view";
      (check_value(entity, values), ...);
      if (random.below(calm) == 0) act_on(entity, leading);
    };
    if (use_each) {
      view.each(visit);
    } else {
      for (auto&& item : view) std::apply(visit, item);
    }
    for (const Entity entity : expected) {
      if (!disturbed.contains(entity)) {
        ASSERT_TRUE(visited.contains(entity)) << "entity " << entity.index << " was left out";
      }
    }
    for (const Entity entity : visited) {
      ASSERT_TRUE(expected.contains(entity) || disturbed.contains(entity)) << "entity " << entity.index;
    }
  }

  template <class... T, class... X>
  void try_view(Exclude<X...> excluded) {
    const auto view = world->view<T...>(excluded);
    const bool use_each = random.below(2) == 0;
    // Led by one of the required types, or by the smallest.
    constexpr auto kNumbers = numbers<T...>();
    constexpr std::array<bool, sizeof...(T)> kOptional{detail::Included<T>::kOptional...};
    const std::size_t choice = random.below(sizeof...(T) + 1);
    bool led = false;
    const auto lead = [&]<class L>() {
      if constexpr (!detail::Included<L>::kOptional) {
        using Leading = detail::ComponentOf<L>;
        led = true;
        check_loop(detail::Types<T...>{}, excluded, view.template led_by<Leading>(), type_number<Leading>(),
                   use_each);
      }
    };
    std::size_t number = 0;
    ((number++ == choice ? lead.template operator()<T>() : void()), ...);
    if (led) return;
    std::size_t smallest = kTypes;
    std::size_t size = 0;
    for (std::size_t i = 0; i < sizeof...(T); ++i) {
      if (kOptional[i]) continue;
      std::size_t own = 0;
      with_type(kNumbers[i], [&]<class C>() { own = world->storage<C>().size(); });
      if (smallest == kTypes || own < size) {
        smallest = kNumbers[i];
        size = own;
      }
    }
    check_loop(detail::Types<T...>{}, excluded, view, smallest, use_each);
  }

  void try_some_view() {
    switch (random.below(13)) {
      case 0:
        return try_view<Position>(exclude<>);
      case 1:
        return try_view<Position, Velocity>(exclude<>);
      case 2:
        return try_view<const Position, Velocity, const Health>(exclude<>);
      case 3:
        return try_view<Position, Velocity, Health, Name>(exclude<>);
      case 4:
        return try_view<Position, Velocity>(exclude<Burning>);
      case 5:
        return try_view<Name, const Health>(exclude<Burning, Frozen>);
      case 6:
        return try_view<Burning, Position>(exclude<>);
      case 7:
        return try_view<Burning>(exclude<Frozen>);
      case 8:
        return try_view<Pinned, Position>(exclude<>);
      case 9:
        return try_view<Position, Maybe<Velocity>>(exclude<>);
      case 10:
        return try_view<Name, Maybe<const Pinned>, Maybe<Health>>(exclude<Frozen>);
      case 11:
        return try_view<Pinned, Name, Position>(exclude<Velocity>);
      default:
        return try_view<Velocity, Burning, Health>(exclude<Frozen>);
    }
  }

  // --- Afterwards ---

  void compare() {
    const auto& registry = std::as_const(*world);
    ASSERT_EQ(registry.alive_count(), model.size());
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (compare_type<std::tuple_element_t<I, AllTypes>>(), ...);
    }(std::make_index_sequence<kTypes>{});
  }
  template <class T>
  void compare_type() {
    constexpr std::size_t kType = type_number<T>();
    const auto& pool = std::as_const(*world).template storage<T>();
    std::set<std::uint32_t> reported;
    pool.for_each_possibly_changed([&](std::uint32_t index, const void*) { reported.insert(index); });
    for (const auto& [entity, held] : model) {
      ASSERT_EQ(pool.contains(entity), held[kType].has_value());
      if constexpr (!kIsTag<T>) {
        if (held[kType]) {
          ASSERT_EQ(number_of(*pool.try_get(entity)), *held[kType]);
        }
        if (held[kType] && written.contains({entity, kType})) {
          ASSERT_TRUE(reported.contains(entity.index))
              << pool.name() << " of " << entity.index << " was written";
        }
      }
    }
  }

  Random random;
  std::optional<World> world;
  std::map<Entity, Held> model;
  std::set<std::pair<Entity, std::size_t>> written;  // through a reference, since the last clear_changes
  std::set<Entity> disturbed;  // whose part in the view changed before its turn, perhaps
};

// R6, R13
TEST_P(ViewModel, VisitsWhoANaiveLoopFindsOnce) {
  const char* text = std::getenv("SHOAL_VIEW_WORLDS");
  const int worlds = text != nullptr ? std::atoi(text) : 40;
  for (int number = 0; number < worlds; ++number) {
    make_world();
    for (int loop = 0; loop < 4; ++loop) {
      try_some_view();
      ASSERT_FALSE(HasFatalFailure()) << "world " << number << ", loop " << loop << " of seed " << GetParam();
      compare();
      ASSERT_FALSE(HasFatalFailure())
          << "after world " << number << ", loop " << loop << " of seed " << GetParam();
      if (random.below(2) == 0) {
        world->clear_changes();
        written.clear();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ViewModel, testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace shoal::test
