#include "schema/generator/quantisation.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

namespace shoal::schemac {
namespace {

struct IntegerType {
  BaseType base;
  FieldType field;
  std::int64_t least;
  std::int64_t greatest;
};
constexpr IntegerType kIntegerTypes[] = {
    {BaseType::Int8, FieldType::Int8, -128, 127},
    {BaseType::Uint8, FieldType::Uint8, 0, 255},
    {BaseType::Int16, FieldType::Int16, -32768, 32767},
    {BaseType::Uint16, FieldType::Uint16, 0, 65535},
    {BaseType::Int32, FieldType::Int32, std::numeric_limits<std::int32_t>::min(),
     std::numeric_limits<std::int32_t>::max()},
    {BaseType::Uint32, FieldType::Uint32, 0, std::numeric_limits<std::uint32_t>::max()},
};
const IntegerType* integer_type_of(BaseType base) {
  for (const IntegerType& type : kIntegerTypes) {
    if (type.base == base) return &type;
  }
  return nullptr;
}

struct KindWord {
  std::string_view word;
  FieldKind kind;
};
constexpr KindWord kKindWords[] = {{"plain", FieldKind::Plain},
                                   {"position", FieldKind::Position},
                                   {"velocity", FieldKind::Velocity},
                                   {"angle", FieldKind::Angle},
                                   {"enum", FieldKind::Enum}};

const std::string* find(const Attributes& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? nullptr : &found->second;
}

std::string attribute_text(std::string_view name) {
  return "attribute \"" + std::string(name) + "\": ";
}

void refuse(const Attributes& attributes, std::string_view name, std::string_view why,
            std::vector<std::string>& reasons) {
  if (find(attributes, name) != nullptr) reasons.push_back(attribute_text(name) + std::string(why));
}

std::optional<double> read_float(const Attributes& attributes, std::string_view name,
                                 std::vector<std::string>& reasons) {
  const std::string* text = find(attributes, name);
  if (text == nullptr) return std::nullopt;
  double value = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) {
    reasons.push_back(attribute_text(name) + "\"" + *text + "\" is not a number");
    return std::nullopt;
  }
  if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
    reasons.push_back(attribute_text(name) + *text + " does not fit float");
    return std::nullopt;
  }
  return value;
}

/// The limit that the attribute states, else `otherwise`.
std::int64_t read_integer_limit(const Attributes& attributes, std::string_view name, const IntegerType& type,
                                std::int64_t otherwise, std::vector<std::string>& reasons) {
  const std::string* text = find(attributes, name);
  if (text == nullptr) return otherwise;
  std::int64_t value = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  const bool is_whole = stop == end && !text->empty();
  if (!is_whole || (error != std::errc() && error != std::errc::result_out_of_range)) {
    reasons.push_back(attribute_text(name) + "\"" + *text + "\" is not a whole number");
    return otherwise;
  }
  if (error == std::errc::result_out_of_range || value < type.least || value > type.greatest) {
    reasons.push_back(attribute_text(name) + *text + " does not fit " + std::string(schema_word(type.base)) +
                      " (" + std::to_string(type.least) + " … " + std::to_string(type.greatest) + ")");
    return otherwise;
  }
  return value;
}

FieldKind read_kind(const Attributes& attributes, std::vector<std::string>& reasons) {
  const std::string* text = find(attributes, "kind");
  if (text == nullptr) return FieldKind::Plain;
  for (const KindWord& entry : kKindWords) {
    if (entry.word == *text) return entry.kind;
  }
  reasons.push_back(attribute_text("kind") + "\"" + *text +
                    "\" is none of plain, position, velocity, angle, enum");
  return FieldKind::Plain;
}

Quantisation quantise_integer(const IntegerType& type, const Attributes& attributes,
                              std::vector<std::string>& reasons) {
  refuse(attributes, "step", "whole numbers always step by 1; only float fields have it", reasons);
  refuse(attributes, "entity", "an entity is a ulong, this is " + std::string(schema_word(type.base)),
         reasons);
  const std::int64_t least = read_integer_limit(attributes, "min", type, type.least, reasons);
  const std::int64_t greatest = read_integer_limit(attributes, "max", type, type.greatest, reasons);
  if (least >= greatest) {
    reasons.push_back("the range " + std::to_string(least) + " … " + std::to_string(greatest) +
                      " is empty: min must be less than max");
    return {};
  }
  return {.type = type.field,
          .kind = read_kind(attributes, reasons),
          .min = static_cast<double>(least),
          .step = 1,
          .steps = static_cast<std::uint32_t>(greatest - least)};
}

/// Steps that cover the range evenly, both ends exact, none coarser than the schema bears.
void divide_range(double min, double max, double step, Quantisation& result,
                  std::vector<std::string>& reasons) {
  const std::string range = number_text(min) + " … " + number_text(max);
  if (!(min < max)) {
    reasons.push_back("the range " + range + " is empty: min must be less than max");
    return;
  }
  if (!(step > 0) || step > max - min) {
    reasons.push_back(attribute_text("step") + number_text(step) +
                      (step > 0 ? " is wider than the range " + range : " must be greater than 0"));
    return;
  }
  const double exact_steps = (max - min) / step;
  if (exact_steps > kMaxFloatSteps) {
    reasons.push_back(attribute_text("step") + number_text(step) + " cuts the range " + range +
                      " into more than 16777216 steps: take a coarser step, or leave min, max and step out");
    return;
  }
  // A value is rounded to float once. Below two units of the last place it might not find its step again.
  const auto largest = static_cast<float>(std::max(std::abs(min), std::abs(max)));
  const double unit = static_cast<double>(std::nextafter(largest, std::numeric_limits<float>::infinity())) -
                      static_cast<double>(largest);
  if (step < 2 * unit) {
    reasons.push_back(attribute_text("step") + number_text(step) + " is finer than a float holds near " +
                      number_text(static_cast<double>(largest)) + ": take at least " + number_text(2 * unit));
    return;
  }
  const double nearest = std::round(exact_steps);
  const bool is_whole = std::abs(exact_steps - nearest) < 1e-6;
  const double steps = is_whole ? nearest : std::ceil(exact_steps);
  result.min = min;
  result.step = is_whole ? step : (max - min) / steps;
  result.steps = static_cast<std::uint32_t>(steps);
}

