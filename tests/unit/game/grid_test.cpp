#include "shared/game/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "shared/base/random.hpp"

namespace shoal::demo {
namespace {

std::vector<std::uint32_t> near(const BodyGrid& grid, Vector2 centre, float radius) {
  std::vector<std::uint32_t> found;
  grid.for_each_near(centre, radius, [&](const Body& body) {
    if ((body.position - centre).squared_length() <= radius * radius) found.push_back(body.entity.index);
  });
  std::sort(found.begin(), found.end());
  return found;
}

TEST(BodyGrid, FindsWhatALookAtAllOfThemFinds) {
  Random random(5);
  for (const float half_size : {10.0f, 32.0f, 333.3f}) {
    BodyGrid grid;
    std::vector<Body> bodies;
    for (std::uint32_t i = 0; i < 500; ++i) {
      const float x = random.uniform(-half_size, half_size);
      const float y = random.uniform(-half_size, half_size);
      bodies.push_back({Entity{i, 1}, {x, y}, 0});
    }
    grid.build(bodies, half_size);
    EXPECT_EQ(grid.size(), bodies.size());
    for (int round = 0; round < 200; ++round) {
      const float x = random.uniform(-half_size * 1.2f, half_size * 1.2f);
      const float y = random.uniform(-half_size * 1.2f, half_size * 1.2f);
      const float radius = random.uniform(0, 30);
      std::vector<std::uint32_t> expected;
      for (const Body& body : bodies) {
        const bool inside = (body.position - Vector2{x, y}).squared_length() <= radius * radius;
        if (inside) expected.push_back(body.entity.index);
      }
      ASSERT_EQ(near(grid, {x, y}, radius), expected);
    }
  }
}

TEST(BodyGrid, BodiesOutsideTheWorldCountToTheBorder) {
  BodyGrid grid;
  const std::vector<Body> bodies{{Entity{1, 1}, {1000, 0}, 0}, {Entity{2, 1}, {-1000, -1000}, 0}};
  grid.build(bodies, 50);
  EXPECT_EQ(near(grid, {990, 0}, 20), std::vector<std::uint32_t>{1});
  EXPECT_EQ(near(grid, {-1000, -1000}, 1), std::vector<std::uint32_t>{2});
}

TEST(BodyGrid, EmptyAndUnbuiltGridsFindNobody) {
  BodyGrid grid;
  EXPECT_TRUE(near(grid, {}, 100).empty());
  grid.build({}, 50);
  EXPECT_TRUE(near(grid, {}, 100).empty());
}

TEST(BodyGrid, KeepsTheGivenOrderWithinASquare) {
  BodyGrid grid;
  const std::vector<Body> bodies{
      {Entity{3, 1}, {1, 1}, 0}, {Entity{1, 1}, {1, 1}, 0}, {Entity{2, 1}, {1, 1}, 0}};
  grid.build(bodies, 50);
  std::vector<std::uint32_t> order;
  grid.for_each_near({1, 1}, 0.5f, [&](const Body& body) { order.push_back(body.entity.index); });
  EXPECT_EQ(order, (std::vector<std::uint32_t>{3, 1, 2}));
}

}  // namespace
}  // namespace shoal::demo
