#include "shared/wire/quantise.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "shared/base/random.hpp"

namespace shoal {
namespace {

constexpr FieldDescriptor float_field(double min, double step, std::uint32_t steps) {
  return {"x", FieldType::Float, FieldKind::Plain, 0, min, step, steps};
}

std::uint32_t quantise_value(const FieldDescriptor& field, float value) {
  std::array<std::byte, 4> aggregate;
  std::memcpy(aggregate.data(), &value, 4);
  std::uint32_t result = 0;
  quantise(field, aggregate.data(), &result);
  return result;
}

float dequantise_value(const FieldDescriptor& field, std::uint32_t steps) {
  std::array<std::byte, 4> aggregate{};
  dequantise(field, &steps, aggregate.data());
  float value = 0;
  std::memcpy(&value, aggregate.data(), 4);
  return value;
}

TEST(Quantise, DequantisedValueQuantisesBack) {
  const FieldDescriptor fields[] = {float_field(-1024, 0.01, 204800), float_field(0, 1.0 / 3, 300),
                                    float_field(-3.15, 0.0001, 63000), float_field(1000, 0.25, 4000)};
  for (const auto& field : fields) {
    for (std::uint32_t q = 0; q <= field.steps; ++q) {
      ASSERT_EQ(quantise_value(field, dequantise_value(field, q)), q) << "min " << field.min;
    }
  }
}

TEST(Quantise, NearestStepIsTaken) {
  const auto field = float_field(-10, 0.5, 40);
  EXPECT_EQ(quantise_value(field, -10.0f), 0u);
  EXPECT_EQ(quantise_value(field, -9.8f), 0u);
  EXPECT_EQ(quantise_value(field, -9.7f), 1u);
  EXPECT_EQ(quantise_value(field, 10.0f), 40u);
}

TEST(Quantise, EveryFloatHasAnAnswer) {
  const auto field = float_field(-10, 0.5, 40);
  EXPECT_EQ(quantise_value(field, std::numeric_limits<float>::quiet_NaN()), 0u);
  EXPECT_EQ(quantise_value(field, std::numeric_limits<float>::infinity()), 40u);
  EXPECT_EQ(quantise_value(field, -std::numeric_limits<float>::infinity()), 0u);
  EXPECT_EQ(quantise_value(field, 1e30f), 40u);
}

TEST(Quantise, FloatWithoutAStepKeepsItsBits) {
  const auto field = float_field(0, 0, 0);
  for (const float value : {0.1f, -3e20f, 1e-40f}) {
    EXPECT_EQ(dequantise_value(field, quantise_value(field, value)), value);
  }
  EXPECT_EQ(column_bits(field), 32u);
}

TEST(Quantise, IntegersAreClampedToTheRangeOfTheSchema) {
  const FieldDescriptor field{"hp", FieldType::Int16, FieldKind::Plain, 2, -5, 1, 15};
  EXPECT_EQ(column_bits(field), 4u);
  for (int value = -40; value <= 40; ++value) {
    std::array<std::byte, 4> aggregate{};
    const auto narrow = static_cast<std::int16_t>(value);
    std::memcpy(aggregate.data() + 2, &narrow, 2);
    std::uint32_t q = 0;
    quantise(field, aggregate.data(), &q);
    EXPECT_EQ(q, static_cast<std::uint32_t>(std::clamp(value, -5, 10) + 5));
    dequantise(field, &q, aggregate.data());
    std::int16_t back = 0;
    std::memcpy(&back, aggregate.data() + 2, 2);
    EXPECT_EQ(back, std::clamp(value, -5, 10));
  }
}

TEST(Quantise, Uint32HoldsItsWholeRange) {
  const FieldDescriptor field{"n", FieldType::Uint32, FieldKind::Plain, 0, 0, 1, 0xFFFFFFFF};
  EXPECT_EQ(column_bits(field), 32u);
  std::array<std::byte, 4> aggregate{};
  const std::uint32_t value = 0xFFFFFFFE;
  dequantise(field, &value, aggregate.data());
  std::uint32_t q = 0;
  quantise(field, aggregate.data(), &q);
  EXPECT_EQ(q, value);
}

TEST(Quantise, EntityTakesTwoColumns) {
  const FieldDescriptor field{"target", FieldType::Entity, FieldKind::Plain, 8, 0, 0, 0};
  EXPECT_EQ(column_count(field.type), 2u);
  std::array<std::byte, 16> aggregate{};
  const std::uint32_t id[2] = {77, 3};
  dequantise(field, id, aggregate.data());
  std::uint32_t back[2] = {};
  quantise(field, aggregate.data(), back);
  EXPECT_EQ(back[0], 77u);
  EXPECT_EQ(back[1], 3u);
}

}  // namespace
}  // namespace shoal
