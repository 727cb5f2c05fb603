// Counts what the systems allocate. The counter replaces the global operators of this test program; in all
// other tests it only counts.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/unit/game/game_world.hpp"

namespace {

std::atomic<std::size_t> allocations{0};

// Not inlined: the compiler would pair the malloc inside with the delete of its caller and warn.
[[gnu::noinline]] void* counted_allocation(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory =
      alignment > alignof(std::max_align_t) ? std::aligned_alloc(alignment, rounded) : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

[[gnu::noinline]] void release(void* memory) {
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted_allocation(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted_allocation(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

namespace shoal::demo {
namespace {

TEST(GameAllocations, SystemsAllocateNothingInSteadyState) {
  GameWorld world({.entities = 1000});
  const Entity player = spawn_player(world.registry, PlayerNumber{0}, world.tick);
  const auto play = [&](int ticks) {
    for (int i = 0; i < ticks; ++i) {
      apply_input(world.registry, player, {.move_x = i % 60 < 30 ? 1.0f : -1.0f, .fire = true});
      world.run();
    }
  };
  play(3000);  // every pool and list has seen its largest crowd
  const std::size_t before = allocations;
  play(600);
  EXPECT_EQ(allocations - before, 0u);
}

}  // namespace
}  // namespace shoal::demo
