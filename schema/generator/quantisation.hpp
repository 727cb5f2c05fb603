// From a scalar's type and attributes to its quantised form (shared/wire/component_descriptor.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/generator/declarations.hpp"
#include "shared/wire/component_descriptor.hpp"

namespace shoal::schemac {

/// Most steps of a quantised float: more could not come back from a float's 24 bits of mantissa.
inline constexpr double kMaxFloatSteps = 16777216.0;

struct Quantisation {
  FieldType type = FieldType::Uint8;
  FieldKind kind = FieldKind::Plain;
  double min = 0;
  double step = 0;
  std::uint32_t steps = 0;
};

/// Bits of one value in a full state.
unsigned value_bits(const Quantisation& quantisation);

/// Applies the attributes to a scalar of type `base`, which may be an enum (else null). Appends one sentence
/// per fault to `reasons`; the result counts only when none was added. An attribute that does not belong on
/// fields is refused elsewhere.
Quantisation quantise_field(BaseType base, const EnumDeclaration* enumeration, const Attributes& attributes,
                            std::vector<std::string>& reasons);

/// Whether a component can hold a field of this type, whatever its range. Structs are looked into elsewhere.
bool is_supported(const TypeReference& type, const Attributes& attributes);

/// A number as a person and as C++ writes it, exact: the shortest text that reads back as the same double.
std::string number_text(double value);

}  // namespace shoal::schemac
