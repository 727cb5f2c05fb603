#include "shared/wire/quantise.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace shoal {
namespace {

template <class T>
T load(const std::byte* source) {
  T value;
  std::memcpy(&value, source, sizeof value);
  return value;
}

template <class T>
void store(std::byte* target, T value) {
  std::memcpy(target, &value, sizeof value);
}

template <class T>
std::uint32_t quantise_integer(const FieldDescriptor& field, const std::byte* source) {
  const auto above_min = static_cast<std::int64_t>(load<T>(source)) - static_cast<std::int64_t>(field.min);
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(above_min, 0, field.steps));
}

std::uint32_t quantise_float(const FieldDescriptor& field, float value) {
  if (field.step == 0) return std::bit_cast<std::uint32_t>(value);
  const double steps_above_min = (static_cast<double>(value) - field.min) / field.step + 0.5;
  if (!(steps_above_min > 0)) return 0;  // NaN too
  return steps_above_min >= field.steps ? field.steps : static_cast<std::uint32_t>(steps_above_min);
}

template <class T>
void dequantise_integer(const FieldDescriptor& field, std::uint32_t steps, std::byte* target) {
  store(target, static_cast<T>(static_cast<std::int64_t>(field.min) + steps));
}

}  // namespace

unsigned column_bits(const FieldDescriptor& field) {
  const bool is_raw = field.type == FieldType::Entity || (field.type == FieldType::Float && field.step == 0);
  return is_raw ? 32 : std::max(1u, static_cast<unsigned>(std::bit_width(field.steps)));
}

void quantise(const FieldDescriptor& field, const std::byte* aggregate, std::uint32_t* target) {
  const std::byte* source = aggregate + field.offset_bytes;
  switch (field.type) {
    case FieldType::Bool:
      *target = load<std::uint8_t>(source) != 0 ? 1 : 0;
      return;
    case FieldType::Int8:
      *target = quantise_integer<std::int8_t>(field, source);
      return;
    case FieldType::Uint8:
      *target = quantise_integer<std::uint8_t>(field, source);
      return;
    case FieldType::Int16:
      *target = quantise_integer<std::int16_t>(field, source);
      return;
    case FieldType::Uint16:
      *target = quantise_integer<std::uint16_t>(field, source);
      return;
    case FieldType::Int32:
      *target = quantise_integer<std::int32_t>(field, source);
      return;
    case FieldType::Uint32:
      *target = quantise_integer<std::uint32_t>(field, source);
      return;
    case FieldType::Float:
      *target = quantise_float(field, load<float>(source));
      return;
    case FieldType::Entity:
      std::memcpy(target, source, 8);
      return;
  }
}

void dequantise(const FieldDescriptor& field, const std::uint32_t* source, std::byte* aggregate) {
  std::byte* target = aggregate + field.offset_bytes;
  const std::uint32_t steps = std::min(*source, field.steps);
  switch (field.type) {
    case FieldType::Bool:
      store<std::uint8_t>(target, steps != 0);
      return;
    case FieldType::Int8:
      dequantise_integer<std::int8_t>(field, steps, target);
      return;
    case FieldType::Uint8:
      dequantise_integer<std::uint8_t>(field, steps, target);
      return;
    case FieldType::Int16:
      dequantise_integer<std::int16_t>(field, steps, target);
      return;
    case FieldType::Uint16:
      dequantise_integer<std::uint16_t>(field, steps, target);
      return;
    case FieldType::Int32:
      dequantise_integer<std::int32_t>(field, steps, target);
      return;
    case FieldType::Uint32:
      dequantise_integer<std::uint32_t>(field, steps, target);
      return;
    case FieldType::Float:
      store(target, field.step == 0 ? std::bit_cast<float>(*source)
                                    : static_cast<float>(field.min + field.step * steps));
      return;
    case FieldType::Entity:
      std::memcpy(target, source, 8);
      return;
  }
}

}  // namespace shoal
