// What a game uses to talk to its clients beside the world: the router, who is who, and events that only those get
// who see the entity. The server is one; a game gets it in Game::register_messages and Game::after_tick. How to declare,
// send and handle: docs/messages.md.
//
// 1. An event about an entity goes to those alone whose views contain the chunk in which it is bound: one filter for
//    values, removals and events.
// 2. It names the version of that chunk, so that a client can wait for the state of which it speaks. A chunk that did not
//    change keeps its older version, and that is the one to wait for.
// Threads: the tick's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "shared/base/result.hpp"
#include "shared/ecs/entity.hpp"
#include "shared/net/ids.hpp"
#include "shared/net/message_router.hpp"
#include "shared/replication/ids.hpp"

namespace shoal {

/// Counts the players of a server's life from 1; never given to another one. Who comes back in time has its own again.
struct PlayerNumber {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(PlayerNumber, PlayerNumber) = default;
};

/// What a client may have others told: in a second, and at once after a rest.
inline constexpr std::uint32_t kRelaysPerSecond = 5;
inline constexpr std::uint32_t kRelaysAtOnce = 10;

enum class EventError : std::uint8_t {
  NotSeen,    // the session does not see the entity, or there is no such session or entity
  TooLarge,   // as QueueError::TooLarge
  QueueFull,  // as QueueError::QueueFull: counted in ServerCounters::events_refused
};

class GameMessages {
 public:
  virtual ~GameMessages() = default;

  /// Handlers run while the server polls, between two ticks, and as long as it is frozen: see Server::poll().
  virtual MessageRouter& messages() = 0;

  // Who is who. O(sessions), but for what takes a SessionId.
  /// Null when that player has no session.
  virtual SessionId session_of(PlayerNumber number) const = 0;
  /// Of the session whose inputs steer the entity; null when there is none.
  virtual SessionId session_of(Entity player) const = 0;
  /// None when the session ended.
  virtual std::optional<PlayerNumber> player_of(SessionId session) const = 0;
  /// Null when the session ended, when its player has not been spawned yet, or only watches.
  virtual Entity entity_of(SessionId session) const = 0;
  /// To be asked by a handler before it sends others what this client says: else one client fills the queues of all. False:
  /// it has said enough for now (kRelaysPerSecond), drop it; counted in ServerCounters::relays_refused. True takes one.
  virtual bool may_relay(SessionId session) = 0;
  /// f(SessionId) for each session. It may send, and must not close sessions.
  template <class F>
  void for_each_session(F f) const {
    for (std::uint32_t slot = 0; slot < session_slots(); ++slot) {
      if (const SessionId session = session_at(slot); !session.is_null()) f(session);
    }
  }

  /// Whether the session's view contains the entity, by any of its audiences. As of the end of the last tick; in
  /// Game::after_tick, of this one.
  bool sees(SessionId session, Entity entity) const { return seen_version(session, entity).has_value(); }

  /// An event for one session. build(Builder&) returns the Offset of a Table.
  template <class Table, class F>
  Result<std::uint32_t, EventError> send_event(SessionId session, MessageChannel channel, Entity entity,
                                               F build) {
    const std::optional<Tick> version = seen_version(session, entity);
    if (!version) return Failure{EventError::NotSeen};
    const auto bytes = messages().template encode_event<Table>(entity.bits(), *version, std::move(build));
    return queue_event(session, channel, bytes);
  }
  /// An event for all who see the entity. Returns for how many it was queued. O(sessions); build is called at most once
  /// for each audience.
  template <class Table, class F>
  std::size_t send_event_to_all(MessageChannel channel, Entity entity, F build) {
    std::size_t count = 0;
    for (unsigned i = 0; i < kAudiences; ++i) {
      const auto audience = static_cast<Audience>(i);
      const std::optional<Tick> version = followed_version(entity, audience);
      if (!version) continue;
      count += queue_event_for_viewers(
          entity, audience, channel, messages().template encode_event<Table>(entity.bits(), *version, build));
    }
    return count;
  }

 protected:
  virtual std::uint32_t session_slots() const = 0;
  virtual SessionId session_at(std::uint32_t slot) const = 0;
  /// Of the first audience by which the session sees the entity.
  virtual std::optional<Tick> seen_version(SessionId session, Entity entity) const = 0;
  /// None when it is not bound for that audience, or nobody follows the chunk.
  virtual std::optional<Tick> followed_version(Entity entity, Audience audience) const = 0;
  virtual Result<std::uint32_t, EventError> queue_event(SessionId session, MessageChannel channel,
                                                        std::span<const std::byte> bytes) = 0;
  /// For those who see the entity by that audience first.
  virtual std::size_t queue_event_for_viewers(Entity entity, Audience audience, MessageChannel channel,
                                              std::span<const std::byte> bytes) = 0;
};

}  // namespace shoal
