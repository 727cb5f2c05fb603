#include "shared/ecs/registry.hpp"

namespace shoal {

Registry::Registry(RegistryLimits limits) : RegistryBase(limits) {
  register_component<Local>("shoal.Local");
}

Registry::~Registry() {
  clear();
}

}  // namespace shoal
