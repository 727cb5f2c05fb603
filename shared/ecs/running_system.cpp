#include "shared/ecs/running_system.hpp"

#include <fmt/format.h>

#include "shared/base/assert.hpp"
#include "shared/ecs/access.hpp"
#include "shared/ecs/registry.hpp"

namespace shoal::detail {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  assertion_failed("a system keeps to what it declared", message.c_str(), __FILE__, __LINE__);
}

}  // namespace

bool component_is_declared(const RunningSystem& system, const RegistryBase& registry, std::uint32_t slot,
                           AccessMode mode) {
  if (system.registry != &registry || system.access->of(slot) >= mode) return true;
  const StorageBase* pool = registry.find_slot(slot);
  if (pool == nullptr) return true;  // the registry says more of a type that it does not have
  if (mode == AccessMode::Read) {
    refuse(
        fmt::format("the system \"{}\" reads {}, which it did not declare: take it as a parameter, or add "
                    ".reads<…>() to the system",
                    system.name, pool->name()));
  }
  refuse(fmt::format(
      "the system \"{}\" takes {} for writing, which it declared {}: add .writes<…>() to the system, or "
      "take it as const (a view of const types, get<const …>, std::as_const)",
      system.name, pool->name(),
      system.access->of(slot) == AccessMode::Read ? "as read only" : "not at all"));
}

bool resource_is_declared(const RunningSystem& system, const Resources& resources, std::uint32_t slot,
                          std::string_view type_name, AccessMode mode) {
  if (system.resources != &resources || system.access->of(slot) >= mode) return true;
  if (mode == AccessMode::Read) {
    refuse(
        fmt::format("the system \"{}\" reads the resource {}, which it did not declare: take a Read<…> as a "
                    "parameter, or add .reads_resource<…>() to the system",
                    system.name, type_name));
  }
  refuse(fmt::format(
      "the system \"{}\" takes the resource {} for writing, which it declared {}: take a Write<…> as a "
      "parameter or add .writes_resource<…>(), or read it as const (get<const …>)",
      system.name, type_name, system.access->of(slot) == AccessMode::Read ? "as read only" : "not at all"));
}

bool structure_may_change(const RunningSystem& system, const char* operation, std::string_view what) {
  refuse(fmt::format(
      "the system \"{}\" calls {}{}{} while other systems run beside it: record it in the CommandBuffer "
      "that the system gets as a parameter, or let the system take Registry& and declare nothing, then it "
      "runs alone",
      system.name, operation, what.empty() ? "" : " of ", what));
}

}  // namespace shoal::detail
