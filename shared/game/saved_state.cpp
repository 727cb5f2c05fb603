#include "shared/game/saved_state.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace shoal::demo {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers lie in memory as they do in the bytes");

constexpr std::uint32_t kVersion = 1;

struct Layout {
  std::uint32_t version;
  std::uint32_t entities;
  std::uint64_t seed;
  std::uint64_t spawned;
  float world_half_size;
  std::uint32_t zero;
};
static_assert(sizeof(Layout) == 32);

}  // namespace

std::vector<std::byte> encode_saved_state(const SavedState& state) {
  const Layout layout{kVersion,      state.config.entities,        state.config.seed,
                      state.spawned, state.config.world_half_size, 0};
  std::vector<std::byte> bytes(sizeof layout);
  std::memcpy(bytes.data(), &layout, sizeof layout);
  return bytes;
}

std::optional<SavedState> decode_saved_state(std::span<const std::byte> bytes) {
  Layout layout;
  if (bytes.size() != sizeof layout) return std::nullopt;
  std::memcpy(&layout, bytes.data(), sizeof layout);
  if (layout.version != kVersion || layout.zero != 0 || layout.entities > kMaxEntities ||
      !std::isfinite(layout.world_half_size))
    return std::nullopt;
  SavedState state;
  state.config.entities = layout.entities;
  state.config.seed = layout.seed;
  state.config.world_half_size = layout.world_half_size;
  state.spawned = layout.spawned;
  return state;
}

}  // namespace shoal::demo
