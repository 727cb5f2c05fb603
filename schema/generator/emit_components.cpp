#include <algorithm>
#include <set>

#include "schema/generator/cpp_names.hpp"
#include "schema/generator/emit.hpp"

namespace shoal::schemac {
namespace {

std::string_view cpp_scalar(BaseType base) {
  switch (base) {
    case BaseType::Bool:
      return "bool";
    case BaseType::Int8:
      return "std::int8_t";
    case BaseType::Uint8:
      return "std::uint8_t";
    case BaseType::Int16:
      return "std::int16_t";
    case BaseType::Uint16:
      return "std::uint16_t";
    case BaseType::Int32:
      return "std::int32_t";
    case BaseType::Uint32:
      return "std::uint32_t";
    case BaseType::Int64:
      return "std::int64_t";
    case BaseType::Uint64:
      return "std::uint64_t";
    case BaseType::Float:
      return "float";
    case BaseType::Double:
      return "double";
    default:
      return "void";
  }
}

std::string_view zero_of(BaseType base) {
  if (base == BaseType::Bool) return " = false";
  if (base == BaseType::Float) return " = 0.0f";
  return " = 0";
}

std::string documentation_text(const std::vector<std::string>& lines, std::string_view indent) {
  std::string text;
  for (const std::string& line : lines) text += std::string(indent) + "///" + line + "\n";
  return text;
}

class ComponentsWriter {
 public:
  ComponentsWriter(const SchemaModel& model, const EmitOptions& options) : model_(model), options_(options) {}

  std::string write() {
    std::string body;
    for (const EnumDeclaration& declaration : model_.declarations.enums) body += enum_text(declaration);
    for (std::size_t i = 0; i < model_.declarations.objects.size(); ++i)
      write_object(static_cast<int>(i), body);
    open_namespace("", body);
    return "// Generated from " + schema_file() +
           " by shoal-schemac: change that file instead.\n#pragma once\n\n" +
           (uses_array_ ? "#include <array>\n" : "") + "#include <cstdint>\n\n" +
           (uses_entity_ ? "#include \"shared/ecs/entity.hpp\"\n\n" : "") + body;
  }

 private:
  std::string schema_file() const {
    return model_.declarations.files.empty() ? options_.include_stem + ".fbs"
                                             : model_.declarations.files.front();
  }

  /// Closes the open namespace and opens the wanted one, unless it is open already.
  void open_namespace(const std::string& wanted, std::string& text) {
    if (wanted == open_namespace_) return;
    if (!open_namespace_.empty()) text += "}  // namespace " + cpp_name(open_namespace_) + "\n";
    if (!wanted.empty()) text += "namespace " + cpp_name(wanted) + " {\n\n";
    open_namespace_ = wanted;
  }

  std::string enum_text(const EnumDeclaration& declaration) {
    std::string text;
    open_namespace(namespace_of(declaration.name), text);
    text += documentation_text(declaration.documentation, "");
    text += "enum class " + last_part(declaration.name) + " : " +
            std::string(cpp_scalar(declaration.underlying)) + " {\n";
    for (const Enumerator& enumerator : declaration.enumerators) {
      text += "  " + enumerator.name + " = " + std::to_string(enumerator.value) + ",\n";
    }
    return text + "};\n\n";
  }

  /// Depth first: a struct stands behind the structs that it holds. flatc has refused circles.
  void write_object(int index, std::string& body) {
    if (!written_.insert(index).second) return;
    const ObjectDeclaration& object = model_.declarations.objects[static_cast<std::size_t>(index)];
    for (const FieldDeclaration& field : object.fields) {
      if (field.type.base == BaseType::Struct) write_object(field.type.object_index, body);
    }
    open_namespace(namespace_of(object.name), body);
    body += documentation_text(object.documentation, "");
    if (object.fields.empty()) {
      body += "struct " + last_part(object.name) + " {};\n\n";
      return;
    }
    body += "struct " + last_part(object.name) + " {\n";
    for (const FieldDeclaration& field : object.fields) body += field_text(object, field);
    body += "};\n\n";
  }

  std::string field_text(const ObjectDeclaration& owner, const FieldDeclaration& field) {
    std::string type;
    std::string initialiser = "{}";
    if (field.type.base == BaseType::Struct) {
      type = type_name(owner,
                       model_.declarations.objects[static_cast<std::size_t>(field.type.object_index)].name);
    } else if (field.type.enum_index != kNoIndex) {
      type =
          type_name(owner, model_.declarations.enums[static_cast<std::size_t>(field.type.enum_index)].name);
    } else if (field.attributes.contains("entity")) {
      type = "::shoal::Entity";
      uses_entity_ = true;
    } else {
      type = cpp_scalar(field.type.base);
      initialiser = zero_of(field.type.base);
    }
    if (field.type.array_length > 0) {
      uses_array_ = true;
      type = "std::array<" + type + ", " + std::to_string(field.type.array_length) + ">";
      initialiser = "{}";
    }
    return documentation_text(field.documentation, "  ") + "  " + type + " " + field.name + initialiser +
           ";\n";
  }

  /// Short within the same namespace, unless a field hides it: `Team Team` would change the name's meaning.
  static std::string type_name(const ObjectDeclaration& owner, const std::string& full_name) {
    const std::string word = last_part(full_name);
    const bool is_hidden = std::any_of(owner.fields.begin(), owner.fields.end(),
                                       [&](const FieldDeclaration& field) { return field.name == word; });
    const bool is_near = namespace_of(owner.name) == namespace_of(full_name);
    return is_near && !is_hidden ? word : "::" + cpp_name(full_name);
  }

  const SchemaModel& model_;
  const EmitOptions& options_;
  std::set<int> written_;
  std::string open_namespace_;
  bool uses_array_ = false;
  bool uses_entity_ = false;
};

}  // namespace

std::string emit_components(const SchemaModel& model, const EmitOptions& options) {
  return ComponentsWriter(model, options).write();
}

}  // namespace shoal::schemac
