#include "shared/ecs/memory_run.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "shared/base/assert.hpp"

// The sanitizers see every access beyond the end of a block of the heap, and none beyond the end of what is used of a
// page.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHOAL_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SHOAL_SANITIZED 1
#endif
#endif
#if defined(__linux__) && !defined(SHOAL_SANITIZED)
#define SHOAL_PAGES_OF_ITS_OWN 1
#include <sys/mman.h>
#else
#define SHOAL_PAGES_OF_ITS_OWN 0
#endif

namespace shoal {
namespace {

constexpr std::size_t kPageBytes = 4096;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

bool has_pages(std::size_t bytes) {
  return SHOAL_PAGES_OF_ITS_OWN != 0 && bytes >= MemoryRun::kLargeBytes;
}

#if SHOAL_PAGES_OF_ITS_OWN
// All pages of a part at once: one call for what would be a fault for each of them. Kernels before 5.14 refuse; then
// the faults do it.
void populate(std::byte* data, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  static_cast<void>(madvise(data, bytes, MADV_POPULATE_WRITE));
#else
  static_cast<void>(data), static_cast<void>(bytes);
#endif
}

std::byte* checked(void* pages) {
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(pages);
}
std::byte* map_pages(std::size_t bytes) {
  return checked(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
}
std::byte* remap_pages(std::byte* data, std::size_t before, std::size_t bytes) {
  std::byte* moved = checked(mremap(data, before, bytes, MREMAP_MAYMOVE));
  if (bytes > before) populate(moved + before, bytes - before);
  return moved;
}
void unmap_pages(std::byte* data, std::size_t bytes) {
  munmap(data, bytes);
}
#else
std::byte* map_pages(std::size_t) {
  return nullptr;
}
std::byte* remap_pages(std::byte*, std::size_t, std::size_t) {
  return nullptr;
}
void unmap_pages(std::byte*, std::size_t) {}
#endif

}  // namespace

MemoryRun::MemoryRun(std::size_t alignment) : alignment_(std::max(alignment, kLeastAlignment)) {
  SHOAL_ASSERT(alignment <= kPageBytes, "values with an alignment of more than 4096 bytes");
}

std::size_t MemoryRun::grown(std::size_t bytes, std::size_t least) {
  return std::max({least, kLeastAlignment, bytes + (has_pages(bytes) ? bytes / 10 : bytes / 2)});
}

void MemoryRun::resize(std::size_t bytes, std::size_t used) {
  bytes = rounded_up(bytes, has_pages(bytes) ? kPageBytes : kLeastAlignment);
  if (bytes == bytes_) return;
  if (has_pages(bytes) && has_pages(bytes_)) {
    data_ = remap_pages(data_, bytes_, bytes);
    bytes_ = bytes;
    return;
  }
  std::byte* data = nullptr;
  if (has_pages(bytes)) {
    data = map_pages(bytes);
  } else if (bytes > 0) {
    data = static_cast<std::byte*>(::operator new(bytes, std::align_val_t{alignment_}));
  }
  if (used > 0) std::memcpy(data, data_, used);
  free_memory();
  data_ = data;
  bytes_ = bytes;
}

void MemoryRun::free_memory() {
  if (has_pages(bytes_)) {
    unmap_pages(data_, bytes_);
  } else if (data_ != nullptr) {
    ::operator delete(data_, std::align_val_t{alignment_});
  }
}

}  // namespace shoal
