// Points, directions and angles on the ground. Only + - * / and sqrt, which IEEE 754 defines to the last bit:
// the sine of a C library differs from machine to machine, and the same seed must give the same world on all
// of them. Angles are degrees from the x axis towards the y axis, -180 to 180, as `Heading` has them.
#pragma once

#include <cmath>
#include <cstdint>

namespace shoal::demo {

struct Vector2 {
  float x = 0;
  float y = 0;

  friend constexpr bool operator==(Vector2, Vector2) = default;
  friend constexpr Vector2 operator+(Vector2 a, Vector2 b) { return {a.x + b.x, a.y + b.y}; }
  friend constexpr Vector2 operator-(Vector2 a, Vector2 b) { return {a.x - b.x, a.y - b.y}; }
  friend constexpr Vector2 operator*(Vector2 a, float factor) { return {a.x * factor, a.y * factor}; }
  constexpr float squared_length() const { return x * x + y * y; }
};

inline float length(Vector2 v) {
  return std::sqrt(v.squared_length());
}

/// The same direction with length 1; zero stays zero.
inline Vector2 normalised(Vector2 v) {
  const float size = length(v);
  return size > 0 ? v * (1 / size) : Vector2{};
}

/// Squared distance from `point` to the segment between `a` and `b`.
constexpr float squared_distance_to_segment(Vector2 point, Vector2 a, Vector2 b) {
  const Vector2 along = b - a;
  const Vector2 to_point = point - a;
  const float size = along.squared_length();
  float part = size > 0 ? (to_point.x * along.x + to_point.y * along.y) / size : 0;
  part = part < 0 ? 0 : part > 1 ? 1 : part;
  return (to_point - along * part).squared_length();
}

/// The same angle in -180 to 180. Takes up to some thousand turns; beyond that a float has no degrees left.
constexpr float wrapped_degrees(float degrees) {
  const float turns = degrees / 360;
  const auto nearest = static_cast<float>(static_cast<std::int32_t>(turns + (turns < 0 ? -0.5f : 0.5f)));
  return degrees - 360 * nearest;
}

/// Taylor's series up to x^9: off by less than 4e-6 between -90 and 90 degrees, where all angles are folded
/// to.
constexpr float sine(float degrees) {
  float folded = wrapped_degrees(degrees);
  if (folded > 90) folded = 180 - folded;
  if (folded < -90) folded = -180 - folded;
  const float x = folded * 0.017453292519943295f;
  const float xx = x * x;
  return x * (1 - xx / 6 * (1 - xx / 20 * (1 - xx / 42 * (1 - xx / 72))));
}
constexpr float cosine(float degrees) {
  return sine(wrapped_degrees(degrees) + 90);
}

/// The direction of length 1 at this angle.
constexpr Vector2 direction_of(float degrees) {
  return {cosine(degrees), sine(degrees)};
}

/// The angle of a direction; 0 for the zero vector. Arc tangent by a polynomial of degree 11 (Hastings 1955):
/// off by less than 0.001 degrees.
constexpr float angle_of(Vector2 v) {
  const float width = v.x < 0 ? -v.x : v.x;
  const float height = v.y < 0 ? -v.y : v.y;
  const bool steep = height > width;
  const float large = steep ? height : width;
  if (!(large > 0)) return 0;
  const float ratio = (steep ? width : height) / large;
  const float rr = ratio * ratio;
  const float radians =
      ratio *
      (0.99997726f + rr * (-0.33262347f +
                           rr * (0.19354346f + rr * (-0.11643287f + rr * (0.05265332f - rr * 0.01172120f)))));
  float degrees = radians * 57.29577951308232f;
  if (steep) degrees = 90 - degrees;
  if (v.x < 0) degrees = 180 - degrees;
  return v.y < 0 ? -degrees : degrees;
}

}  // namespace shoal::demo
