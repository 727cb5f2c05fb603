// What FlatBuffers' verifier (2.0) leaves out: it looks at where a vector's length lies, not at where its elements do. Whoever
// writes a buffer by hand can so place structs that hold eight bytes at a time where no such struct may be.
#pragma once

#include <cstdint>

namespace shoal {

/// `vector`: of flatbuffers, of structs; null and empty ones are aligned wherever they stand. To be asked before any element is
/// looked at, where alignof(Struct) is more than 4 and the bytes are not our own.
template <class Struct, class Vector>
bool has_aligned_elements(const Vector* vector) {
  return vector == nullptr || vector->size() == 0 ||
         reinterpret_cast<std::uintptr_t>(vector->Data()) % alignof(Struct) == 0;
}

}  // namespace shoal
