#include "schema/generator/component_model.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "schema/generator/cpp_names.hpp"
#include "shared/base/hash.hpp"

namespace shoal::schemac {
namespace {

constexpr std::string_view kFieldAttributes[] = {"min", "max", "step", "kind", "entity"};
constexpr std::string_view kStructAttributes[] = {"audience", "interest", "type"};
constexpr std::string_view kTagAttributes[] = {"audience", "tag"};

class ModelBuilder {
 public:
  explicit ModelBuilder(Declarations declarations) { model_.declarations = std::move(declarations); }

  Result<SchemaModel, std::vector<SchemaError>> build() {
    for (const EnumDeclaration& declaration : model_.declarations.enums) check_enum(declaration);
    for (std::size_t i = 0; i < model_.declarations.objects.size(); ++i) add_object(static_cast<int>(i));
    check_whole();
    if (!errors_.empty()) return Failure{std::move(errors_)};
    for (ComponentModel& component : model_.components) component.hash = hash_of(component);
    return std::move(model_);
  }

 private:
  const ObjectDeclaration& object(int index) const {
    return model_.declarations.objects[static_cast<std::size_t>(index)];
  }
  const EnumDeclaration* enumeration(int index) const {
    return index == kNoIndex ? nullptr : &model_.declarations.enums[static_cast<std::size_t>(index)];
  }
  void fail(const std::string& file, std::string name, std::string reason) {
    errors_.push_back({file, std::move(name), std::move(reason)});
  }

  void check_name(const std::string& file, const std::string& full_name) {
    for (const std::string& part : split_name(full_name)) {
      if (const std::string reason = name_fault(part); !reason.empty()) fail(file, full_name, reason);
    }
    if (full_name.size() > kMaxNameBytes) fail(file, full_name, "the name is longer than 255 characters");
  }

  void check_attributes(const std::string& file, const std::string& name, const Attributes& attributes,
                        std::span<const std::string_view> known, std::string_view place) {
    for (const auto& [attribute, value] : attributes) {
      if (std::find(known.begin(), known.end(), attribute) != known.end()) continue;
      std::string reason =
          "attribute \"" + attribute + "\" is unknown on a " + std::string(place) + "; known are";
      for (const std::string_view word : known)
        reason += (word == known.front() ? " " : ", ") + std::string(word);
      fail(file, name, std::move(reason));
    }
  }

  void check_enum(const EnumDeclaration& declaration) {
    if (declaration.is_union) {
      fail(declaration.file, declaration.name,
           "a component cannot hold a union; a schema of components has none");
      return;
    }
    check_name(declaration.file, declaration.name);
    for (const Enumerator& enumerator : declaration.enumerators) {
      if (const std::string reason = name_fault(enumerator.name); !reason.empty()) {
        fail(declaration.file, declaration.name + "." + enumerator.name, reason);
      }
    }
    static constexpr std::string_view kEnumAttributes[] = {"bit_flags"};
    check_attributes(declaration.file, declaration.name, declaration.attributes, kEnumAttributes, "enum");
  }

  void add_object(int index) {
    const ObjectDeclaration& source = object(index);
    check_name(source.file, source.name);
    if (source.is_struct) {
      check_attributes(source.file, source.name, source.attributes, kStructAttributes, "struct");
      for (const FieldDeclaration& field : source.fields) check_field(source, field);
      if (!source.attributes.contains("type")) {
        add_component(index);
        return;
      }
      for (const std::string_view attribute : {"audience", "interest"}) {
        if (source.attributes.contains(attribute)) {
          fail(
              source.file, source.name,
              "attribute \"" + std::string(attribute) + "\" is for components, and (type) says this is none");
        }
      }
      return;
    }
    if (!source.attributes.contains("tag")) {
      fail(source.file, source.name,
           "a component is a struct; a table is only good as an empty tag: table T (tag) {}");
      return;
    }
    check_attributes(source.file, source.name, source.attributes, kTagAttributes, "tag");
    if (!source.fields.empty()) {
      fail(source.file, source.name, "a tag has no fields; with fields it is a struct");
      return;
    }
    add_component(index);
  }

