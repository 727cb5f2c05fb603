// The numbers that the transports speak of, each a type of its own so that none is taken for another.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace shoal {

/// Names a session on the wire: chosen at random by the server, never 0, new for every session. Packets find
/// their session by it, so mail for an old session cannot reach a new one.
struct ConnectionId {
  std::uint64_t value = 0;

  friend constexpr auto operator<=>(ConnectionId, ConnectionId) = default;
};

/// Number of a datagram in one direction of a session, from 1; 0 is none. Never used twice within a session.
struct Sequence {
  std::uint64_t value = 0;

  friend constexpr auto operator<=>(Sequence, Sequence) = default;
};

/// Names a session inside the server: a slot and how many sessions it has held, so that an id kept by mistake
/// names nobody. Slots are dense from 0: use `index` for tables, and keep the whole id beside what lies
/// there.
struct SessionId {
  std::uint32_t index = 0xFFFFFFFFu;
  std::uint32_t generation = 0;  // 0 is null; the first session of a slot has 1

  friend constexpr auto operator<=>(SessionId, SessionId) = default;
  constexpr bool is_null() const { return generation == 0; }
};

/// "3.1": slot and generation, as the log names a session.
inline std::string to_string(SessionId id) {
  return std::to_string(id.index) + '.' + std::to_string(id.generation);
}

}  // namespace shoal

template <>
struct std::hash<shoal::SessionId> {
  std::size_t operator()(shoal::SessionId id) const noexcept {
    return std::hash<std::uint64_t>{}((std::uint64_t{id.generation} << 32) | id.index);
  }
};
