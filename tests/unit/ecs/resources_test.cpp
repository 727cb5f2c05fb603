#include "shared/ecs/resources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

struct Score {
  int red = 0;
  int blue = 0;
};

TEST(Resources, OneValuePerType) {
  Registry registry;
  EXPECT_EQ(registry.resources().try_get<Score>(), nullptr);
  Score& score = registry.resources().emplace<Score>(1, 2);
  registry.resources().emplace<std::string>("map");
  EXPECT_EQ(&registry.resources().get<Score>(), &score);
  EXPECT_EQ(std::as_const(registry).resources().get<Score>().blue, 2);
  EXPECT_EQ(registry.resources().get<std::string>(), "map");
  EXPECT_TRUE(registry.resources().erase<Score>());
  EXPECT_FALSE(registry.resources().erase<Score>());
  EXPECT_EQ(registry.resources().try_get<Score>(), nullptr);
}

TEST(Resources, ATypeMayBeComponentAndResource) {
  World world;
  world.resources().emplace<Position>(1.0f, 2.0f);
  world.emplace<Position>(world.create(), 3.0f, 4.0f);
  EXPECT_EQ(world.resources().get<Position>().x, 1.0f);
}

TEST(Resources, EndInTheOppositeOrderOfTheirMaking) {
  std::vector<int> ended;
  struct First {
    std::vector<int>* ended;
    ~First() { ended->push_back(1); }
  };
  struct Second {
    std::vector<int>* ended;
    ~Second() { ended->push_back(2); }
  };
  {
    Resources resources;
    resources.emplace<First>(&ended);
    resources.emplace<Second>(&ended);
  }
  EXPECT_THAT(ended, testing::ElementsAre(2, 1));
}

}  // namespace
}  // namespace shoal::test
