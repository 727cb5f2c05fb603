// The command buffer: structural changes that a loop must not make, recorded now and made by `apply`, in the
// order of recording. What was recorded may have lost its object by then (two systems killed the same one):
// such a command is skipped and counted, never an error.
//
// Thread rule: one thread per buffer. Parallel pieces record into one buffer each, applied in the order of
// the pieces. Invariants:
// 1. A temporary handle (generation 0) means what its `create` made, within the buffer that gave it, until
// apply.
// 2. Values are made when they are recorded and never move until they are applied or discarded.
// 3. In steady state nothing is allocated: memory is kept over apply and clear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/ecs/registry.hpp"

namespace shoal {

template <class T>
class EventQueue;

class CommandBuffer {
 public:
  struct Applied {
    std::size_t done = 0;
    std::size_t skipped = 0;  // the entity was dead, had not what was to be replaced, or could not be created
  };

  CommandBuffer() = default;
  CommandBuffer(const CommandBuffer&) = delete;
  CommandBuffer& operator=(const CommandBuffer&) = delete;
  ~CommandBuffer() { clear(); }

  /// A temporary handle, good for this buffer only. Do not put it into a component: it is not replaced there;
  /// see `created`.
  Entity create();
  void destroy(Entity entity) { record(kDestroy, entity, nullptr); }
  /// When applied, replaces if the entity has one by then.
  template <class T, class... Args>
  void emplace(Entity entity, Args&&... args) {
    record(kEmplace<T>, entity, make<T>(std::forward<Args>(args)...));
  }
  template <class T, class... Args>
  void replace(Entity entity, Args&&... args) {
    record(kReplace<T>, entity, make<T>(std::forward<Args>(args)...));
  }
  template <class T>
  void remove(Entity entity) {
    record(kRemove<T>, entity, nullptr);
  }

  /// A value that was changed and marked already, while no signal could be delivered: on_update fires when this is
  /// applied. The pool is of the registry that this is applied to.
  void updated(StorageBase& pool, Entity entity) { record(kUpdated, entity, &pool); }
  /// Pushed into the registry's EventQueue<T> (shared/ecs/events.hpp) when applied; skipped if it has none.
  template <class T, class... Args>
  void push_event(Args&&... args) {
    record(kPushEvent<T>, kNullEntity, make<T>(std::forward<Args>(args)...));
  }

  /// Makes the recorded changes, with signals, and leaves the buffer empty. What signals record into this
  /// buffer meanwhile is applied too, after the rest.
  Applied apply(Registry& registry);
  /// Forgets what was recorded.
  void clear();

  std::size_t size() const { return commands_.size(); }
  bool empty() const { return commands_.empty(); }
  /// What the `create`s of the last apply made, in their order; null where the limit was reached.
  std::span<const Entity> created() const { return created_; }

 private:
  // One per kind of command and type, found through the command: no table, no branch on a kind.
  struct Operation {
    /// False: skipped. `entity` is alive.
    bool (*apply)(Registry& registry, Entity entity, void* value) = nullptr;
    void (*discard)(void* value) = nullptr;
    bool has_entity = true;
  };
  struct Command {
    const Operation* operation;
    Entity entity;
    void* value;
  };

  static const Operation kCreate;
  static const Operation kDestroy;
  static const Operation kUpdated;
  template <class T>
  static void discard(void* value) {
    if constexpr (!std::is_trivially_destructible_v<T>) std::destroy_at(static_cast<T*>(value));
  }
  template <class T>
  static constexpr Operation kEmplace{[](Registry& registry, Entity entity, void* value) {
                                        if (registry.dying(entity)) return false;
                                        if constexpr (kIsTag<T>) {
                                          registry.emplace_or_replace<T>(entity);
                                        } else {
                                          registry.emplace_or_replace<T>(entity,
                                                                         std::move(*static_cast<T*>(value)));
                                        }
                                        return true;
                                      },
                                      &discard<T>};
  template <class T>
  static constexpr Operation kReplace{[](Registry& registry, Entity entity, void* value) {
                                        if (!registry.all_of<T>(entity)) return false;
                                        if constexpr (kIsTag<T>) {
                                          registry.replace<T>(entity);
                                        } else {
                                          registry.replace<T>(entity, std::move(*static_cast<T*>(value)));
                                        }
                                        return true;
                                      },
                                      &discard<T>};
  template <class T>
  static constexpr Operation kRemove{
      [](Registry& registry, Entity entity, void*) { return registry.remove<T>(entity); }, nullptr};

  template <class T>
  static constexpr Operation kPushEvent{[](Registry& registry, Entity, void* value) {
                                          static_assert(!kIsTag<T>, "an event without a value tells nothing");
                                          auto* queue = registry.resources().try_get<EventQueue<T>>();
                                          if (queue != nullptr)
                                            queue->push(std::move(*static_cast<T*>(value)));
                                          return queue != nullptr;
                                        },
                                        &discard<T>, false};

  template <class T, class... Args>
  void* make(Args&&... args) {
    if constexpr (kIsTag<T>) {
      return nullptr;
    } else {
      return ::new (allocate(sizeof(T), alignof(T))) T(detail::make_value<T>(std::forward<Args>(args)...));
    }
  }
  void record(const Operation& operation, Entity entity, void* value) {
    commands_.push_back({&operation, entity, value});
  }
  void* allocate(std::size_t bytes, std::size_t alignment);
  void reset();

  static constexpr std::size_t kBlockBytes = 16 * 1024;
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size;
  };

  std::vector<Command> commands_;
  std::vector<Block> blocks_;
  std::size_t block_ = 0;        // the one that is being filled
  std::size_t block_bytes_ = 0;  // used in it
  std::uint32_t temporaries_ = 0;
  std::vector<Entity> created_;
};

}  // namespace shoal