  void check_field(const ObjectDeclaration& owner, const FieldDeclaration& field) {
    const std::string name = owner.name + "." + field.name;
    check_attributes(owner.file, name, field.attributes, kFieldAttributes, "field");
    if (const std::string reason = name_fault(field.name); !reason.empty()) fail(owner.file, name, reason);
    if (field.type.base == BaseType::Struct && field.attributes.contains("entity")) {
      fail(owner.file, name, "attribute \"entity\": an entity is a ulong, this is a struct");
    }
    // A component's own fields are judged with the component; a type may be used by none.
    if (owner.attributes.contains("type") && !is_supported(field.type, field.attributes)) {
      std::vector<std::string> reasons;
      quantise_field(field.type.base, enumeration(field.type.enum_index), field.attributes, reasons);
      for (std::string& reason : reasons) fail(owner.file, name, std::move(reason));
    }
  }

  void add_component(int index) {
    const ObjectDeclaration& source = object(index);
    ComponentModel component{.object_index = index,
                             .name = source.name,
                             .wire_id = fnv1a32(source.name),
                             .hash = 0,
                             .audience = audience_of(source),
                             .is_interest_position = source.attributes.contains("interest"),
                             .is_tag = !source.is_struct,
                             .scalars = {}};
    const std::size_t faults_before = errors_.size();
    std::vector<PathStep> steps;
    flatten(component, index, "", {}, steps);
    if (component.is_interest_position && errors_.size() == faults_before) check_interest(component, source);
    model_.components.push_back(std::move(component));
  }

  Audience audience_of(const ObjectDeclaration& source) {
    const auto found = source.attributes.find("audience");
    if (found == source.attributes.end() || found->second == "everyone") return Audience::Everyone;
    if (found->second == "team") return Audience::Team;
    if (found->second == "owner") return Audience::Owner;
    fail(source.file, source.name,
         "attribute \"audience\": \"" + found->second + "\" is none of everyone, team, owner");
    return Audience::Everyone;
  }

  /// Walks down to the scalars. What an outer field says goes before what the inner one says.
  void flatten(ComponentModel& component, int object_index, const std::string& prefix,
               const Attributes& outer, std::vector<PathStep>& steps) {
    const ObjectDeclaration& source = object(object_index);
    for (const FieldDeclaration& field : source.fields) {
      Attributes attributes = outer;
      attributes.insert(field.attributes.begin(), field.attributes.end());
      if (field.type.base == BaseType::Struct) attributes.erase("entity");
      for (std::uint32_t element = 0; element < std::max(1u, field.type.array_length); ++element) {
        // More than any component may have: the rest would only take memory (two arrays in each other: billions).
        if (component.scalars.size() > kMaxColumns) return;
        std::string path = prefix + field.name;
        if (field.type.array_length > 0) path += "[" + std::to_string(element) + "]";
        steps.push_back({object_index, field.name, element, &field.type});
        if (source.attributes.contains("type") && !is_supported(field.type, field.attributes)) {
          // check_field has reported it.
        } else if (field.type.base == BaseType::Struct) {
          const std::size_t scalars_before = component.scalars.size();
          flatten(component, field.type.object_index, path + ".", attributes, steps);
          if (component.scalars.size() == scalars_before)
            element = field.type.array_length;  // nor do the others
        } else if (!add_scalar(component, field, path, attributes, steps)) {
          element = field.type.array_length;  // one report for all elements
        }
        steps.pop_back();
      }
    }
  }

  bool add_scalar(ComponentModel& component, const FieldDeclaration& field, const std::string& path,
                  const Attributes& attributes, const std::vector<PathStep>& steps) {
    const std::string& file = object(component.object_index).file;
    std::vector<std::string> reasons;
    const Quantisation quantisation =
        quantise_field(field.type.base, enumeration(field.type.enum_index), attributes, reasons);
    if (path.size() > kMaxNameBytes) reasons.push_back("the path is longer than 255 characters");
    for (std::string& reason : reasons) fail(file, component.name + "." + path, std::move(reason));
    component.scalars.push_back({path, steps, field.type.enum_index, quantisation});
    return reasons.empty();
  }

  void check_interest(const ComponentModel& component, const ObjectDeclaration& source) {
    const auto positions = std::count_if(
        component.scalars.begin(), component.scalars.end(),
        [](const ScalarModel& scalar) { return scalar.quantisation.kind == FieldKind::Position; });
    if (positions != 2 && positions != 3) {
      fail(source.file, source.name,
           "attribute \"interest\": needs two or three fields of kind \"position\", has " +
               std::to_string(positions));
    }
  }

