// What a schema file declares, word for word: a plain copy of flatc's binary schema, nothing judged yet.
// component_model.hpp makes components of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::schemac {

/// One reason why the build stops. Printed as "file: name: reason".
struct SchemaError {
  std::string file;
  std::string name;  // full name, with the path of the field: "shoal.demo.Health.current"
  std::string reason;
};
std::string to_string(const SchemaError& error);

/// Value by name. A flag such as (tag) has the value "0": flatc makes no difference between the two.
using Attributes = std::map<std::string, std::string, std::less<>>;

enum class BaseType : std::uint8_t {
  Bool,
  Int8,
  Uint8,
  Int16,
  Uint16,
  Int32,
  Uint32,
  Int64,
  Uint64,
  Float,
  Double,  // scalars
  Struct,  // a struct by value
  Other,   // string, vector, table, union: nothing that a component can hold
};
/// The word of the schema language: "ushort".
std::string_view schema_word(BaseType type);

/// An index into Declarations::enums or Declarations::objects.
inline constexpr int kNoIndex = -1;

struct TypeReference {
  BaseType base = BaseType::Other;  // of one element when it is an array
  int enum_index = kNoIndex;        // the field's enum, of underlying type `base`
  int object_index = kNoIndex;      // the struct, when base is Struct
  std::uint32_t array_length = 0;   // 0: not an array
};

struct FieldDeclaration {
  std::string name;
  TypeReference type;
  Attributes attributes;
  std::vector<std::string> documentation;
};

/// A struct or a table.
struct ObjectDeclaration {
  std::string name;  // full, "shoal.demo.Health"
  std::string file;
  bool is_struct = false;
  Attributes attributes;
  std::vector<FieldDeclaration> fields;  // in the order of the file
  std::vector<std::string> documentation;
};

struct Enumerator {
  std::string name;
  std::int64_t value = 0;
};
struct EnumDeclaration {
  std::string name;
  std::string file;
  BaseType underlying = BaseType::Other;
  bool is_union = false;
  Attributes attributes;
  std::vector<Enumerator> enumerators;  // by rising value
  std::vector<std::string> documentation;
};

struct Declarations {
  std::vector<std::string> files;  // the schema and what it includes, relative to the root given to flatc
  std::vector<EnumDeclaration> enums;
  std::vector<ObjectDeclaration> objects;  // by name
};

}  // namespace shoal::schemac
