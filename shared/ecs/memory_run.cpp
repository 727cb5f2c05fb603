#include "shared/ecs/memory_run.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

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

struct Pages {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

// All pages of a part at once: one call for what would be a fault for each of them. Kernels before 5.14 refuse; then
// the faults do it.
void populate(std::byte* data, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  static_cast<void>(madvise(data, bytes, MADV_POPULATE_WRITE));
#else
  static_cast<void>(data), static_cast<void>(bytes);
#endif
}

Pages checked(void* data, std::size_t bytes) {
  if (data == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<std::byte*>(data), bytes};
}
Pages map_pages(std::size_t bytes) {
  return checked(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0), bytes);
}
Pages remap_pages(Pages pages, std::size_t bytes) {
  const Pages moved = checked(mremap(pages.data, pages.bytes, bytes, MREMAP_MAYMOVE), bytes);
  if (bytes > pages.bytes) populate(moved.data + pages.bytes, bytes - pages.bytes);
  return moved;
}

// What runs gave back.
class KeptPages {
 public:
  /// At least `least` bytes, or nothing.
  Pages take(std::size_t least) {
    const std::lock_guard lock(mutex_);
    // Who has just become large will go on growing, so it gets the most; others what fits them best.
    const bool growing = least <= 2 * MemoryRun::kLargeBytes;
    std::size_t best = count_;
    for (std::size_t i = 0; i < count_; ++i) {
      if (runs_[i].bytes < least) continue;
      if (best == count_ || (runs_[i].bytes > runs_[best].bytes) == growing) best = i;
    }
    if (best == count_) return {};
    bytes_ -= runs_[best].bytes;
    return std::exchange(runs_[best], runs_[--count_]);
  }
  /// False if there is too much already.
  bool keep(Pages pages) {
    const std::lock_guard lock(mutex_);
    if (count_ == runs_.size() || bytes_ + pages.bytes > MemoryRun::kKeptBytes) return false;
    runs_[count_++] = pages;
    bytes_ += pages.bytes;
    return true;
  }

 private:
  std::mutex mutex_;
  std::array<Pages, 64> runs_{};
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};
constinit KeptPages kept_pages;

void give_back_pages(Pages pages) {
  if (!kept_pages.keep(pages)) munmap(pages.data, pages.bytes);
}

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
  if (has_pages(bytes)) {
    resize_pages(bytes, used);
    return;
  }
  std::byte* data =
      bytes == 0 ? nullptr : static_cast<std::byte*>(::operator new(bytes, std::align_val_t{alignment_}));
  if (used > 0) std::memcpy(data, data_, used);
  free_memory();
  data_ = data;
  bytes_ = bytes;
  mapped_bytes_ = 0;
}

#if SHOAL_PAGES_OF_ITS_OWN

void MemoryRun::resize_pages(std::size_t bytes, std::size_t used) {
  Pages pages{data_, mapped_bytes_};
  if (bytes < bytes_ && mapped_bytes_ != 0) {
    pages = remap_pages(pages, bytes);  // asked for: the rest goes back to the kernel
  } else if (bytes > mapped_bytes_) {
    pages = kept_pages.take(bytes);
    if (pages.data == nullptr && mapped_bytes_ != 0) {
      pages = remap_pages({data_, mapped_bytes_}, bytes);
    } else {
      if (pages.data == nullptr) pages = map_pages(bytes);
      if (used > 0) std::memcpy(pages.data, data_, used);
      free_memory();
    }
  }
  data_ = pages.data;
  bytes_ = bytes;
  mapped_bytes_ = pages.bytes;
}

void MemoryRun::free_memory() {
  if (mapped_bytes_ != 0) {
    give_back_pages({data_, mapped_bytes_});
  } else if (data_ != nullptr) {
    ::operator delete(data_, std::align_val_t{alignment_});
  }
}

#else

void MemoryRun::resize_pages(std::size_t, std::size_t) {}

void MemoryRun::free_memory() {
  if (data_ != nullptr) ::operator delete(data_, std::align_val_t{alignment_});
}

#endif

}  // namespace shoal
