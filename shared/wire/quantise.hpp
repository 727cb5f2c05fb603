// Fields as small unsigned integers, by the schema. A change of a value is what a client could tell apart: a
// change of these integers.
//
// 1. quantise(dequantise(q)) == q for every q in 0 … steps: what a client shows quantises to what it was
// sent.
// 2. Every input has an answer: values beyond the range are clamped to its ends, NaN becomes the lowest one.
// 3. Only + - * / and comparisons of doubles, which IEEE 754 rounds in one way, so that server and client agree to the
//    bit on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shared/wire/component_descriptor.hpp"

namespace shoal {

/// Integers that a field is quantised to: two for an entity (index, generation), one for all others.
constexpr unsigned column_count(FieldType type) {
  return type == FieldType::Entity ? 2 : 1;
}

/// Bits that hold 0 … steps of the field's column, 1 to 32.
unsigned column_bits(const FieldDescriptor& field);

/// Reads the field out of the component `aggregate` and writes its column_count() integers to `target`.
void quantise(const FieldDescriptor& field, const std::byte* aggregate, std::uint32_t* target);

/// The counterpart: writes the field into `aggregate`. Integers beyond the field's steps are clamped.
void dequantise(const FieldDescriptor& field, const std::uint32_t* source, std::byte* aggregate);

}  // namespace shoal
