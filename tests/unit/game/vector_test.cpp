#include "shared/game/vector.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace shoal::demo {
namespace {

TEST(Vector, SineAndCosineAgreeWithTheLibrary) {
  for (float degrees = -1000; degrees <= 1000; degrees += 0.37f) {
    const double radians = static_cast<double>(degrees) * std::numbers::pi / 180;
    ASSERT_NEAR(static_cast<double>(sine(degrees)), std::sin(radians), 1e-5) << degrees;
    ASSERT_NEAR(static_cast<double>(cosine(degrees)), std::cos(radians), 1e-5) << degrees;
  }
}

TEST(Vector, AngleAgreesWithTheLibraryInAllQuadrants) {
  for (float degrees = -179.9f; degrees < 180; degrees += 0.7f) {
    for (const float size : {0.001f, 1.0f, 1000.0f}) {
      ASSERT_NEAR(angle_of(direction_of(degrees) * size), degrees, 0.01f);
    }
  }
  EXPECT_EQ(angle_of({}), 0);
  EXPECT_EQ(angle_of({1, 0}), 0);
  EXPECT_NEAR(angle_of({0, 2}), 90, 1e-3f);
  EXPECT_NEAR(angle_of({-1, 0}), 180, 1e-3f);
  EXPECT_NEAR(angle_of({0, -1}), -90, 1e-3f);
}

TEST(Vector, AngleStaysWithinAHalfTurn) {
  for (float x = -1; x <= 1; x += 0.125f) {
    for (float y = -1; y <= 1; y += 0.125f) {
      ASSERT_LE(angle_of({x, y}), 180);
      ASSERT_GE(angle_of({x, y}), -180);
    }
  }
}

TEST(Vector, WrappedDegreesNameTheSameAngle) {
  EXPECT_EQ(wrapped_degrees(0), 0);
  EXPECT_EQ(wrapped_degrees(370), 10);
  EXPECT_EQ(wrapped_degrees(-190), 170);
  EXPECT_EQ(wrapped_degrees(720), 0);
  EXPECT_EQ(std::fabs(wrapped_degrees(180)), 180);
}

TEST(Vector, NormalisedZeroStaysZero) {
  EXPECT_EQ(normalised({}), Vector2{});
  EXPECT_NEAR(length(normalised({3, -4})), 1, 1e-6f);
}

TEST(Vector, DistanceToSegmentCountsTheNearestPointOfIt) {
  EXPECT_EQ(squared_distance_to_segment({5, 3}, {0, 0}, {10, 0}), 9);
  EXPECT_EQ(squared_distance_to_segment({-3, 4}, {0, 0}, {10, 0}), 25);
  EXPECT_EQ(squared_distance_to_segment({13, 4}, {0, 0}, {10, 0}), 25);
  EXPECT_EQ(squared_distance_to_segment({3, 4}, {0, 0}, {0, 0}), 25);
}

}  // namespace
}  // namespace shoal::demo
