#include "tests/schema/schema_text.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "schema/generator/binary_schema.hpp"

namespace shoal::schemac {

Result<SchemaModel, std::vector<SchemaError>> model_of(const SchemaText& text) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) /
                                       ("shoal_schema_test_" + std::to_string(static_cast<long>(::getpid())));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "bad.fbs") << text.head << text.body;
  std::ofstream(folder / "more.fbs") << text.included;
  const std::string command = std::string(SHOAL_TEST_FLATC) +
                              " -b --schema --bfbs-comments --bfbs-builtins --bfbs-filenames " +
                              folder.string() + " -I " + SHOAL_TEST_SCHEMA_DIR + " -o " + folder.string() +
                              " " + (folder / "bad.fbs").string();
  const int status = std::system(command.c_str());
  EXPECT_EQ(status, 0) << "flatc refused the text:\n" << text.head << text.body;
  std::ifstream file(folder / "bad.bfbs", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::filesystem::remove_all(folder);
  auto declarations = read_binary_schema(std::as_bytes(std::span(bytes)));
  if (!declarations) return Failure{std::vector<SchemaError>{{"bad.fbs", "flatc", declarations.error()}}};
  return build_model(std::move(*declarations));
}

std::string complaints_about(const SchemaText& text) {
  const auto model = model_of(text);
  std::string lines;
  if (model) return lines;
  for (const SchemaError& error : model.error()) lines += to_string(error) + "\n";
  return lines;
}

ComponentModel component_of(const SchemaText& text) {
  const auto model = model_of(text);
  if (!model) {
    for (const SchemaError& error : model.error()) ADD_FAILURE() << to_string(error);
    return {};
  }
  EXPECT_EQ(model->components.size(), 1u) << text.body;
  return model->components.front();
}

}  // namespace shoal::schemac
