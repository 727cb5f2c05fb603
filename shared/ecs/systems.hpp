// Systems: plain functions with a name, run one after the other in the order in which they were added. A
// system that wants to change structure inside its loops takes a command buffer; it is applied when that
// system ends.
//
// Thread rule: one thread. Reads no clock unless one is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/base/tick.hpp"
#include "shared/base/time.hpp"
#include "shared/ecs/command_buffer.hpp"
#include "shared/ecs/registry.hpp"

namespace shoal {

class Systems {
 public:
  using Function = std::function<void(Registry&, Tick, CommandBuffer&)>;

  struct System {
    std::string name;
    Function function;
    // Durations stay 0 without a clock.
    std::uint64_t runs = 0;
    Duration last{};
    Duration longest{};
    Duration total{};
    std::uint64_t commands_done = 0;
    std::uint64_t commands_skipped = 0;
  };

  /// With a clock, which must outlive this, each system is timed.
  explicit Systems(const Clock* clock = nullptr) : clock_(clock) {}

  /// fn(Registry&, Tick) or fn(Registry&, Tick, CommandBuffer&). REQUIRES: no system has this name.
  template <class F>
  void add(std::string name, F fn) {
    if constexpr (std::is_invocable_v<F&, Registry&, Tick, CommandBuffer&>) {
      add_function(std::move(name), std::move(fn));
    } else {
      static_assert(std::is_invocable_v<F&, Registry&, Tick>,
                    "a system takes (Registry&, Tick) or also a CommandBuffer&");
      add_function(std::move(name), [fn = std::move(fn)](Registry& registry, Tick tick,
                                                         CommandBuffer&) mutable { fn(registry, tick); });
    }
  }
  void run(Registry& registry, Tick tick);
  std::span<const System> systems() const { return systems_; }

 private:
  void add_function(std::string name, Function function);

  const Clock* clock_;
  std::vector<System> systems_;
  CommandBuffer commands_;
};

}  // namespace shoal
