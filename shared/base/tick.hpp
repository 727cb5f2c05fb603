// The tick: the only time that the game knows. 32 bits, about 4.5 years at 30 Hz, yet compared wrap-safe, so
// that neither the start at 0 nor the wrap is a special case for anyone.
#pragma once

#include <cstdint>

namespace shoal {

/// Ordered modulo 2^32: of two ticks less than 2^31 apart, the later one is greater. Because of that the
/// order is not transitive over longer distances; never sort a set that spans more.
struct Tick {
  std::uint32_t value = 0;

  friend constexpr bool operator==(Tick, Tick) = default;
  friend constexpr Tick operator+(Tick tick, std::uint32_t ticks) { return {tick.value + ticks}; }
  friend constexpr Tick operator-(Tick tick, std::uint32_t ticks) { return {tick.value - ticks}; }
  constexpr Tick& operator++() {
    ++value;
    return *this;
  }
};

/// Ticks from `earlier` to `later`; negative when `later` is the earlier one.
constexpr std::int32_t ticks_between(Tick earlier, Tick later) {
  return static_cast<std::int32_t>(later.value - earlier.value);
}
constexpr bool operator<(Tick a, Tick b) {
  return ticks_between(a, b) > 0;
}
constexpr bool operator>(Tick a, Tick b) {
  return b < a;
}
constexpr bool operator<=(Tick a, Tick b) {
  return !(b < a);
}
constexpr bool operator>=(Tick a, Tick b) {
  return !(a < b);
}

}  // namespace shoal