  void check_whole() {
    const std::string file = model_.declarations.files.empty() ? "schema" : model_.declarations.files.front();
    if (model_.components.empty() && errors_.empty()) fail(file, "schema", "it declares no component");
    std::map<std::uint32_t, std::string> names_by_wire_id;
    std::string interest;
    for (const ComponentModel& component : model_.components) {
      const ObjectDeclaration& source = object(component.object_index);
      const auto [other, is_new] = names_by_wire_id.emplace(component.wire_id, component.name);
      if (!is_new) {
        fail(source.file, component.name,
             "its wire id is also that of " + other->second + ": rename one of them");
      }
      if (component.is_interest_position) {
        if (!interest.empty()) {
          fail(source.file, component.name,
               "attribute \"interest\": " + interest + " has it already; one places the entity");
        }
        interest = component.name;
      }
      check_namespace(component, source);
      check_size(component, source);
    }
  }

  void check_namespace(const ComponentModel& component, const ObjectDeclaration& source) {
    const std::string name_space = namespace_of(component.name);
    if (name_space.empty()) {
      fail(source.file, component.name,
           "components lie in a namespace: write `namespace my_game;` above them");
      return;
    }
    if (model_.name_space.empty()) model_.name_space = name_space;
    if (model_.name_space != name_space) {
      fail(source.file, component.name,
           "another namespace than " + model_.name_space +
               ": all components of one schema share theirs (types may lie elsewhere)");
    }
    const std::string word = split_name(component.name).back();
    if (word == "component_descriptors" || word == "register_components") {
      fail(source.file, component.name, "the generated code has a function of that name");
    }
  }

  void check_size(const ComponentModel& component, const ObjectDeclaration& source) {
    std::size_t columns = 0;
    for (const ScalarModel& scalar : component.scalars) {
      columns += scalar.quantisation.type == FieldType::Entity ? 2 : 1;
    }
    if (columns > kMaxColumns) {
      fail(source.file, component.name,
           "has " + std::to_string(columns) + " scalars or more (an entity counts two), at most " +
               std::to_string(kMaxColumns) + " fit: split it");
    }
    const std::size_t bits = worst_case_bits(component, model_.components.size());
    if (bits <= kMaxComponentBits) return;
    fail(source.file, component.name,
         "needs up to " + std::to_string(bits) + " bits in a datagram, where " +
             std::to_string(kMaxComponentBits) + " have room: narrow its fields or split it");
  }

  /// Everything that server and client must agree on, as text. Enumerators too: their order is their meaning.
  std::uint64_t hash_of(const ComponentModel& component) const {
    std::string text = component.name + ";audience=" + std::to_string(static_cast<int>(component.audience)) +
                       ";interest=" + std::to_string(component.is_interest_position) +
                       ";tag=" + std::to_string(component.is_tag);
    for (const ScalarModel& scalar : component.scalars) {
      const Quantisation& quantisation = scalar.quantisation;
      text += ";" + scalar.path + ":" + std::to_string(static_cast<int>(quantisation.type)) + ":" +
              std::to_string(static_cast<int>(quantisation.kind)) + ":" + number_text(quantisation.min) +
              ":" + number_text(quantisation.step) + ":" + std::to_string(quantisation.steps);
      if (const EnumDeclaration* values = enumeration(scalar.enum_index)) {
        for (const Enumerator& value : values->enumerators) {
          text += "," + value.name + "=" + std::to_string(value.value);
        }
      }
    }
    return fnv1a64(text);
  }

  SchemaModel model_;
  std::vector<SchemaError> errors_;
};

}  // namespace

std::size_t worst_case_bits(const ComponentModel& component, std::size_t component_count) {
  std::size_t bits = kBlockBits + 2 * component_count;
  for (const ScalarModel& scalar : component.scalars) bits += value_bits(scalar.quantisation) + 1;
  return bits;
}

Result<SchemaModel, std::vector<SchemaError>> build_model(Declarations declarations) {
  return ModelBuilder(std::move(declarations)).build();
}

}  // namespace shoal::schemac
