// What a game gives to the server. The server ticks, replicates and talks to clients; the game says what the
// world is made of and how it goes on. shared/game is the demo, server/demo/demo_game.hpp its adapter: a user
// replaces both by a folder of their own.
//
// All calls come from the tick's thread. In one tick the order is: players who left, players who joined,
// inputs, systems; then changes are taken over, after_tick, and all is sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/game_messages.hpp"
#include "shared/base/tick.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/ecs/schedule.hpp"
#include "shared/image/image.hpp"
#include "shared/net/reasons.hpp"
#include "shared/wire/component_descriptor.hpp"

namespace shoal {

class Game {
 public:
  virtual ~Game() = default;

  /// The replicated components: the generated component_descriptors().
  virtual std::span<const ComponentDescriptor> components() const = 0;
  /// Registers all component types, replicated ones by the generated register_components(). The server
  /// freezes then.
  virtual void register_components(Registry& registry) = 0;
  /// Adds the systems of a tick. Their order, their stages and who may run beside whom: shared/ecs/schedule.hpp.
  virtual void register_systems(Schedule& schedule) = 0;
  /// Makes the world. Called once, before the first tick.
  virtual void start(Registry& registry) = 0;

  /// A player joined: returns the entity that its inputs steer, or null when the world is full (it then
  /// watches).
  virtual Entity spawn_player(Registry& registry, PlayerNumber number, Tick tick) = 0;
  /// One input as the client wrote it. Returns false when the bytes are no input of this game; that is
  /// counted.
  virtual bool apply_input(Registry& registry, Entity player, Tick tick,
                           std::span<const std::byte> input) = 0;
  /// The player is gone for good: it left, was sent away, or did not come back in time. The entity may be dead already.
  virtual void player_left(Registry& registry, Entity player, CloseReason reason) = 0;
  /// The player's session broke off, and its entity waits for it (ServerConfig::return_time): no inputs come. Then either
  /// player_returned or player_left follows. The entity may be dead already.
  virtual void player_absent(Registry& /*registry*/, Entity /*player*/, CloseReason /*reason*/) {}
  /// The player has a session again, in which nothing of the earlier one is left, and steers the entity as before. Also
  /// without player_absent before, when the new session began in the same tick. The entity lives.
  virtual void player_returned(Registry& /*registry*/, Entity /*player*/, Tick /*tick*/) {}

  /// The handlers of messages from clients: messages.messages().on<…>(…). Called once, before the first tick; `messages`
  /// lives as long as the server. Handlers run between two ticks: what they write into the world is of the next one, and
  /// while the server is frozen they must write nothing.
  virtual void register_messages(GameMessages& /*messages*/) {}
  /// The tick is over, what changed has its versions and everyone's view is up to date; frames have not left yet: the
  /// place to send events. The world may be read, not written. Not called while the server is frozen.
  virtual void after_tick(const Registry& /*registry*/, GameMessages& /*messages*/, Tick /*tick*/) {}

  // Saved worlds (server/saves). A game without image_types() has none and needs nothing of this. All that decides how
  // the world goes on must be in components or sections: then a restart makes no difference to it.

  /// How saves hold each component type; docs/image.md.
  virtual std::optional<ImageTypes> image_types() const { return std::nullopt; }
  /// Between two ticks: what the game knows beside the registry. Names that begin with "shoal." are the server's.
  virtual std::vector<ImageSection> save_sections(const Registry& /*registry*/) const { return {}; }
  /// `copy` is what will be saved, of the same moment. Entities that are `Local` are left out of it; a game that must
  /// have theirs again, with their handles, takes the tag away here and gives it back in resume().
  virtual void prepare_save(Registry& /*copy*/) const {}
  /// What save_sections gave. Called once, before register_systems; register_components was called by then, for registries
  /// of the saver's, and is called again for the server's. The error says in one sentence why this game cannot go on from it,
  /// and the server does not start.
  virtual std::optional<std::string> read_sections(std::span<const ImageSection> /*sections*/) {
    return std::nullopt;
  }
  /// In place of start(): the registry holds the saved entities, and the next tick is the one after `tick`. Makes what was
  /// not saved: resources, listeners, Local entities.
  virtual void resume(Registry& /*registry*/, Tick /*tick*/) {}
};

}  // namespace shoal
