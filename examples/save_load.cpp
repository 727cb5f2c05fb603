// Saves a world while it goes on, then loads it as if the program had been started again. Writes one file, which is
// the argument.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "examples/save_load.hpp"
#include "examples/save_load_descriptors.hpp"
#include "shared/ecs/world_copy.hpp"
#include "shared/image/json.hpp"

using namespace shoal;
using example::Asleep, example::Sheep;

namespace {

struct Shepherd {  // not in the schema, so ImageTypes must say how it is held
  std::uint32_t wakes_at_tick = 0;
};

struct World : Registry {
  World() {
    example::register_components(*this);
    register_component<Shepherd>("example.Shepherd");
    freeze();
  }
};

ImageTypes image_types() {
  ImageTypes types;
  types.add(example::component_descriptors()).add_opaque("example.Shepherd");
  return types;
}

// Whatever happens meanwhile, the file has the old image or the whole new one.
bool write_file(const std::string& path, const std::vector<std::byte>& bytes) {
  const std::string unfinished = path + ".part";
  std::ofstream file(unfinished, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file.good() && std::rename(unfinished.c_str(), path.c_str()) == 0;
}
std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> letters{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto bytes = std::as_bytes(std::span(letters));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string path = argument_count > 1 ? arguments[1] : "save_load.image";
  const ImageTypes types = image_types();
  World world;
  for (float x = 0; x < 5; ++x) world.emplace<Sheep>(world.create(), x, 1.5f, std::uint8_t{3});
  world.emplace<Asleep>(Entity{2, 1});
  world.emplace<Shepherd>(Entity{4, 1}, 900u);
  world.destroy(Entity{3, 1});
  std::uint32_t tick = 42;

  // Between two ticks: an instant of the world, and what else the game needs to go on.
  World shadow;
  shadow.log().set_enabled(false);  // nobody reads it
  copy_world(world, shadow);
  ImageSection section{"tick", std::vector<std::byte>(sizeof tick)};
  std::memcpy(section.bytes.data(), &tick, sizeof tick);
  // The slow part is not the tick's.
  bool is_written = false;
  std::thread writer([&] {
    const auto image = save_image(shadow, types, std::span(&section, 1));
    is_written = image.ok() && write_file(path, *image);
  });
  for (; tick < 50; ++tick) {
    for (auto [entity, sheep] : world.view<Sheep>()) sheep.x += 1;
  }
  writer.join();
  if (!is_written) return 1;

  // Another program, another day.
  World loaded;
  const auto image = load_image(loaded, read_file(path), types);
  if (!image.ok()) {
    std::printf("%s\n", image.error().text.c_str());
    return 1;
  }
  std::memcpy(&tick, image->sections.front().bytes.data(), sizeof tick);
  std::printf("%zu entities at tick %u\n", image->entities, tick);
  std::printf("%s\n", entity_json(loaded, Entity{2, 1}, types)->c_str());
  const Entity next = loaded.create();
  std::printf("next entity %u:%u, as there: %s\n", next.index, next.generation,
              next == world.create() ? "yes" : "no");

  // Any other byte in the file, and nothing happens but words.
  std::vector<std::byte> damaged = read_file(path);
  damaged[damaged.size() / 2] ^= std::byte{1};
  World untouched;
  std::printf("%s\n", load_image(untouched, damaged, types).error().text.c_str());
  damaged.resize(100);
  std::printf("%s\n", load_image(untouched, damaged, types).error().text.c_str());
}
