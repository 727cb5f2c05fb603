#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/fleet/fleet_part.hpp"

namespace shoal {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

auto config(const FleetOptions& options, const char* variable) {
  const char* const environment[] = {"AGONES_SDK_HTTP_PORTS=1", variable, nullptr};
  return fleet_config(options, environment, 64, "ab12");
}

TEST(FleetConfig, AutoFollowsTheVariable) {
  EXPECT_FALSE(config({}, nullptr)->has_value());
  EXPECT_FALSE(config({}, "AGONES_SDK_HTTP_PORT=")->has_value());
  EXPECT_EQ((*config({}, "AGONES_SDK_HTTP_PORT=1234"))->port, 1234);
}

TEST(FleetConfig, OffAndAgonesDoNotWaitForTheVariable) {
  EXPECT_FALSE(config({.mode = FleetMode::Off}, "AGONES_SDK_HTTP_PORT=1234")->has_value());
  EXPECT_EQ((*config({.mode = FleetMode::Agones}, nullptr))->port, kAgonesPort);
  EXPECT_EQ((*config({.mode = FleetMode::Agones}, "AGONES_SDK_HTTP_PORT=1234"))->port, 1234);
}

TEST(FleetConfig, WrongPortIsRefused) {
  for (const char* variable :
       {"AGONES_SDK_HTTP_PORT=0", "AGONES_SDK_HTTP_PORT=65536", "AGONES_SDK_HTTP_PORT=http"})
    EXPECT_THAT(config({}, variable).error(), HasSubstr("AGONES_SDK_HTTP_PORT"));
}

TEST(FleetConfig, MapIsALabelOfTheCluster) {
  const auto with_map = [](std::string map) {
    return config({.mode = FleetMode::Agones, .map = std::move(map)}, nullptr);
  };
  EXPECT_THAT((*with_map("a-1_b.C"))->plan.labels, Contains(Pair("map", "a-1_b.C")));
  EXPECT_TRUE(with_map(std::string(63, 'x')).ok());
  for (const std::string& map :
       {std::string(64, 'x'), std::string("-a"), std::string("a."), std::string("a b"), std::string("ä")})
    EXPECT_THAT(with_map(map).error(), HasSubstr("--fleet-map")) << map;
}

}  // namespace
}  // namespace shoal
