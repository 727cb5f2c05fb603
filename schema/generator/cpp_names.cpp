#include "schema/generator/cpp_names.hpp"

#include <algorithm>
#include <cctype>

namespace shoal::schemac {
namespace {

constexpr std::string_view kReservedWords[] = {
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
    "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
    "xor_eq"};

}  // namespace

std::vector<std::string> split_name(std::string_view full_name) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t dot = full_name.find('.'); dot != std::string_view::npos;
       dot = full_name.find('.', start)) {
    parts.emplace_back(full_name.substr(start, dot - start));
    start = dot + 1;
  }
  parts.emplace_back(full_name.substr(start));
  return parts;
}

std::string namespace_of(std::string_view full_name) {
  const std::size_t dot = full_name.rfind('.');
  return dot == std::string_view::npos ? std::string() : std::string(full_name.substr(0, dot));
}

std::string last_part(std::string_view full_name) {
  const std::size_t dot = full_name.rfind('.');
  return std::string(dot == std::string_view::npos ? full_name : full_name.substr(dot + 1));
}

std::string cpp_name(std::string_view full_name) {
  std::string name;
  for (const std::string& part : split_name(full_name)) name += (name.empty() ? "" : "::") + part;
  return name;
}

std::string name_fault(std::string_view identifier) {
  const bool is_word =
      std::find(std::begin(kReservedWords), std::end(kReservedWords), identifier) != std::end(kReservedWords);
  if (is_word) return "\"" + std::string(identifier) + "\" is a word of C++: take another name";
  const bool is_reserved = identifier.find("__") != std::string_view::npos ||
                           (identifier.size() > 1 && identifier[0] == '_' &&
                            std::isupper(static_cast<unsigned char>(identifier[1])));
  if (is_reserved)
    return "\"" + std::string(identifier) + "\" is reserved in C++ (underscores): take another name";
  return {};
}

}  // namespace shoal::schemac
