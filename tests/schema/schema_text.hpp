// Runs a schema, given as text, through flatc and the generator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/generator/component_model.hpp"

namespace shoal::schemac {

/// Below the declarations of shoal/attributes.fbs and `namespace test;`.
struct SchemaText {
  std::string_view body;
  std::string_view head = "include \"shoal/attributes.fbs\";\nnamespace test;\n";
  std::string_view included = {};  // the text of "more.fbs" beside it
};

/// The file is called "bad.fbs", whatever it is. Fails the test when flatc refuses the text.
Result<SchemaModel, std::vector<SchemaError>> model_of(SchemaText text);
/// The generator's complaints, one line each; empty when it has none.
std::string complaints_about(SchemaText text);
/// The only component that the text declares. Fails the test when it has faults.
ComponentModel component_of(SchemaText text);

}  // namespace shoal::schemac