Quantisation quantise_float(const Attributes& attributes, std::vector<std::string>& reasons) {
  refuse(attributes, "entity", "an entity is a ulong, this is float", reasons);
  Quantisation result{.type = FieldType::Float, .kind = read_kind(attributes, reasons)};
  if (result.kind == FieldKind::Enum) {
    reasons.push_back(attribute_text("kind") + "\"enum\" is for whole numbers, this is float");
  }
  const std::size_t faults_before = reasons.size();
  const std::optional<double> min = read_float(attributes, "min", reasons);
  const std::optional<double> max = read_float(attributes, "max", reasons);
  const std::optional<double> step = read_float(attributes, "step", reasons);
  if (reasons.size() > faults_before) return result;
  if (min && max && step) {
    divide_range(*min, *max, *step, result, reasons);
  } else if (min || max || step) {
    reasons.push_back(
        "a quantised float needs min, max and step; one without any of them is sent as 32 bits");
  } else if (result.kind == FieldKind::Angle) {
    reasons.push_back(attribute_text("kind") +
                      "an angle wraps at the ends of its range: state min, max and step");
  }
  return result;
}

Quantisation quantise_enum(BaseType base, const EnumDeclaration& enumeration, const Attributes& attributes,
                           std::vector<std::string>& reasons) {
  for (const std::string_view name : {"min", "max", "step", "kind", "entity"}) {
    refuse(attributes, name, "the enum " + enumeration.name + " says it already", reasons);
  }
  const IntegerType* type = integer_type_of(base);
  if (type == nullptr || base == BaseType::Int32 || base == BaseType::Uint32) {
    reasons.push_back("the enum " + enumeration.name + " is of type " + std::string(schema_word(base)) +
                      "; supported are byte, ubyte, short and ushort");
    return {};
  }
  std::int64_t least = enumeration.enumerators.front().value;
  std::int64_t greatest = enumeration.enumerators.back().value;
  if (enumeration.attributes.contains("bit_flags")) {  // any combination of the flags is a value
    least = 0;
    greatest = 0;
    for (const Enumerator& flag : enumeration.enumerators) greatest |= flag.value;
  }
  return {.type = type->field,
          .kind = FieldKind::Enum,
          .min = static_cast<double>(least),
          .step = 1,
          .steps = static_cast<std::uint32_t>(greatest - least)};
}

}  // namespace

std::string number_text(double value) {
  char buffer[64];
  const auto [end, error] = std::to_chars(std::begin(buffer), std::end(buffer), value);
  return error == std::errc() ? std::string(buffer, end) : std::string("0");
}

unsigned value_bits(const Quantisation& quantisation) {
  if (quantisation.type == FieldType::Entity) return 64;
  if (quantisation.type == FieldType::Float && quantisation.steps == 0) return 32;
  return std::max(1u, static_cast<unsigned>(std::bit_width(quantisation.steps)));
}

bool is_supported(const TypeReference& type, const Attributes& attributes) {
  if (type.enum_index != kNoIndex) return type.base <= BaseType::Uint16;
  if (type.base == BaseType::Uint64) return attributes.contains("entity");
  return type.base <= BaseType::Uint32 || type.base == BaseType::Float || type.base == BaseType::Struct;
}

Quantisation quantise_field(BaseType base, const EnumDeclaration* enumeration, const Attributes& attributes,
                            std::vector<std::string>& reasons) {
  if (enumeration != nullptr) return quantise_enum(base, *enumeration, attributes, reasons);
  if (const IntegerType* type = integer_type_of(base)) return quantise_integer(*type, attributes, reasons);
  if (base == BaseType::Float) return quantise_float(attributes, reasons);
  if (base == BaseType::Bool) {
    for (const std::string_view name : {"min", "max", "step", "kind", "entity"}) {
      refuse(attributes, name, "a bool has no use for it", reasons);
    }
    return {.type = FieldType::Bool, .kind = FieldKind::Plain, .min = 0, .step = 1, .steps = 1};
  }
  if (base == BaseType::Uint64 && attributes.contains("entity")) {
    for (const std::string_view name : {"min", "max", "step", "kind"}) {
      refuse(attributes, name, "an entity has no use for it", reasons);
    }
    return {.type = FieldType::Entity, .kind = FieldKind::Plain, .min = 0, .step = 0, .steps = 0};
  }
  std::string reason = "the type " + std::string(schema_word(base)) + " is not supported";
  if (base == BaseType::Uint64) reason += "; mark it (entity) if it names an entity, else take uint";
  if (base == BaseType::Int64) reason += "; take int";
  if (base == BaseType::Double) reason += "; take float";
  reasons.push_back(std::move(reason));
  return {};
}

}  // namespace shoal::schemac
