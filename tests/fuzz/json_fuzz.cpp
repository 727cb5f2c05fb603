// JSON of worlds and entities: any text as a whole world, and as a patch of one. What is refused says where it is wrong and
// changes nothing; what is taken is a sound world.
//
// An input: the text.
#include "shared/base/assert.hpp"
#include "tests/fuzz/fuzz_image_world.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace shoal::fuzz {
namespace {

class Target {
 public:
  explicit Target(FuzzInput& input) : input_(&input) {}

  void run() {
    const auto bytes = input_->rest();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    load(text);
    patch(text);
  }

 private:
  static void load(std::string_view text) {
    ImageFuzzWorld world;
    const auto loaded = load_world_json(world, text, image_fuzz_types());
    if (loaded.ok()) {
      use(world);
    } else {
      SHOAL_ASSERT(!loaded.error().text.empty(), "a refused text says why");
      expect_untouched(world);
    }
  }
  static void patch(std::string_view text) {
    ImageFuzzWorld world;
    fill(world);
    const auto before = save_image(world, image_fuzz_types());
    const auto applied = apply_json(world, text, image_fuzz_types());
    if (applied.ok()) {
      use(world);
    } else {
      SHOAL_ASSERT(!applied.error().text.empty(), "a refused text says why");
      SHOAL_ASSERT(*save_image(world, image_fuzz_types()) == *before, "what is refused changes nothing");
    }
  }

  FuzzInput* input_;
};

}  // namespace

std::vector<Seed> seeds() {
  ImageFuzzWorld world;
  fill(world);
  const ImageSection section{"tick", std::vector<std::byte>(3)};
  const Entity entities[] = {Entity{0, 1}, Entity{3, 1}};
  return {
      {"world.json",
       SeedWriter().text(*world_json(world, image_fuzz_types(), std::span(&section, 1))).written()},
      {"entities.json", SeedWriter().text(*entities_json(world, entities, image_fuzz_types())).written()},
      {"by_hand.json",
       SeedWriter()
           .text(R"({"entities":[{"entity":"2:3","components":{"f.Thing":{"x":"NaN","slots":[1,2]}}}]})")
           .written()},
      {"patch.json",
       SeedWriter()
           .text(
               R"([{"components":{"f.Word":"61"}},{"entity":"0:1","components":{"f.Thing":{"armed":true},"f.Marked":{},)"
               R"("shoal.Local":{}}},{"entity":"2:1","components":{"f.Raw":null,"shoal.Node":null}},{"entity":"9:9"}])")
           .written()},
  };
}

}  // namespace shoal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return shoal::fuzz::run_bounded<shoal::fuzz::Target>(bytes, size);
}
