// What stands in the lists of a view: components, const or not, that must be there, Maybe<T> for those that may, and
// exclude<T> for those that must not.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "shared/ecs/component_type.hpp"

namespace shoal {

/// What a view must not find: view<A, B>(exclude<C>).
template <class... T>
struct Exclude {};
template <class... T>
inline constexpr Exclude<T...> exclude{};

/// What a view may find: view<A, Maybe<B>>() visits who has A, with a B* that is null for who has no B.
template <class T>
struct Maybe {};

namespace detail {

template <class... T>
struct Types {};

/// One entry of a view's list.
template <class T>
struct Included {
  using Component = T;  // with its const
  using Constant = const T;
  using Reference = T&;
  static constexpr bool kOptional = false;
};
template <class T>
struct Included<Maybe<T>> {
  static_assert(!kIsTag<std::remove_const_t<T>>, "a tag has no value to point to; use all_of()");
  using Component = T;
  using Constant = Maybe<const T>;
  using Reference = T*;
  static constexpr bool kOptional = true;
};
template <class T>
using ComponentOf = std::remove_const_t<typename Included<T>::Component>;

/// The numbers of the types that have a value.
template <class... T>
constexpr auto valued_types() {
  constexpr std::size_t count = (std::size_t{0} + ... + (kIsTag<ComponentOf<T>> ? 0 : 1));
  constexpr auto numbers = [] {
    std::array<std::size_t, count> found{};
    std::size_t next = 0;
    std::size_t number = 0;
    ((kIsTag<ComponentOf<T>> ? void() : void(found[next++] = number), ++number), ...);
    return found;
  }();
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::index_sequence<numbers[I]...>{};
  }(std::make_index_sequence<count>{});
}

}  // namespace detail

}  // namespace shoal
