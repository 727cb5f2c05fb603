// Writes C++ from a checked schema. The same schema gives the same text on every machine.
#pragma once

#include <string>

#include "schema/generator/component_model.hpp"

namespace shoal::schemac {

/// Where the generated files will be found: "schema/components" gives "schema/components.hpp",
/// "schema/components_descriptors.hpp" and "schema/components_descriptors.cpp" below the include root.
struct EmitOptions {
  std::string include_stem;
};

/// The aggregates: structs and enums without methods. Includes the standard library and the entity only.
std::string emit_components(const SchemaModel& model, const EmitOptions& options);
/// component_descriptors() and register_components(), declared and defined.
std::string emit_descriptors_header(const SchemaModel& model, const EmitOptions& options);
std::string emit_descriptors_source(const SchemaModel& model, const EmitOptions& options);

}  // namespace shoal::schemac
