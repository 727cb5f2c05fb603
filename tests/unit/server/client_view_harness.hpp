// One client's view of a small world, without sockets: what leaves in a tick, and what became of it.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "server/client_view.hpp"
#include "tests/unit/server/replicated_world.hpp"

namespace shoal::test {

/// A datagram as it left.
struct Sent {
  Sequence sequence;
  std::vector<ChosenBlock> blocks;
  std::vector<DroppedChunk> dropped;
  std::vector<ChunkId> absent;
};

inline constexpr DatagramRoom kWholeDatagram{
    .bytes = kMaxBlockBytes + 100, .per_block = 20, .per_dropped = 8, .per_absent = 4};
/// Whatever its size, one block and no second one.
inline constexpr DatagramRoom kOneBlock{.bytes = 2000, .per_block = 1000, .per_dropped = 8, .per_absent = 4};

class ClientViewHarness : public ::testing::Test {
 protected:
  explicit ClientViewHarness(const InterestConfig& config = {}, SendBudget full_state_budget = SendBudget{})
      : world(config), full_states(full_state_budget), view(world.chunks, config, counters, full_states) {}

  /// One tick of the world and of the view. Returns what left, at most so many datagrams.
  std::vector<Sent> run_tick(int most_datagrams = 1000, const DatagramRoom& room = kWholeDatagram) {
    world.end_tick();
    return send_all(view, most_datagrams, room);
  }
  std::vector<Sent> send_all(ClientView& any_view, int most_datagrams = 1000,
                             const DatagramRoom& room = kWholeDatagram) {
    std::vector<Sent> result;
    any_view.begin_tick(world.now, viewer);
    for (int i = 0; i < most_datagrams; ++i) {
      const Choice choice = any_view.choose(room);
      if (choice.empty()) break;
      result.push_back({Sequence{++sequence},
                        {choice.blocks.begin(), choice.blocks.end()},
                        {choice.dropped.begin(), choice.dropped.end()},
                        {choice.absent.begin(), choice.absent.end()}});
      any_view.sent(Sequence{sequence}, world.now);
    }
    any_view.end_tick(world.now);
    return result;
  }
  void acknowledge(const std::vector<Sent>& datagrams) {
    for (const Sent& datagram : datagrams) view.on_acknowledged(datagram.sequence);
  }
  void lose(const std::vector<Sent>& datagrams) {
    for (const Sent& datagram : datagrams) view.on_lost(datagram.sequence);
  }
  /// Runs until the client has everything.
  void settle() {
    for (int i = 0; i < 100 && (i == 0 || !view.has_everything()); ++i) acknowledge(run_tick());
    ASSERT_TRUE(view.has_everything());
  }
  /// Runs ticks until the next one is such that a version of the chunk, sent in it, becomes a baseline.
  void run_until_common_tick_of(ChunkId chunk, std::uint32_t before = 0) {
    while (((world.now.value + 1 + before + chunk.number()) & 3) != 0) acknowledge(run_tick());
  }

  Entity create_at(float x, float y) {
    const Entity entity = world.create_at(x, y);
    world.registry.emplace<demo::Health>(entity, std::uint16_t{1}, std::uint16_t{1000});
    return entity;
  }
  void change(Entity entity) {
    auto& health = world.registry.get<demo::Health>(entity);
    health.current = static_cast<std::uint16_t>(health.current % 1000 + 1);
  }
  std::optional<Tick> baseline(ChunkId chunk) const { return baseline_of(view, chunk); }
  static std::optional<Tick> baseline_of(const ClientView& any_view, ChunkId chunk) {
    std::optional<Tick> result;
    any_view.for_each_chunk([&](ChunkIndex, ChunkId id, Epoch, std::optional<Tick> baseline) {
      if (id == chunk) result = baseline;
    });
    return result;
  }
  ChunkId chunk_id(Entity entity, Audience audience = Audience::Everyone) const {
    return world.chunk_of(entity, audience).id();
  }
  static std::vector<ChosenBlock> blocks_of(const std::vector<Sent>& datagrams) {
    std::vector<ChosenBlock> result;
    for (const Sent& datagram : datagrams)
      result.insert(result.end(), datagram.blocks.begin(), datagram.blocks.end());
    return result;
  }
  static std::vector<DroppedChunk> drops_of(const std::vector<Sent>& datagrams) {
    std::vector<DroppedChunk> result;
    for (const Sent& datagram : datagrams)
      result.insert(result.end(), datagram.dropped.begin(), datagram.dropped.end());
    return result;
  }
  static bool holds(const std::vector<Sent>& datagrams, ChunkId chunk) {
    for (const ChosenBlock& block : blocks_of(datagrams)) {
      if (block.chunk == chunk) return true;
    }
    return false;
  }

  ReplicatedWorld world;
  ReplicationCounters counters;
  SendBudget full_states;
  ClientView view;
  Viewer viewer{.player = {}, .place = Place{16, 16}, .team = {}};
  std::uint64_t sequence = 0;
};

}  // namespace shoal::test
