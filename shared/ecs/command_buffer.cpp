#include "shared/ecs/command_buffer.hpp"

#include <algorithm>

#include "shared/base/assert.hpp"

namespace shoal {

const CommandBuffer::Operation CommandBuffer::kCreate{};
const CommandBuffer::Operation CommandBuffer::kUpdated{[](Registry&, Entity entity, void* value) {
                                                         auto& pool = *static_cast<StorageBase*>(value);
                                                         if (!pool.contains_index(entity.index)) return false;
                                                         pool.publish_update(entity);
                                                         return true;
                                                       },
                                                       nullptr};
const CommandBuffer::Operation CommandBuffer::kDestroy{[](Registry& registry, Entity entity, void*) {
                                                         registry.destroy(entity);
                                                         return true;
                                                       },
                                                       nullptr};

Entity CommandBuffer::create() {
  const Entity temporary{temporaries_++, 0};
  record(kCreate, temporary, nullptr);
  return temporary;
}

CommandBuffer::Applied CommandBuffer::apply(Registry& registry) {
  Applied applied;
  created_.clear();
  // By number and by copy: signals may record more while this runs.
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const Command command = commands_[i];
    Entity entity = command.entity;
    bool done = false;
    if (command.operation == &kCreate) {
      created_.push_back(registry.try_create().value_or(kNullEntity));
      done = !created_.back().is_null();
    } else {
      if (entity.generation == 0 && !entity.is_null()) {
        SHOAL_ASSERT(entity.index < created_.size(), "a temporary handle of another command buffer");
        entity = created_[entity.index];
      }
      done = (!command.operation->has_entity || registry.alive(entity)) &&
             command.operation->apply(registry, entity, command.value);
    }
    if (command.operation->discard != nullptr && command.value != nullptr)
      command.operation->discard(command.value);
    (done ? applied.done : applied.skipped) += 1;
  }
  reset();
  return applied;
}

void CommandBuffer::clear() {
  for (const Command& command : commands_) {
    if (command.operation->discard != nullptr && command.value != nullptr)
      command.operation->discard(command.value);
  }
  reset();
}

void CommandBuffer::reset() {
  commands_.clear();
  block_ = 0;
  block_bytes_ = 0;
  temporaries_ = 0;
}

void* CommandBuffer::allocate(std::size_t bytes, std::size_t alignment) {
  for (; block_ < blocks_.size(); ++block_, block_bytes_ = 0) {
    void* place = blocks_[block_].bytes.get() + block_bytes_;
    std::size_t room = blocks_[block_].size - block_bytes_;
    if (std::align(alignment, bytes, place, room) == nullptr) continue;
    block_bytes_ = blocks_[block_].size - room + bytes;
    return place;
  }
  const std::size_t size = std::max(kBlockBytes, bytes + alignment);
  blocks_.push_back({std::make_unique<std::byte[]>(size), size});
  return allocate(bytes, alignment);
}

}  // namespace shoal
