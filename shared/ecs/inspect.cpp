#include "shared/ecs/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace shoal {
namespace {

constexpr std::size_t kShownBytes = 32;

std::string hexadecimal(const void* value, std::size_t bytes) {
  const auto* first = static_cast<const unsigned char*>(value);
  std::string text;
  for (std::size_t i = 0; i < std::min(bytes, kShownBytes); ++i) {
    fmt::format_to(std::back_inserter(text), "{}{:02x}", i == 0 ? "" : " ", first[i]);
  }
  if (bytes > kShownBytes) text += fmt::format(" and {} more", bytes - kShownBytes);
  return text;
}

std::string text_of(const StorageBase& pool, const void* value, const ValuePrinter& print) {
  if (print) {
    if (std::optional<std::string> text = print(pool, value)) return *std::move(text);
  }
  return pool.copyable_as_bytes() ? hexadecimal(value, pool.value_bytes()) : "not copyable as bytes";
}

std::vector<const StorageBase*> pools_of(const Registry& registry) {
  std::vector<const StorageBase*> pools;
  for (std::size_t type = 0; type < registry.component_count(); ++type) {
    pools.push_back(&registry.storage(ComponentType{static_cast<std::uint16_t>(type)}));
  }
  return pools;
}

const char* state_of(const Registry& registry, Entity entity) {
  if (!registry.alive(entity)) return "dead (or never alive)";
  return registry.dying(entity) ? "dying" : "alive";
}

}  // namespace

std::string dump(const Registry& registry, Entity entity, const ValuePrinter& print) {
  if (entity.is_null()) return "the null entity\n";
  std::string lines;
  std::vector<const StorageBase*> pools = pools_of(registry);
  std::erase_if(pools, [&](const StorageBase* pool) { return !registry.has(entity, pool->type()); });
  std::size_t bytes = 0;
  std::size_t width = 0;
  for (const StorageBase* pool : pools) {
    bytes += pool->value_bytes();
    width = std::max(width, pool->name().size());
  }
  for (const StorageBase* pool : pools) {
    const void* value = pool->find(entity.index);
    lines += value == nullptr ? fmt::format("  {:<{}}  tag\n", pool->name(), width)
                              : fmt::format("  {:<{}}  {} bytes: {}\n", pool->name(), width,
                                            pool->value_bytes(), text_of(*pool, value, print));
  }
  const std::string id =
      fmt::format("entity {}:{} {}", entity.index, entity.generation, state_of(registry, entity));
  if (!registry.alive(entity)) return id + "\n";
  return fmt::format("{}, {} component{}, {} bytes of values\n{}", id, pools.size(),
                     pools.size() == 1 ? "" : "s", bytes, lines);
}

std::vector<PoolStatistics> pool_statistics(const Registry& registry) {
  std::vector<PoolStatistics> all;
  for (const StorageBase* pool : pools_of(registry)) {
    PoolStatistics& statistics = all.emplace_back(PoolStatistics{.type = pool->type(),
                                                                 .name = pool->name(),
                                                                 .size = pool->size(),
                                                                 .capacity = pool->capacity(),
                                                                 .value_bytes = pool->value_bytes(),
                                                                 .memory_bytes = pool->memory_bytes()});
    pool->for_each_dirty([&](std::uint32_t, const void*) { ++statistics.dirty; });
  }
  return all;
}

std::string statistics_table(const Registry& registry) {
  const std::vector<PoolStatistics> all = pool_statistics(registry);
  std::size_t width = std::string_view("component").size();
  for (const PoolStatistics& pool : all) width = std::max(width, pool.name.size());
  std::string table = fmt::format("{:<{}} {:>6} {:>9} {:>9} {:>12} {:>13} {:>9}\n", "component", width,
                                  "number", "size", "capacity", "value bytes", "memory bytes", "dirty");
  for (const PoolStatistics& pool : all) {
    table += fmt::format("{:<{}} {:>6} {:>9} {:>9} {:>12} {:>13} {:>9}\n", pool.name, width, pool.type.value,
                         pool.size, pool.capacity, pool.value_bytes, pool.memory_bytes, pool.dirty);
  }
  return table + fmt::format("{} of at most {} entities, {} bytes with the table of entities\n",
                             registry.alive_count(), registry.max_entities(), registry.memory_bytes());
}

}  // namespace shoal
