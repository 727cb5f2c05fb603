#include "tests/simulation/checkers/progress_checker.hpp"

#include <fmt/core.h>

namespace shoal::simulation {

void ProgressChecker::after_step(const Simulation& simulation) {
  shown_.resize(simulation.clients().size());
  const auto chunk_count = static_cast<std::uint32_t>(simulation.server().chunks().size());
  for (std::size_t i = 0; i < simulation.clients().size(); ++i) {
    const Mirror* mirror = simulation.clients()[i]->client->mirror();
    if (!mirror) continue;
    if (mirror->counters().mismatches > 0) fail(fmt::format("client {}: a block did not match its hash", i));
    if (mirror->counters().decode_errors > 0) fail(fmt::format("client {}: a block did not decode", i));
    Seen& seen = shown_[i];
    if (seen.mirror != mirror) seen = {mirror, {}};
    seen.shown.resize(chunk_count);
    for (std::uint32_t chunk = 0; chunk < chunk_count; ++chunk) {
      const ChunkVersion* version = mirror->shown(ChunkId{chunk});
      if (!version) continue;
      auto& newest = seen.shown[chunk];
      if (newest && version->tick() < *newest) {
        fail(fmt::format("client {}: chunk {} went back from {} to {}", i, chunk, newest->value,
                         version->tick().value));
      }
      newest = version->tick();
    }
  }
  simulation.server().for_each_view([&](PlayerNumber player, const ClientView& view) {
    auto& baselines = baselines_[player.value];
    baselines.resize(chunk_count);
    for (std::uint32_t chunk = 0; chunk < chunk_count; ++chunk) {
      const auto baseline = view.baseline(ChunkId{chunk});
      if (!baseline) continue;
      if (baselines[chunk] && *baseline < *baselines[chunk]) {
        fail(fmt::format("player {}: the baseline of chunk {} went back from {} to {}", player.value, chunk,
                         baselines[chunk]->value, baseline->value));
      }
      baselines[chunk] = baseline;
    }
  });
}

}  // namespace shoal::simulation
