// Which system runs on this thread, for the rules that hold while systems run side by side: nothing structural happens
// at once, no signal is delivered, and only what was declared is touched. Empty outside the schedule and while an
// exclusive system runs, which may do anything.
//
// Thread rule: each thread has its own.
#pragma once

#include <cstdint>
#include <string_view>

namespace shoal {

class Access;
class CommandBuffer;
class RegistryBase;
class Resources;

enum class AccessMode : std::uint8_t {
  None,
  Read,   // with other readers
  Write,  // alone
};

namespace detail {

struct RunningSystem {
  std::string_view name;
  const RegistryBase* registry;
  const Resources* resources;
  const Access* access;
  CommandBuffer* commands;  // where signals wait for the stage's end
};
inline constinit thread_local const RunningSystem* running_system = nullptr;

class [[nodiscard]] RunningScope {
 public:
  explicit RunningScope(const RunningSystem& system) : before_(running_system) { running_system = &system; }
  RunningScope(const RunningScope&) = delete;
  RunningScope& operator=(const RunningScope&) = delete;
  ~RunningScope() { running_system = before_; }

 private:
  const RunningSystem* before_;
};

// For SHOAL_DEBUG_ASSERT. They answer true, or stop the program with a message that names system, component and remedy.
bool component_is_declared(const RunningSystem& system, const RegistryBase& registry, std::uint32_t slot,
                           AccessMode mode);
bool resource_is_declared(const RunningSystem& system, const Resources& resources, std::uint32_t slot,
                          std::string_view type_name, AccessMode mode);
bool structure_may_change(const RunningSystem& system, const char* operation, std::string_view what);

inline bool may_access(const RegistryBase& registry, std::uint32_t slot, AccessMode mode) {
  return running_system == nullptr || component_is_declared(*running_system, registry, slot, mode);
}
inline bool may_access(const Resources& resources, std::uint32_t slot, std::string_view type_name,
                       AccessMode mode) {
  return running_system == nullptr || resource_is_declared(*running_system, resources, slot, type_name, mode);
}
inline bool may_change(const RegistryBase& registry, const char* operation, std::string_view component = {}) {
  return running_system == nullptr || running_system->registry != &registry ||
         structure_may_change(*running_system, operation, component);
}
inline bool may_change(const Resources& resources, const char* operation, std::string_view type_name) {
  return running_system == nullptr || running_system->resources != &resources ||
         structure_may_change(*running_system, operation, type_name);
}

}  // namespace detail
}  // namespace shoal
