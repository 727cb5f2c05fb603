// shoal-schemac: reads a binary schema of flatc, checks it and writes the C++ of its components.
// shoal_components() (cmake/ShoalComponents.cmake) calls it at build time.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "schema/generator/binary_schema.hpp"
#include "schema/generator/component_model.hpp"
#include "schema/generator/emit.hpp"

namespace {

constexpr std::string_view kHelp =
    R"(shoal-schemac: makes C++ components from a FlatBuffers schema

Usage: shoal-schemac --schema FILE.bfbs --output DIR --stem NAME [--root DIR --depfile FILE]

  --schema FILE   binary schema: flatc -b --schema --bfbs-comments --bfbs-builtins --bfbs-filenames ROOT
  --output DIR    the include root; it receives NAME.hpp, NAME_descriptors.hpp and NAME_descriptors.cpp
  --stem NAME     path of the generated headers below the include root, such as game/components
  --root DIR      the ROOT that flatc was given, to find the schema's files for --depfile
  --depfile FILE  writes the schema's files as a rule for make and ninja
  --help          shows this

A fault in the schema ends it with "file: name: reason" on standard error, one line each, and exit code 1.
)";

struct Options {
  std::string schema;
  std::string output;
  std::string stem;
  std::string root;
  std::string depfile;
  bool help = false;
};

/// Empty when all went well, else what is wrong.
std::string parse(std::span<char*> arguments, Options& options) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
      return {};
    }
    std::string* target = name == "--schema"    ? &options.schema
                          : name == "--output"  ? &options.output
                          : name == "--stem"    ? &options.stem
                          : name == "--root"    ? &options.root
                          : name == "--depfile" ? &options.depfile
                                                : nullptr;
    if (target == nullptr) return "unknown option " + std::string(name);
    if (i + 1 == arguments.size()) return std::string(name) + " needs a value";
    *target = arguments[++i];
  }
  if (options.schema.empty() || options.output.empty() || options.stem.empty()) {
    return "--schema, --output and --stem are needed";
  }
  return {};
}

bool write_file(const std::filesystem::path& path, std::string_view text) {
  std::error_code ignored;  // the open below tells
  std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (file) return true;
  std::fprintf(stderr, "shoal-schemac: cannot write %s\n", path.c_str());
  return false;
}

/// In a rule, a blank would end the name.
std::string escape(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == ' ' ? "\\ " : std::string(1, c);
  return text;
}

int run(const Options& options) {
  std::ifstream file(options.schema, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) {
    std::fprintf(stderr, "shoal-schemac: cannot read %s\n", options.schema.c_str());
    return 1;
  }
  auto declarations = shoal::schemac::read_binary_schema(std::as_bytes(std::span(bytes)));
  if (!declarations) {
    std::fprintf(stderr, "%s: %s\n", options.schema.c_str(), declarations.error().c_str());
    return 1;
  }
  const auto model = shoal::schemac::build_model(std::move(*declarations));
  if (!model) {
    for (const auto& error : model.error()) std::fprintf(stderr, "%s\n", to_string(error).c_str());
    return 1;
  }
  const shoal::schemac::EmitOptions emit{options.stem};
  const std::filesystem::path base = std::filesystem::path(options.output) / options.stem;
  const std::string stem = base.string();
  const bool written = write_file(stem + ".hpp", emit_components(*model, emit)) &&
                       write_file(stem + "_descriptors.hpp", emit_descriptors_header(*model, emit)) &&
                       write_file(stem + "_descriptors.cpp", emit_descriptors_source(*model, emit));
  if (!written) return 1;
  if (options.depfile.empty()) return 0;
  std::string rule = escape(stem + ".hpp") + ":";
  for (const std::string& source : model->declarations.files) {
    rule += " " + escape((std::filesystem::path(options.root) / source).lexically_normal().string());
  }
  return write_file(options.depfile, rule + "\n") ? 0 : 1;
}

}  // namespace

int main(int argument_count, char** arguments) {
  Options options;
  const std::string fault =
      parse(std::span(arguments, static_cast<std::size_t>(argument_count)).subspan(1), options);
  if (!fault.empty()) {
    std::fprintf(stderr, "shoal-schemac: %s (see --help)\n", fault.c_str());
    return 2;
  }
  if (options.help) {
    std::fputs(kHelp.data(), stdout);
    return 0;
  }
  return run(options);
}
