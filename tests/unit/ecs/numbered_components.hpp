// Components as numbers, for tests that treat all types alike: each value is made from one number and tells it again.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {

struct Frozen {};  // a second tag

// Each component holds one number; that of a tag is 0.
template <class T>
T made(int number);
template <>
inline Position made(int number) {
  return {static_cast<float>(number), static_cast<float>(-number)};
}
template <>
inline Velocity made(int number) {
  return {static_cast<float>(number), 0};
}
template <>
inline Health made(int number) {
  return {static_cast<std::uint16_t>(number), static_cast<std::uint16_t>(number)};
}
template <>
inline Name made(int number) {
  return {std::to_string(number) + std::string(20, '.')};
}
template <>
inline Pinned made(int number) {
  return {number, std::to_string(number) + std::string(20, '!')};
}
inline int number_of(const Position& position) {
  EXPECT_EQ(position.y, -position.x);
  return static_cast<int>(position.x);
}
inline int number_of(const Velocity& velocity) {
  return static_cast<int>(velocity.dx);
}
inline int number_of(const Health& health) {
  EXPECT_EQ(health.current, health.maximum);
  return health.current;
}
inline int number_of(const Name& name) {
  return std::atoi(name.text.c_str());
}
inline int number_of(const Pinned& pinned) {
  EXPECT_EQ(pinned.number, std::atoi(pinned.text.c_str()));
  return pinned.number;
}

using AllTypes = std::tuple<Position, Velocity, Health, Name, Pinned, Burning, Frozen>;
constexpr std::size_t kTypes = std::tuple_size_v<AllTypes>;
template <class T, std::size_t I = 0>
constexpr std::size_t type_number() {
  if constexpr (std::is_same_v<T, std::tuple_element_t<I, AllTypes>>) {
    return I;
  } else {
    return type_number<T, I + 1>();
  }
}

/// act.template operator()<T>() for the type of this number.
template <class F>
void with_type(std::size_t type, F act) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((I == type ? act.template operator()<std::tuple_element_t<I, AllTypes>>() : void()), ...);
  }(std::make_index_sequence<kTypes>{});
}
/// Those that a World does not register by itself.
inline void register_the_rest(Registry& registry) {
  registry.register_component<Pinned>("test.Pinned");
  registry.register_component<Frozen>("test.Frozen");
}

}  // namespace shoal::test
