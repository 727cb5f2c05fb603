#include "shared/ecs/systems.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/assert.hpp"

namespace shoal {

void Systems::add_function(std::string name, Function function) {
  for (const System& system : systems_) {
    if (system.name != name) continue;
    assertion_failed("unique name", fmt::format("two systems have the name \"{}\"", name).c_str(), __FILE__,
                     __LINE__);
  }
  systems_.push_back({.name = std::move(name), .function = std::move(function)});
}

void Systems::run(Registry& registry, Tick tick) {
  for (System& system : systems_) {
    const Time start = clock_ != nullptr ? clock_->now() : Time{};
    system.function(registry, tick, commands_);
    const CommandBuffer::Applied applied = commands_.apply(registry);
    ++system.runs;
    system.commands_done += applied.done;
    system.commands_skipped += applied.skipped;
    if (clock_ == nullptr) continue;
    system.last = clock_->now() - start;
    system.longest = std::max(system.longest, system.last);
    system.total += system.last;
  }
}

}  // namespace shoal
