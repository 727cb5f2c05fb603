// docs/image.md is true: its examples are what the code writes, and the code reads them.
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "image_world.hpp"
#include "shared/image/image_file.hpp"
#include "shared/image/json.hpp"

namespace shoal {
namespace {

using namespace test;

std::string document() {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind("tests/unit/image/")) + "docs/image.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What stands between "```<name>" and "```".
std::string example(const std::string& name) {
  const std::string text = document();
  const std::string fence = "```" + name + "\n";
  const std::size_t start = text.find(fence);
  if (start == std::string::npos) return {};
  const std::size_t first = start + fence.size();
  return text.substr(first, text.find("```", first) - first);
}

TEST(ImageDocument, HeaderIsWrittenByteForByte) {
  ImageWorld world;
  world.destroy(world.create());
  const auto image = saved(world);
  std::string hex;
  for (std::size_t i = 0; i < kImageHeaderBytes; ++i) {
    fmt::format_to(std::back_inserter(hex), "{:02x}{}", std::to_integer<unsigned>(image[i]),
                   i == 15 || i == 23 || i == 31 ? '\n' : ' ');
  }
  EXPECT_EQ(example("hex header"), hex);
}

TEST(ImageDocument, WorldIsWrittenAndReadAsShown) {
  ImageWorld world, copy;
  const Entity gone = world.create();
  const Entity first = world.create();
  const Entity second = world.create();
  world.destroy(gone);
  world.emplace<demo::Health>(second, std::uint16_t{5}, std::uint16_t{9});
  world.emplace<demo::Health>(first, std::uint16_t{100}, std::uint16_t{100});
  world.emplace<demo::Burning>(first);
  world.emplace<OwnedBy>(second, first);
  const ImageSection section{"tick", {std::byte{0x2A}, std::byte{0}}};
  const auto text = world_json(world, image_types(), std::span(&section, 1));
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(example("json world"), *text);
  ASSERT_TRUE(load_world_json(copy, example("json world"), image_types()).ok());
  expect_same(world, copy);
}

TEST(ImageDocument, EntityIsWrittenAndReadAsShown) {
  ImageWorld world, copy;
  for (int i = 0; i < 2; ++i) world.create();
  const Entity entity = world.create();
  world.emplace<demo::Position>(entity, 1.0f, -0.0f, 0.1f);
  world.emplace<demo::AI>(entity, demo::AiState::Chase, Entity{1, 1}, 12.5f);
  world.emplace<demo::Burning>(entity);
  const auto text = entity_json(world, entity, image_types());
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(example("json entity"), *text + "\n");
  ASSERT_TRUE(apply_json(copy, example("json entity"), image_types()).ok());
  EXPECT_EQ(*entity_json(copy, entity, image_types()), *text);
}

TEST(ImageDocument, ErrorIsWordedAsShown) {
  ImageWorld world;
  const auto refused = load_world_json(
      world,
      "{\"entities\":[{\"entity\":\"0:1\",\"components\":{\n\"shoal.demo.Health\":{\"current\":70000}}}]}",
      image_types());
  ASSERT_FALSE(refused.ok());
  std::string page = document();
  for (std::size_t at = page.find("\n  "); at != std::string::npos; at = page.find("\n  ", at))
    page.replace(at, 3, " ");
  EXPECT_THAT(page, testing::HasSubstr(refused.error().text));
}

TEST(ImageDocument, EveryFaultHasARow) {
  const std::string page = document();
  for (const char* fault : {"Foreign", "Truncated", "Damaged", "NewerFormat", "Invalid", "UnknownComponent",
                            "ChangedType", "NotListed", "Limits", "BadText"})
    EXPECT_THAT(page, testing::HasSubstr(fmt::format("| `{}` |", fault)));
}

}  // namespace
}  // namespace shoal
