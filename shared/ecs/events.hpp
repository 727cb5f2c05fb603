// Events: what happened in this tick, for systems that run later in it. `EventQueue<T>` is a typed queue, a
// resource of the registry; a one-tick component is an event that sits on an entity, found by views and heard
// by signals. `Events` is what their owner keeps beside its systems, and its `end_tick` is the one place where
// both come to an end.
//
//   events.add_queue<Damage>(world);          // once; a one-tick component: events.add_one_tick<Hit>(world)
//   queue.push({target, 10});                 // in a system
//   for (const Damage& damage : queue.read()) // in a system that was added after it
//   systems.run(world, tick);                 // each tick
//   events.end_tick(world);                   // or a last system does
//
// Thread rule: one thread; a queue is read from several while nobody pushes. Systems that run side by side push through
// their CommandBuffer.
// Invariants:
// 1. A reading is the events of this tick in the order of their pushes, the same ones from its begin to its
//    end. What is pushed while a reading is open belongs to the next tick and comes first in it, in order.
// 2. An event is of one tick only. Who reads before it was pushed misses it: the order of the systems decides,
//    so a reader is added after its writers.
// 3. end_tick empties the queues first, in the order in which they were added, then takes the one-tick
//    components away, likewise. What listeners push meanwhile is of the next tick.
// 4. Who has a one-tick component when its turn comes in end_tick loses it, with on_destroy. Who gets it
//    meanwhile keeps it through the next tick, unless it is a holder whose own turn is still to come.
// 5. In the steady state nothing is allocated.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "shared/base/assert.hpp"
#include "shared/ecs/component_type.hpp"
#include "shared/ecs/entity.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/ecs/storage.hpp"

namespace shoal {

template <class T>
class EventQueue {
 public:
  /// The events of this tick. Open until its end; a range-for keeps it for the loop. Must not outlive the
  /// queue.
  class [[nodiscard]] Reading {
   public:
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() { queue_.open_readings_.fetch_sub(1, std::memory_order_relaxed); }

    /// Of a reading that has a name: the span of a temporary one would outlive it.
    std::span<const T> events() const& { return queue_.events_; }
    std::span<const T> events() const&& = delete;
    auto begin() const { return events().begin(); }
    auto end() const { return events().end(); }
    std::size_t size() const { return events().size(); }
    bool empty() const { return events().empty(); }

   private:
    friend class EventQueue;
    explicit Reading(const EventQueue& queue) : queue_(queue) {
      queue_.open_readings_.fetch_add(1, std::memory_order_relaxed);
    }

    const EventQueue& queue_;
  };

  EventQueue() = default;
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  /// Constant time, amortised.
  void push(T event) { target().push_back(std::move(event)); }
  /// The braces and the parentheses of a value, as for components.
  template <class... Args>
  void emplace(Args&&... args) {
    target().push_back(detail::make_value<T>(std::forward<Args>(args)...));
  }
  /// Several may be open at once, one inside the other too.
  Reading read() const { return Reading(*this); }

  /// Forgets the events of this tick; what was pushed while a reading was open takes their place.
  /// REQUIRES: no reading is open.
  void end_tick() {
    SHOAL_ASSERT(open_readings_ == 0,
                 "the tick of an event queue ends while somebody reads it; end the loop first");
    events_.clear();
    events_.swap(next_);
  }

 private:
  // A span that is being read must not move.
  std::vector<T>& target() { return open_readings_ == 0 ? events_ : next_; }

  std::vector<T> events_;  // of this tick
  std::vector<T> next_;    // of the next one
  mutable std::atomic<std::uint32_t> open_readings_{0};
};

class Events {
 public:
  Events() = default;
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  /// Makes the queue as a resource of the registry. REQUIRES: it has none of this type yet.
  template <class T>
  EventQueue<T>& add_queue(Registry& registry) {
    EventQueue<T>& queue = registry.resources().emplace<EventQueue<T>>();
    // Looked up each time, since a resource may be erased before us.
    queues_.push_back([](Registry& owner) {
      if (auto* known = owner.resources().try_get<EventQueue<T>>()) known->end_tick();
    });
    return queue;
  }
  /// From now on `end_tick` takes T from everyone. REQUIRES: registered, frozen, not added yet.
  template <class T>
  void add_one_tick(Registry& registry) {
    add_one_tick(registry, registry.component_type<T>());
  }
  void add_one_tick(Registry& registry, ComponentType type);

  /// Once per tick, after the systems. Removal goes in the order of the pool, which is that of the additions
  /// as long as none was removed singly. In the change log a one-tick component comes to nothing if this is
  /// called before the log is read. Linear in the events and the holders. REQUIRES: not called by a listener
  /// that it called; the registry is the one of the additions.
  void end_tick(Registry& registry);

 private:
  void remove_from_all(Registry& registry, ComponentType type);

  std::vector<void (*)(Registry&)> queues_;
  std::vector<ComponentType> one_tick_;
  std::vector<Entity> holders_;
  bool ending_ = false;
};

}  // namespace shoal
