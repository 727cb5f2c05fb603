// Takes one sheep from the registry through its quantised columns and back, with what the package installed.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "farm.hpp"
#include "schema/protocol_generated.h"
#include "schemas/farm_descriptors.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/replication/component_table.hpp"

int main() {
  shoal::Registry registry;
  farm::register_components(registry);
  registry.freeze();

  const shoal::Entity shepherd = registry.create();
  const shoal::Entity entity = registry.create();
  registry.emplace<farm::Asleep>(entity);
  registry.emplace<farm::Sheep>(entity, farm::Sheep{.x = 12.5f, .y = 80.2f, .wool = 9, .shepherd = shepherd});
  for (int i = 0; i < 5; ++i) registry.patch<farm::Sheep>(entity, farm::graze);

  const shoal::ComponentTable table(farm::component_descriptors());
  const auto sheep = table.find(
      registry.storage(*registry.find_component(farm::component_descriptors()[1].wire_id)).wire_id());
  if (!sheep) return 1;
  std::vector<std::uint32_t> columns(table[*sheep].column_count);
  table.quantise(*sheep, &registry.get<farm::Sheep>(entity), columns.data());
  farm::Sheep mirrored;
  table.dequantise(*sheep, columns.data(), &mirrored);

  std::printf("%s: x %.1f, y %.1f, wool %d, shepherd %s\n", table[*sheep].name.c_str(),
              static_cast<double>(mirrored.x), static_cast<double>(mirrored.y), mirrored.wool,
              mirrored.shepherd == shepherd ? "known" : "lost");
}
