#include "shared/ecs/write_audit.hpp"

#include <fmt/format.h>

#include <cstring>

namespace shoal {
namespace {

bool can_be_compared(const StorageBase& pool) {
  return pool.value_bytes() != 0 && pool.copyable_as_bytes();
}

}  // namespace

WriteAudit::WriteAudit(const Registry& registry) : registry_(&registry) {
  remember();
}

void WriteAudit::remember() {
  copies_.resize(registry_->component_count());
  for (std::uint16_t number = 0; number < copies_.size(); ++number) {
    const StorageBase& pool = registry_->storage({number});
    if (!can_be_compared(pool)) continue;
    Copy& copy = copies_[number];
    copy.indices.assign(pool.indices().begin(), pool.indices().end());
    copy.values.resize(pool.size() * pool.value_bytes());
    for (std::size_t at = 0; at < pool.size(); ++at)
      std::memcpy(copy.values.data() + at * pool.value_bytes(), pool.value_at(at), pool.value_bytes());
  }
}

std::vector<WriteAudit::Finding> WriteAudit::findings() const {
  std::vector<Finding> found;
  for (std::uint16_t number = 0; number < copies_.size(); ++number) {
    const StorageBase& pool = registry_->storage({number});
    const Copy& copy = copies_[number];
    Finding finding{{number}, std::string(pool.name()), 0, kNullEntity};
    for (std::size_t i = 0; i < copy.indices.size(); ++i) {
      // Who has died since, or came back in another life, is dirty or not there.
      const void* value = pool.find(copy.indices[i]);
      const Entity entity = registry_->entity_at(copy.indices[i]);
      if (value == nullptr || pool.is_dirty(entity)) continue;
      if (std::memcmp(value, copy.values.data() + i * pool.value_bytes(), pool.value_bytes()) == 0) continue;
      if (finding.values++ == 0) finding.first = entity;
    }
    if (finding.values > 0) found.push_back(std::move(finding));
  }
  return found;
}

std::string WriteAudit::report() const {
  std::string text;
  for (const Finding& finding : findings()) {
    text +=
        fmt::format("{}: {} values written without a signal, first entity {}:{}; use patch() or replace()\n",
                    finding.component, finding.values, finding.first.index, finding.first.generation);
  }
  return text;
}

}  // namespace shoal
