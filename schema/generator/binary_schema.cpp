#include "schema/generator/binary_schema.hpp"

#include <flatbuffers/reflection_generated.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace shoal::schemac {
namespace {

// As a number: the accessors make an enumerator of any byte, and to one that does not exist everything may happen.
int base_type_number(const reflection::Type& type, flatbuffers::voffset_t field) {
  return reinterpret_cast<const flatbuffers::Table&>(type).GetField<std::int8_t>(field, 0);
}

BaseType base_type_of(const reflection::Type& type, flatbuffers::voffset_t field) {
  switch (base_type_number(type, field)) {
    case reflection::Bool:
      return BaseType::Bool;
    case reflection::Byte:
      return BaseType::Int8;
    case reflection::UByte:
      return BaseType::Uint8;
    case reflection::Short:
      return BaseType::Int16;
    case reflection::UShort:
      return BaseType::Uint16;
    case reflection::Int:
      return BaseType::Int32;
    case reflection::UInt:
      return BaseType::Uint32;
    case reflection::Long:
      return BaseType::Int64;
    case reflection::ULong:
      return BaseType::Uint64;
    case reflection::Float:
      return BaseType::Float;
    case reflection::Double:
      return BaseType::Double;
    case reflection::Obj:
      return BaseType::Struct;
    default:
      return BaseType::Other;
  }
}

std::string text_of(const flatbuffers::String* text) {
  return text == nullptr ? std::string() : text->str();
}

/// flatc writes "//components.fbs" for a file below the root.
std::string file_of(const flatbuffers::String* file) {
  std::string text = text_of(file);
  if (text.starts_with("//")) text.erase(0, 2);
  return text;
}

Attributes attributes_of(const flatbuffers::Vector<flatbuffers::Offset<reflection::KeyValue>>* source) {
  Attributes attributes;
  if (source == nullptr) return attributes;
  for (const reflection::KeyValue* entry : *source) {
    attributes.emplace(text_of(entry->key()), text_of(entry->value()));
  }
  return attributes;
}

std::vector<std::string> documentation_of(
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* source) {
  std::vector<std::string> lines;
  if (source == nullptr) return lines;
  for (const flatbuffers::String* line : *source) lines.push_back(line->str());
  return lines;
}

TypeReference type_of(const reflection::Schema& schema, const reflection::Type& source) {
  TypeReference type;
  const bool is_array = base_type_number(source, reflection::Type::VT_BASE_TYPE) == reflection::Array;
  type.base = base_type_of(source, is_array ? reflection::Type::VT_ELEMENT : reflection::Type::VT_BASE_TYPE);
  type.array_length = is_array ? source.fixed_length() : 0;
  const int index = source.index();
  if (type.base == BaseType::Struct) {
    const bool is_known = index >= 0 && static_cast<flatbuffers::uoffset_t>(index) < schema.objects()->size();
    const bool is_struct =
        is_known && schema.objects()->Get(static_cast<flatbuffers::uoffset_t>(index))->is_struct();
    if (is_struct) {
      type.object_index = index;
    } else {
      type.base = BaseType::Other;
    }
  } else if (index >= 0 && static_cast<flatbuffers::uoffset_t>(index) < schema.enums()->size()) {
    type.enum_index = index;
  }
  return type;
}

ObjectDeclaration object_of(const reflection::Schema& schema, const reflection::Object& source) {
  ObjectDeclaration object{.name = text_of(source.name()),
                           .file = file_of(source.declaration_file()),
                           .is_struct = source.is_struct(),
                           .attributes = attributes_of(source.attributes()),
                           .fields = {},
                           .documentation = documentation_of(source.documentation())};
  // flatc sorts fields by name; their offsets (of a table: their ids) bring the file's order back.
  std::vector<const reflection::Field*> fields(source.fields()->begin(), source.fields()->end());
  std::sort(fields.begin(), fields.end(), [&](const reflection::Field* a, const reflection::Field* b) {
    return source.is_struct() ? a->offset() < b->offset() : a->id() < b->id();
  });
  for (const reflection::Field* field : fields) {
    object.fields.push_back({.name = text_of(field->name()),
                             .type = type_of(schema, *field->type()),
                             .attributes = attributes_of(field->attributes()),
                             .documentation = documentation_of(field->documentation())});
  }
  return object;
}

EnumDeclaration enum_of(const reflection::Enum& source) {
  EnumDeclaration declaration{
      .name = text_of(source.name()),
      .file = file_of(source.declaration_file()),
      .underlying = base_type_of(*source.underlying_type(), reflection::Type::VT_BASE_TYPE),
      .is_union = source.is_union(),
      .attributes = attributes_of(source.attributes()),
      .enumerators = {},
      .documentation = documentation_of(source.documentation())};
  for (const reflection::EnumVal* value : *source.values()) {
    declaration.enumerators.push_back({.name = text_of(value->name()), .value = value->value()});
  }
  return declaration;
}

/// flatc writes at least one enumerator, in rising order; those of the types that we take lie within 16 bits.
bool is_sound(const EnumDeclaration& declaration) {
  const auto& values = declaration.enumerators;
  const bool is_small =
      declaration.underlying == BaseType::Int8 || declaration.underlying == BaseType::Uint8 ||
      declaration.underlying == BaseType::Int16 || declaration.underlying == BaseType::Uint16;
  const auto in_order = [](const Enumerator& a, const Enumerator& b) { return a.value < b.value; };
  return !values.empty() && std::is_sorted(values.begin(), values.end(), in_order) &&
         (!is_small || (values.front().value >= INT16_MIN && values.back().value <= UINT16_MAX));
}

/// A struct that has itself inside; none in what flatc writes. By taking away, again and again, those that hold no
/// struct any more.
const ObjectDeclaration* find_endless(const std::vector<ObjectDeclaration>& objects) {
  std::vector<std::size_t> open(objects.size(),
                                0);  // fields of struct type whose struct is not taken away yet
  std::vector<std::vector<std::size_t>> holders(objects.size());
  std::vector<std::size_t> done;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    for (const FieldDeclaration& field : objects[i].fields) {
      if (field.type.object_index == kNoIndex) continue;
      ++open[i];
      holders[static_cast<std::size_t>(field.type.object_index)].push_back(i);
    }
    if (open[i] == 0) done.push_back(i);
  }
  for (std::size_t next = 0; next < done.size(); ++next) {
    for (const std::size_t holder : holders[done[next]]) {
      if (--open[holder] == 0) done.push_back(holder);
    }
  }
  const auto endless = std::find_if(open.begin(), open.end(), [](std::size_t count) { return count != 0; });
  return endless == open.end() ? nullptr : &objects[static_cast<std::size_t>(endless - open.begin())];
}

}  // namespace

