// Images of worlds: any bytes, as they are or as the body of an image whose checksum fits. What is refused says why and
// changes nothing; what is taken is a sound world.
//
// An input: one byte of options (1: a header is put in front, 2: skip unknown components, 4: signals), then the bytes.
#include "shared/base/assert.hpp"
#include "shared/image/image_file.hpp"
#include "tests/fuzz/fuzz_image_world.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace shoal::fuzz {
namespace {

class Target {
 public:
  explicit Target(FuzzInput& input) : input_(&input) {}

  void run() {
    const std::uint8_t options = input_->byte();
    const auto rest = input_->rest();
    const std::vector<std::byte> bytes =
        (options & 1) != 0 ? with_image_header(rest) : std::vector<std::byte>(rest.begin(), rest.end());
    const LoadOptions load_options{
        .unknown_components = (options & 2) != 0 ? UnknownComponents::Skip : UnknownComponents::Refuse,
        .fire_on_construct = (options & 4) != 0};
    // It may have parts that the registry does not know, or that it refuses: words or text, and no more.
    if (const auto text = json_of_image(bytes); !text.ok())
      SHOAL_ASSERT(!text.error().text.empty(), "a refused image says why");
    ImageFuzzWorld world;
    const auto loaded = load_image(world, bytes, image_fuzz_types(), load_options);
    if (!loaded.ok()) {
      SHOAL_ASSERT(!loaded.error().text.empty(), "a refused image says why");
      expect_untouched(world);
      return;
    }
    SHOAL_ASSERT(loaded->entities == world.alive_count(), "it says how many came");
    use(world);
  }

 private:
  FuzzInput* input_;
};

std::vector<std::byte> image_of(void (*make)(Registry&)) {
  ImageFuzzWorld world;
  make(world);
  const ImageSection section{"tick", std::vector<std::byte>(3)};
  return *save_image(world, image_fuzz_types(), std::span(&section, 1));
}

}  // namespace

std::vector<Seed> seeds() {
  const auto small = image_of([](Registry& world) { world.destroy(world.create()); });
  const auto full = image_of(fill);
  const auto body = [](const std::vector<std::byte>& image) {
    return std::span(image).subspan(kImageHeaderBytes);
  };
  return {{"whole", SeedWriter().byte(0).bytes(full).written()},
          {"body", SeedWriter().byte(1).bytes(body(full)).written()},
          {"body_skip_signals", SeedWriter().byte(7).bytes(body(full)).written()},
          {"small_body", SeedWriter().byte(1).bytes(body(small)).written()}};
}

}  // namespace shoal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return shoal::fuzz::run_bounded<shoal::fuzz::Target>(bytes, size);
}
