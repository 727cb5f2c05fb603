// A race planted on purpose, for the thread sanitizer's build: two systems write one pool. By what they declare they run
// one after the other, and the sanitizer has nothing to say. With SHOAL_FAULT=overlook-conflicts the schedule lets them
// run side by side, and it must report the race; a sanitizer that does not is none.
#include <atomic>
#include <cstdio>
#include <thread>

#include "shared/ecs/schedule.hpp"
#include "shared/ecs/thread_pool_executor.hpp"

using namespace shoal;

namespace {

struct Counter {
  int value = 0;
};

std::atomic<int> arrived{0};

// Both systems are inside at once, if that can be: else one thread may run them in turn, and there is no race. Relaxed,
// so that this itself orders nothing.
void meet() {
  arrived.fetch_add(1, std::memory_order_relaxed);
  for (int i = 0; i < 100'000 && arrived.load(std::memory_order_relaxed) < 2; ++i) std::this_thread::yield();
}

}  // namespace

int main() {
  Registry world;
  world.register_component<Counter>("race.Counter");
  world.freeze();
  const Entity entity = world.create();
  world.emplace<Counter>(entity);

  ThreadPoolExecutor threads(2);
  Schedule schedule;
  schedule.set_executor(&threads);
  const auto add = [entity](Pool<Counter> counters) {
    meet();
    ++counters.get(entity).value;
  };
  schedule.add("one", add);
  schedule.add("other", add);
  schedule.run(world, Tick{1});
  std::printf("%d in %zu stages\n", world.get<const Counter>(entity).value, schedule.stage_count());
}
