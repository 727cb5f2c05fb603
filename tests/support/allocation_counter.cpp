#include "tests/support/allocation_counter.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> live{0};
thread_local std::size_t before_failure = 0;  // 0: none fails

// For those operators that may throw.
void fail_if_it_is_time() {
  if (before_failure != 0 && --before_failure == 0) throw std::bad_alloc();
}

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment < sizeof(void*) ? sizeof(void*) : alignment,
                     bytes != 0 ? bytes : 1) != 0) {
    std::abort();
  }
  live += malloc_usable_size(memory);
  return memory;
}
void given_back(void* memory) {
  if (memory != nullptr) live -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

namespace shoal::test {

std::size_t allocations_so_far() {
  return allocations.load();
}

std::size_t live_bytes() {
  return live.load();
}

ScopedAllocationFailure::ScopedAllocationFailure(std::size_t after) {
  before_failure = after + 1;
}
ScopedAllocationFailure::~ScopedAllocationFailure() {
  before_failure = 0;
}

}  // namespace shoal::test

// Not inlined: g++ would compare the free() inside with the operator new that it sees and warn.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  fail_if_it_is_time();
  return counted(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  fail_if_it_is_time();
  return counted(bytes, static_cast<std::size_t>(alignment));
}
// All forms: the library's own ones would come from another allocator than the operator delete below gives back to.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  given_back(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  given_back(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  given_back(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  given_back(memory);
}

// The sanitizers' libraries bring array forms of their own, which do not come by the ones above.
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  return operator new(bytes);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return operator new(bytes, alignment);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t alignment,
                                       const std::nothrow_t&) noexcept {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  given_back(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  given_back(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept {
  given_back(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  given_back(memory);
}

// Asio takes memory for handlers by this one, and gives it back by free().
extern "C" [[gnu::noinline]] void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  void* memory = counted(bytes, alignment);
  live -= malloc_usable_size(memory);
  return memory;
}
