// Runs a schema, given as text, through flatc and the generator.
#pragma once

#include <string>
#include <vector>

#include "schema/generator/component_model.hpp"

namespace shoal::schemac {

/// Below the declarations of shoal/attributes.fbs and `namespace test;`.
struct SchemaText {
  std::string body;
  std::string head = "include \"shoal/attributes.fbs\";\nnamespace test;\n";
  std::string included = {};  // the text of "more.fbs" beside it
};

/// The file is called "bad.fbs", whatever it is. Fails the test when flatc refuses the text.
Result<SchemaModel, std::vector<SchemaError>> model_of(const SchemaText& text);
/// The generator's complaints, one line each; empty when it has none.
std::string complaints_about(const SchemaText& text);
/// The only component that the text declares. Fails the test when it has faults.
ComponentModel component_of(const SchemaText& text);

}  // namespace shoal::schemac
