// Component types as small dense numbers. `ComponentType` is the number inside one registry, in the order of
// registration; it sorts everything that must have one order. `type_slot` is how a C++ type finds its number
// without a hash: an identity of the type within this process, given when it is first registered anywhere.
//
// Thread rule: claiming a slot and reading it are safe from several threads.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace shoal {

struct ComponentType {
  std::uint16_t value = 0xFFFF;  // 0xFFFF: no type

  friend constexpr bool operator==(ComponentType, ComponentType) = default;
  friend constexpr auto operator<=>(ComponentType, ComponentType) = default;
};

/// A tag is a component without a value: it has a packed list of entities and nothing else.
template <class T>
inline constexpr bool kIsTag = std::is_empty_v<T>;

/// Say `template <> inline constexpr bool shoal::kStableAddress<T> = true;` where T is declared, and its values never
/// move while they live: pointers to them hold until the component is removed. Its loops follow a pointer for each
/// value, and it has no spans.
template <class T>
inline constexpr bool kStableAddress = false;

namespace detail {

// 0: never claimed. Constant-initialised, so the order of static constructors does not matter, and read by
// one plain load.
template <class T>
inline constinit std::atomic<std::uint32_t> type_slot_of{0};

/// "shoal::demo::Health", of static storage.
template <class T>
constexpr std::string_view type_name() {
  // "… [with T = X; …]" by g++, "… [T = X]" by clang.
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t begin = text.find("T = ") + 4;
  return text.substr(begin, text.find_first_of(";]", begin) - begin);
}

/// The next number that was never given out, from 1.
std::uint32_t next_type_slot();

/// The slot of T, claimed if it has none.
template <class T>
std::uint32_t claim_type_slot() {
  static_assert(std::is_same_v<T, std::remove_cvref_t<T>>);
  auto& slot = type_slot_of<T>;
  if (const std::uint32_t known = slot.load(std::memory_order_relaxed); known != 0) return known;
  std::uint32_t expected = 0;
  const std::uint32_t fresh = next_type_slot();
  return slot.compare_exchange_strong(expected, fresh) ? fresh : expected;
}
template <class T>
std::uint32_t type_slot() {
  return type_slot_of<T>.load(std::memory_order_relaxed);
}

}  // namespace detail
}  // namespace shoal
