// One contiguous run of raw memory that grows. Small ones come from the heap and grow by half. Large ones are pages of
// their own, which the kernel moves without copying: they grow by a tenth, so a large pool has little room that
// nobody uses and nothing is copied as it grows. A page that was never used costs the kernel a microsecond, most of the
// price of a fresh world; so up to kKeptBytes of pages that runs gave back are kept for the next ones.
//
// Thread rule: one thread for each run; several runs from several threads.
// Invariants:
// 1. The start is aligned to a cache line at least, so that spans start where vector instructions like it.
// 2. Growing keeps the bytes, not the address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace shoal {

class MemoryRun {
 public:
  static constexpr std::size_t kLeastAlignment = 64;
  static constexpr std::size_t kLargeBytes = 64 * 1024;  // from here on pages of its own
  static constexpr std::size_t kKeptBytes = std::size_t{32} << 20;

  /// REQUIRES: a power of two, at most 4096.
  explicit MemoryRun(std::size_t alignment = kLeastAlignment);
  ~MemoryRun() { free_memory(); }
  MemoryRun(MemoryRun&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        mapped_bytes_(std::exchange(other.mapped_bytes_, 0)),
        alignment_(other.alignment_) {}
  MemoryRun& operator=(MemoryRun&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
    std::swap(alignment_, other.alignment_);
    return *this;
  }

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  /// What a run of `bytes` that needs at least `least` becomes.
  static std::size_t grown(std::size_t bytes, std::size_t least);
  /// Exactly so many bytes, or a few more. The first `used` keep their content, byte by byte. Throws
  /// std::bad_alloc and changes nothing.
  void resize(std::size_t bytes, std::size_t used);

 private:
  void resize_pages(std::size_t bytes, std::size_t used);
  void free_memory();

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t mapped_bytes_ = 0;  // with pages of its own: what they hold, bytes_ or more
  std::size_t alignment_;
};

/// A list of plain values in a MemoryRun, with what the registry needs of std::vector.
template <class T>
class PlainList {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  PlainList() = default;
  PlainList(const PlainList&) = delete;
  PlainList& operator=(const PlainList&) = delete;

  T* data() const { return reinterpret_cast<T*>(run_.data()); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t capacity() const { return capacity_; }
  T& operator[](std::size_t at) { return data()[at]; }
  const T& operator[](std::size_t at) const { return data()[at]; }
  T* begin() const { return data(); }
  T* end() const { return data() + size_; }
  T& back() { return data()[size_ - 1]; }
  operator std::span<const T>() const { return {data(), size_}; }

  void push_back(const T& value) {
    if (size_ == capacity_) [[unlikely]] {
      const T copy = value;  // it may lie in the list
      grow(size_ + 1);
      data()[size_++] = copy;
      return;
    }
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  /// New places hold `value`.
  void resize(std::size_t size, const T value = T{}) {
    if (size > capacity_) grow(size);
    for (std::size_t at = size_; at < size; ++at) data()[at] = value;
    size_ = size;
  }
  /// So many more places, to be written by the caller.
  T* append(std::size_t count) {
    if (size_ + count > capacity_) grow(size_ + count);
    T* added = data() + size_;
    size_ += count;
    return added;
  }
  void reserve(std::size_t size) {
    if (size > capacity_) set_capacity(size);
  }
  void shrink_to_fit() {
    if (size_ != capacity_) set_capacity(size_);
  }
  std::size_t memory_bytes() const { return run_.bytes(); }

 private:
  void grow(std::size_t least) {
    set_capacity(MemoryRun::grown(run_.bytes(), least * sizeof(T)) / sizeof(T));
  }
  void set_capacity(std::size_t capacity) {
    run_.resize(capacity * sizeof(T), size_ * sizeof(T));
    capacity_ = run_.bytes() / sizeof(T);
  }

  MemoryRun run_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace shoal
