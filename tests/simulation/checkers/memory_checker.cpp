#include "tests/simulation/checkers/memory_checker.hpp"

#include <fmt/core.h>

#include "shared/net/transport_limits.hpp"

namespace shoal::simulation {

void MemoryChecker::after_step(const Simulation& simulation) {
  const Server& server = simulation.server();
  server.chunks().for_each([&](ChunkIndex, const Chunk& chunk) {
    const std::int32_t age = ticks_between(chunk.current().tick(), server.tick());
    if (chunk.bound_count() == 0 && age > static_cast<std::int32_t>(kRetireTicks) + 5)
      fail(fmt::format("chunk {} has been empty for {} ticks, and is kept", chunk.id().value, age));
    if (chunk.version_count() > kHistoryTicks + kPinnedVersions + 1) {
      fail(fmt::format("chunk {} keeps {} versions", chunk.id().value, chunk.version_count()));
    }
    if (chunk.departures().size() > 4096) {
      fail(fmt::format("chunk {} keeps {} departures", chunk.id().value, chunk.departures().size()));
    }
  });
  server.for_each_view([&](PlayerNumber player, const Endpoint&, const ClientView& view) {
    if (view.in_flight() > kMaxInFlight)
      fail(fmt::format("player {} has {} datagrams in flight", player.value, view.in_flight()));
    if (view.pending_drops() > 4096)
      fail(fmt::format("player {} has not heard of {} chunks that left", player.value, view.pending_drops()));
    if (view.chunk_count() > server.chunks().size())
      fail(fmt::format("player {} receives {} chunks of {}", player.value, view.chunk_count(),
                       server.chunks().size()));
  });
  for (std::size_t i = 0; i < simulation.clients().size(); ++i) {
    const Mirror* mirror = simulation.clients()[i]->client->mirror();
    if (!mirror) continue;
    if (mirror->dropped_count() > kMaxDroppedChunks)
      fail(fmt::format("client {} remembers {} chunks that left", i, mirror->dropped_count()));
    if (mirror->version_count() > mirror->chunk_count() * kMaxMirrorVersions) {
      fail(fmt::format("client {} keeps {} versions of {} chunks", i, mirror->version_count(),
                       mirror->chunk_count()));
    }
    if (mirror->wanted().size() > mirror->chunk_count())
      fail(fmt::format("client {} wants a chunk twice", i));
  }
}

}  // namespace shoal::simulation
