// A value or the reason why there is none. Used wherever the environment or a peer can fail; the caller must
// look ([[nodiscard]]). Exceptions do not cross a module's border.
#pragma once

#include <utility>
#include <variant>

#include "shared/base/assert.hpp"

namespace shoal {

/// Wraps an error for construction of a Result: `return Failure{ReadError::Truncated};`.
template <class E>
struct Failure {
  E error;
};
template <class E>
Failure(E) -> Failure<E>;

template <class T, class E>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Failure<E> failure) : state_(std::in_place_index<1>, std::move(failure.error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  /// REQUIRES: ok().
  T& value() {
    SHOAL_ASSERT(ok(), "value() of a failed result: test ok() first");
    return *std::get_if<0>(&state_);
  }
  const T& value() const {
    SHOAL_ASSERT(ok(), "value() of a failed result: test ok() first");
    return *std::get_if<0>(&state_);
  }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// REQUIRES: !ok().
  const E& error() const {
    SHOAL_ASSERT(!ok(), "error() of a good result: test ok() first");
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, E> state_;
};

}  // namespace shoal
