#include <cstdio>

#include "schema/generator/cpp_names.hpp"
#include "schema/generator/emit.hpp"

namespace shoal::schemac {
namespace {

std::string_view cpp_word(FieldType type) {
  switch (type) {
    case FieldType::Bool:
      return "Bool";
    case FieldType::Int8:
      return "Int8";
    case FieldType::Uint8:
      return "Uint8";
    case FieldType::Int16:
      return "Int16";
    case FieldType::Uint16:
      return "Uint16";
    case FieldType::Int32:
      return "Int32";
    case FieldType::Uint32:
      return "Uint32";
    case FieldType::Float:
      return "Float";
    case FieldType::Entity:
      return "Entity";
  }
  return "Uint8";
}
std::string_view cpp_word(FieldKind kind) {
  switch (kind) {
    case FieldKind::Plain:
      return "Plain";
    case FieldKind::Position:
      return "Position";
    case FieldKind::Velocity:
      return "Velocity";
    case FieldKind::Angle:
      return "Angle";
    case FieldKind::Enum:
      return "Enum";
  }
  return "Plain";
}
std::string_view cpp_word(Audience audience) {
  switch (audience) {
    case Audience::Everyone:
      return "Everyone";
    case Audience::Team:
      return "Team";
    case Audience::Owner:
      return "Owner";
  }
  return "Everyone";
}

std::string hexadecimal(std::uint64_t value, int digits) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "0x%0*llXu", digits, static_cast<unsigned long long>(value));
  return buffer;
}

std::string schema_file(const SchemaModel& model, const EmitOptions& options) {
  return model.declarations.files.empty() ? options.include_stem + ".fbs" : model.declarations.files.front();
}

class SourceWriter {
 public:
  SourceWriter(const SchemaModel& model, const EmitOptions& options) : model_(model), options_(options) {}

  std::string write() const {
    std::string text = "// Generated from " + schema_file(model_, options_) +
                       " by shoal-schemac: change that file instead.\n#include \"" + options_.include_stem +
                       "_descriptors.hpp\"\n\n#include <cstddef>\n#include <type_traits>\n\n#include \"" +
                       options_.include_stem +
                       ".hpp\"\n#include \"shared/ecs/registry.hpp\"\n\nnamespace {\n\n";
    for (const ComponentModel& component : model_.components) text += fields_text(component);
    text += "constexpr ::shoal::ComponentDescriptor kComponents[] = {\n";
    for (const ComponentModel& component : model_.components) text += component_text(component);
    text += "};\n\n}  // namespace\n\nnamespace " + cpp_name(model_.name_space) + " {\n\n";
    text +=
        "std::span<const ::shoal::ComponentDescriptor> component_descriptors() { return kComponents; }\n\n"
        "void register_components(::shoal::Registry& registry) {\n";
    for (const ComponentModel& component : model_.components) {
      text +=
          "  registry.register_component<::" + cpp_name(component.name) + ">(\"" + component.name + "\");\n";
    }
    return text + "}\n\n}  // namespace " + cpp_name(model_.name_space) + "\n";
  }

 private:
  std::string fields_text(const ComponentModel& component) const {
    const std::string type = "::" + cpp_name(component.name);
    // The codec copies values as bytes and finds the scalars by offset.
    std::string text = "static_assert(std::is_trivially_copyable_v<" + type +
                       "> && std::is_standard_layout_v<" + type + ">);\n";
    if (component.is_tag) return text + "\n";
    text += "constexpr ::shoal::FieldDescriptor k" + last_part(component.name) + "Fields[] = {\n";
    for (const ScalarModel& scalar : component.scalars) {
      const Quantisation& quantisation = scalar.quantisation;
      text += "    {.path = \"" + scalar.path +
              "\",\n     .type = ::shoal::FieldType::" + std::string(cpp_word(quantisation.type)) +
              ",\n     .kind = ::shoal::FieldKind::" + std::string(cpp_word(quantisation.kind)) +
              ",\n     .offset_bytes = static_cast<std::uint16_t>(" + offset_text(scalar) +
              "),\n     .min = " + number_text(quantisation.min) +
              ",\n     .step = " + number_text(quantisation.step) +
              ",\n     .steps = " + std::to_string(quantisation.steps) + "u},\n";
    }
    return text + "};\n\n";
  }

  std::string offset_text(const ScalarModel& scalar) const {
    std::string text;
    for (const PathStep& step : scalar.steps) {
      const std::string owner =
          "::" + cpp_name(model_.declarations.objects[static_cast<std::size_t>(step.object_index)].name);
      if (!text.empty()) text += " + ";
      text += "offsetof(" + owner + ", " + step.member + ")";
      if (step.type->array_length > 0) {
        text += " + " + std::to_string(step.element) + " * sizeof(" + owner + "::" + step.member + "[0])";
      }
    }
    return text;
  }

  static std::string component_text(const ComponentModel& component) {
    const std::string type = "::" + cpp_name(component.name);
    return "    {.name = \"" + component.name + "\",\n     .wire_id = " + hexadecimal(component.wire_id, 8) +
           ",\n     .hash = " + hexadecimal(component.hash, 16) +
           ",\n     .size_bytes = " + (component.is_tag ? "0" : "sizeof(" + type + ")") +
           ",\n     .alignment_bytes = alignof(" + type +
           "),\n     .audience = ::shoal::Audience::" + std::string(cpp_word(component.audience)) +
           ",\n     .interest_position = " + (component.is_interest_position ? "true" : "false") +
           ",\n     .fields = " + (component.is_tag ? "{}" : "k" + last_part(component.name) + "Fields") +
           "},\n";
  }

  const SchemaModel& model_;
  const EmitOptions& options_;
};

}  // namespace

std::string emit_descriptors_header(const SchemaModel& model, const EmitOptions& options) {
  const std::string name_space = cpp_name(model.name_space);
  return "// Generated from " + schema_file(model, options) +
         " by shoal-schemac: change that file instead.\n#pragma once\n\n#include <span>\n\n"
         "#include \"shared/wire/component_descriptor.hpp\"\n\nnamespace shoal {\nclass "
         "Registry;\n}\n\nnamespace " +
         name_space +
         " {\n\n/// Every component of the schema, by name. Lives as long as the program.\n"
         "std::span<const ::shoal::ComponentDescriptor> component_descriptors();\n\n"
         "/// Registers the same components in the same order. REQUIRES: the registry is not frozen.\n"
         "void register_components(::shoal::Registry& registry);\n\n}  // namespace " +
         name_space + "\n";
}

std::string emit_descriptors_source(const SchemaModel& model, const EmitOptions& options) {
  return SourceWriter(model, options).write();
}

}  // namespace shoal::schemac
