// The generator: any bytes as a binary schema. It says what is wrong in words, or gives C++ whose generator can be run
// again with the same result.
//
// An input: the bytes of a .bfbs file.
#include <flatbuffers/idl.h>

#include "schema/generator/binary_schema.hpp"
#include "schema/generator/component_model.hpp"
#include "schema/generator/emit.hpp"
#include "shared/base/assert.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace shoal::fuzz {
namespace {

using namespace schemac;

void run(std::span<const std::byte> bytes) {
  // At an aligned address, as the program has them; the size is exact, for the sanitizers.
  const std::vector<std::byte> copy(bytes.begin(), bytes.end());
  auto declarations = read_binary_schema(copy);
  if (!declarations.ok()) {
    SHOAL_ASSERT(!declarations.error().empty(), "the reader says what is wrong");
    return;
  }
  const auto model = build_model(std::move(*declarations));
  if (!model.ok()) {
    SHOAL_ASSERT(!model.error().empty(), "the model says what is wrong");
    for (const SchemaError& error : model.error())
      SHOAL_ASSERT(!to_string(error).empty(), "each error has words");
    return;
  }
  const EmitOptions options{"fuzz/fuzz"};
  SHOAL_ASSERT(!emit_components(*model, options).empty() &&
                   !emit_descriptors_header(*model, options).empty() &&
                   !emit_descriptors_source(*model, options).empty(),
               "a model gives code");
}

std::vector<std::uint8_t> binary_schema_of(const std::string& body) {
  flatbuffers::IDLOptions options;
  options.binary_schema_comments = true;
  options.binary_schema_builtins = true;
  flatbuffers::Parser parser(options);
  const std::string text =
      "attribute \"audience\"; attribute \"interest\"; attribute \"tag\"; attribute \"type\"; attribute "
      "\"min\";\n"
      "attribute \"max\"; attribute \"step\"; attribute \"kind\"; attribute \"entity\";\nnamespace fuzz;\n" +
      body;
  SHOAL_ASSERT(parser.Parse(text.c_str(), nullptr, "fuzz.fbs"), parser.error_.c_str());
  parser.Serialize();
  const std::uint8_t* const bytes = parser.builder_.GetBufferPointer();
  return {bytes, bytes + parser.builder_.GetSize()};
}

}  // namespace

std::vector<Seed> seeds() {
  return {
      {"tag.bfbs", binary_schema_of("table Burning (tag) {}")},
      {"scalars.bfbs",
       binary_schema_of("struct S { a: float (min: \"-1\", max: \"1\", step: \"0.1\"); b: ushort (max: "
                        "\"9\"); c: ulong (entity); d: bool; e: int; }")},
      {"nested.bfbs",
       binary_schema_of(
           "enum E : ubyte { A, B, C } struct V (type) { x: float (min: \"0\", max: \"8\", step: "
           "\"1\"); } struct N { v: V (kind: \"position\"); e: E; a: [short:3]; }")},
      {"wrong.bfbs",
       binary_schema_of("struct W { a: float (min: \"2\", max: \"1\", step: \"0\"); b: ulong; } table T { s: "
                        "string; }")},
  };
}

}  // namespace shoal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  shoal::fuzz::run(std::as_bytes(std::span(bytes, size)));
  return 0;
}
