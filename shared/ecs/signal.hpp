// Signals: who wants to hear of an event of one component type. Listeners are called in the order in which
// they connected.
//
// Thread rule: one thread.
// Invariants:
// 1. Connecting and disconnecting during a dispatch is safe, also of the listener that runs. A listener
//    that was disconnected is not called any more; one that was connected hears the next event first.
// 2. A listener never moves in memory while it may run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "shared/base/assert.hpp"
#include "shared/ecs/entity.hpp"
#include "shared/ecs/memory_run.hpp"

namespace shoal {

class Registry;
class Signal;

/// Names one connection of one signal. 0: none.
struct ListenerId {
  std::uint64_t value = 0;
  friend constexpr bool operator==(ListenerId, ListenerId) = default;
};

/// Disconnects at its end. May outlive the signal.
class [[nodiscard]] ScopedConnection {
 public:
  ScopedConnection() = default;
  ScopedConnection(std::weak_ptr<Signal*> signal, ListenerId id) : signal_(std::move(signal)), id_(id) {}
  ScopedConnection(ScopedConnection&& other) noexcept { *this = std::move(other); }
  ScopedConnection& operator=(ScopedConnection&& other) noexcept {
    if (this != &other) {
      disconnect();
      signal_ = std::move(other.signal_);
      id_ = std::exchange(other.id_, {});
    }
    return *this;
  }
  ~ScopedConnection() { disconnect(); }

  void disconnect();

 private:
  std::weak_ptr<Signal*> signal_;
  ListenerId id_;
};

class Signal {
 public:
  Signal() = default;
  ~Signal();
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  /// listener(Registry&, Entity): a function or a function object, which is moved in.
  template <class F>
  ListenerId connect(F listener) {
    static_assert(std::is_invocable_v<F&, Registry&, Entity>, "a listener takes (Registry&, Entity)");
    // Of what can be empty: pointers, std::function.
    if constexpr (std::is_pointer_v<F> || std::is_constructible_v<F, std::nullptr_t>)
      SHOAL_ASSERT(static_cast<bool>(listener), "connect of an empty function");
    return add({.call = [](void* object, Registry& registry,
                           Entity entity) { (*static_cast<F*>(object))(registry, entity); },
                .end = [](void* object) { delete static_cast<F*>(object); },
                .object = new F(std::move(listener)),
                .id = {}});
  }
  template <class F>
  ScopedConnection connect_scoped(F listener) {
    return scoped(connect(std::move(listener)));
  }
  /// False if there is no such connection (any more). Linear in the listeners.
  bool disconnect(ListenerId id);

  bool empty() const { return entries_.empty(); }
  bool dispatching() const { return depth_ != 0; }

  /// Calls the listeners one after the other; the second and every later one only if `goes_on()` holds.
  template <class Predicate>
  void publish_while(Registry& registry, Entity entity, Predicate goes_on) {
    const std::size_t count = entries_.size();  // those who connect during this event hear the next one
    if (count == 0) return;
    const Dispatch dispatch(*this);
    for (std::size_t i = 0;;) {
      // Copies: the list may grow meanwhile.
      const auto call = entries_[i].call;
      void* const object = entries_[i].object;
      if (entries_[i].id.value != 0) call(object, registry, entity);
      if (++i == count || !goes_on()) return;
    }
  }

 private:
  struct Entry {
    void (*call)(void* object, Registry& registry, Entity entity);
    void (*end)(void* object);
    void* object;
    ListenerId id;  // 0: disconnected, to be dropped when no dispatch runs
  };
  // Counts the dispatches that run, one inside the other, and sweeps after the outermost.
  struct Dispatch {
    explicit Dispatch(Signal& dispatched) : signal(dispatched) { ++signal.depth_; }
    ~Dispatch() {
      if (--signal.depth_ == 0 && signal.entries_.size() != signal.connected_) signal.sweep();
    }
    Signal& signal;
  };
  ListenerId add(Entry entry);
  ScopedConnection scoped(ListenerId id);
  void sweep();

  PlainList<Entry> entries_;
  std::size_t connected_ = 0;
  std::uint32_t depth_ = 0;
  std::uint64_t last_id_ = 0;
  std::shared_ptr<Signal*> anchor_;  // made for the first scoped connection, so that it may outlive us
};

}  // namespace shoal