std::string to_string(const SchemaError& error) {
  return error.file + ": " + error.name + ": " + error.reason;
}

std::string_view schema_word(BaseType type) {
  switch (type) {
    case BaseType::Bool:
      return "bool";
    case BaseType::Int8:
      return "byte";
    case BaseType::Uint8:
      return "ubyte";
    case BaseType::Int16:
      return "short";
    case BaseType::Uint16:
      return "ushort";
    case BaseType::Int32:
      return "int";
    case BaseType::Uint32:
      return "uint";
    case BaseType::Int64:
      return "long";
    case BaseType::Uint64:
      return "ulong";
    case BaseType::Float:
      return "float";
    case BaseType::Double:
      return "double";
    case BaseType::Struct:
      return "struct";
    case BaseType::Other:
      return "string, vector, table or union";
  }
  return "unknown";
}

Result<Declarations, std::string> read_binary_schema(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  if (bytes.size() < 8 || !reflection::SchemaBufferHasIdentifier(data)) {
    return Failure{std::string("not a binary schema: make one with `flatc -b --schema`")};
  }
  flatbuffers::Verifier verifier(data, bytes.size());
  if (!reflection::VerifySchemaBuffer(verifier)) {
    return Failure{std::string("a broken binary schema: make it anew with `flatc -b --schema`")};
  }
  const reflection::Schema& schema = *reflection::GetSchema(data);
  Declarations declarations;
  if (schema.fbs_files() != nullptr) {
    for (const reflection::SchemaFile* file : *schema.fbs_files()) {
      declarations.files.push_back(file_of(file->filename()));
    }
  }
  for (const reflection::Enum* source : *schema.enums()) {
    if (!is_sound(declarations.enums.emplace_back(enum_of(*source)))) {
      return Failure{"a broken binary schema, enum " + declarations.enums.back().name +
                     ": make it anew with `flatc -b --schema`"};
    }
  }
  for (const reflection::Object* source : *schema.objects()) {
    declarations.objects.push_back(object_of(schema, *source));
  }
  if (const ObjectDeclaration* const endless = find_endless(declarations.objects)) {
    return Failure{"a broken binary schema, " + endless->name +
                   " never ends: make it anew with `flatc -b --schema`"};
  }
  return declarations;
}

}  // namespace shoal::schemac
