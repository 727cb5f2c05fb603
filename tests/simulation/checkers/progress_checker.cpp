#include "tests/simulation/checkers/progress_checker.hpp"

#include <fmt/core.h>

namespace shoal::simulation {

namespace {

// The mirror behind a session, if that client is still in the same session.
const Mirror* mirror_of(const Simulation& simulation, const Endpoint& peer) {
  for (const auto& actor : simulation.clients()) {
    const bool is_first_session = actor->sessions == 1 && actor->client->state() == ClientState::Connected;
    if (actor->is_at(peer)) return is_first_session ? actor->mirror() : nullptr;
  }
  return nullptr;
}

}  // namespace

void ProgressChecker::after_step(const Simulation& simulation) {
  shown_.resize(simulation.clients().size());
  for (std::size_t i = 0; i < simulation.clients().size(); ++i) {
    const Client& client = *simulation.clients()[i]->client;
    if (client.transport_counters().bad_count(BadDatagram::Malformed) > 0 ||
        client.measures().bad_frames > 0) {
      fail(fmt::format("client {}: a frame of the server is malformed", i));
    }
    const Mirror* mirror = simulation.clients()[i]->mirror();
    if (!mirror) continue;
    if (mirror->counters().mismatches > 0) fail(fmt::format("client {}: a block did not match its hash", i));
    if (mirror->counters().decode_errors > 0) fail(fmt::format("client {}: a block did not decode", i));
    Seen& seen = shown_[i];
    if (const auto world = simulation.clients()[i]->worlds; seen.world != world) seen = {world, {}};
    simulation.server().chunks().for_each([&](ChunkIndex, const Chunk& chunk) {
      const ChunkVersion* version = mirror->shown(chunk.id());
      if (!version) return;
      auto& newest = seen.shown[chunk.id().value];
      if (newest && version->tick() < *newest) {
        fail(fmt::format("client {}: chunk {} went back from {} to {}", i, chunk.id().value, newest->value,
                         version->tick().value));
      }
      newest = version->tick();
    });
  }
  if (!simulation.plan().has_liars() &&
      simulation.server().transport_counters().bad_count(BadDatagram::Malformed) > 0) {
    fail("an update of a client is malformed");
  }
  simulation.server().for_each_view([&](PlayerNumber player, const Endpoint& peer, const ClientView& view) {
    auto& baselines = baselines_[simulation.server().session_of(player)];
    view.for_each_chunk([&](ChunkIndex, ChunkId chunk, Epoch, std::optional<Tick> baseline) {
      if (!baseline) return;
      auto& newest = baselines[chunk.value];
      if (newest && *baseline < *newest) {
        fail(fmt::format("player {}: the baseline of chunk {} went back from {} to {}", player.value,
                         chunk.value, newest->value, baseline->value));
      }
      newest = baseline;
      if (const Mirror* mirror = mirror_of(simulation, peer);
          mirror && !mirror->has_version(chunk, *baseline)) {
        fail(fmt::format("player {}: the baseline {} of chunk {} was acknowledged, and is not in the mirror",
                         player.value, baseline->value, chunk.value));
      }
    });
  });
}

}  // namespace shoal::simulation
