// Which save a start takes, which it sets aside, and when there is no start.
#include "server/saves/world_loader.hpp"

#include <gmock/gmock.h>

#include "saved_world.hpp"
#include "shared/image/image_file.hpp"

namespace shoal {
namespace {

using test::copy_of;
using test::MemoryDisk;
using test::SavedWorld;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Three saves, at ticks 10, 20 and 30.
std::unique_ptr<MemoryDisk> three_saves() {
  SavedWorld world;
  EXPECT_FALSE(world.open(std::make_unique<MemoryDisk>()));
  for (int i = 0; i < 3; ++i) {
    world.run(10);
    world.save();
  }
  return copy_of(*world.disk);
}
std::string name(int number) {
  return "world-0000000" + std::to_string(number) + ".image";
}
using Bytes = std::vector<std::byte>;
const std::vector<std::pair<const char*, void (*)(Bytes&)>> kDamages = {
    {"cut", [](Bytes& bytes) { bytes.resize(bytes.size() - 1); }},
    {"cut in the header", [](Bytes& bytes) { bytes.resize(20); }},
    {"flipped bit", [](Bytes& bytes) { bytes[bytes.size() / 2] ^= std::byte{4}; }},
    {"flipped bit in the format", [](Bytes& bytes) { bytes[8] ^= std::byte{2}; }},
    {"flipped bit in the first byte", [](Bytes& bytes) { bytes[0] ^= std::byte{1}; }},
    {"empty", [](Bytes& bytes) { bytes.clear(); }},
    {"garbage", [](Bytes& bytes) { std::fill(bytes.begin(), bytes.end(), std::byte{0x5A}); }},
    {"zeros", [](Bytes& bytes) { std::fill(bytes.begin(), bytes.end(), std::byte{0}); }},
    {"longer", [](Bytes& bytes) { bytes.resize(bytes.size() + 4096); }},
};

TEST(WorldLoader, NewestIsTaken) {
  SavedWorld world;
  ASSERT_FALSE(world.open(three_saves()));
  EXPECT_EQ(world.server->tick(), Tick{30});
  EXPECT_EQ(world.saves->loaded->program, "test 1.0");
}

TEST(WorldLoader, EmptyFolderBeginsANewWorld) {
  SavedWorld world;
  ASSERT_FALSE(world.open(std::make_unique<MemoryDisk>()));
  EXPECT_FALSE(world.saves->loaded);
  EXPECT_EQ(world.server->tick(), Tick{0});
}

TEST(WorldLoader, DamagedOnesAreSetAsideAndTheOneBeforeIsTaken) {
  for (const auto& [what, damage] : kDamages) {
    auto disk = three_saves();
    damage(disk->bytes_of(name(3)));
    damage(disk->bytes_of(name(2)));
    SavedWorld world;
    ASSERT_FALSE(world.open(std::move(disk))) << what;
    EXPECT_EQ(world.server->tick(), Tick{10}) << what;
    EXPECT_THAT(world.disk->sorted_names(), ElementsAre(name(1), name(2) + ".damaged", name(3) + ".damaged"))
        << what;
    world.save();
    EXPECT_THAT(world.disk->sorted_names(),
                ElementsAre(name(1), name(2) + ".damaged", name(3) + ".damaged", name(4)))
        << what;
  }
}

TEST(WorldLoader, FileThatTheDiskCannotReadIsDamaged) {
  auto disk = three_saves();
  int reads = 0;
  disk->before = [&](const std::string& call) {
    return call == "read" && reads++ == 0 ? std::make_error_code(std::errc::io_error) : std::error_code();
  };
  SavedWorld world;
  ASSERT_FALSE(world.open(std::move(disk)));
  EXPECT_EQ(world.server->tick(), Tick{20});
}

TEST(WorldLoader, NoneThatCanBeReadMeansNoStartAndNothingIsChanged) {
  for (const auto& [what, damage] : kDamages) {
    auto disk = three_saves();
    for (int number : {1, 2, 3}) damage(disk->bytes_of(name(number)));
    const auto before = disk->sorted_names();
    SavedWorld world;
    const auto why_not = world.open(std::move(disk));
    ASSERT_TRUE(why_not) << what;
    for (int number : {1, 2, 3}) EXPECT_THAT(*why_not, HasSubstr(name(number))) << what;
    EXPECT_THAT(*why_not, HasSubstr("put back a good copy"));
  }
  // Those of earlier are saves, too.
  auto disk = std::make_unique<MemoryDisk>();
  disk->put("world-1.image.damaged", Bytes(5));
  SavedWorld world;
  EXPECT_THAT(world.open(std::move(disk)).value_or(""), HasSubstr("world-1.image.damaged"));
}

void expect_refused(std::unique_ptr<MemoryDisk> disk, const std::string& words, const char* what) {
  const auto before = disk->sorted_names();
  SavedWorld world;
  MemoryDisk* const folder = disk.get();
  demo::DemoGame game({.entities = 400, .seed = 5});
  SaveStore store(*folder, "saves", 5);
  ASSERT_FALSE(store.open());
  const auto loaded = load_newest(store, game, *game.image_types(), test::kMaxEntities, "test 1.0");
  ASSERT_FALSE(loaded) << what;
  EXPECT_THAT(loaded.error(), HasSubstr(words)) << what;
  EXPECT_THAT(loaded.error(), HasSubstr(name(3))) << what;
  EXPECT_EQ(folder->sorted_names(), before) << what << ": nothing is set aside, nothing lost";
}

TEST(WorldLoader, NewerFormatIsRefusedByTheNameOfWhoWroteIt) {
  auto disk = three_saves();
  Bytes& bytes = disk->bytes_of(name(3));
  bytes = with_image_header(std::span(bytes).subspan(kImageHeaderBytes), kImageFormat + 1);
  expect_refused(std::move(disk), "test 1.0 wrote it, this is test 1.0", "newer format");
  disk = three_saves();
  disk->bytes_of(name(3)) = with_image_header(Bytes(100, std::byte{7}), kImageFormat + 1);
  expect_refused(std::move(disk), "who wrote it cannot be told", "newer format that nobody can read");
}

// The image of another registry, in the place of the newest save.
struct Unheard {
  int value;
};
Bytes foreign_image(const std::string& component, const std::vector<ImageSection>& sections) {
  Registry registry;
  ImageTypes types;
  if (!component.empty()) {
    registry.register_component<Unheard>(component);
    types.add_opaque(component);
  }
  registry.freeze();
  if (!component.empty()) registry.emplace<Unheard>(registry.create(), 5);
  const auto image = save_image(registry, types, sections);
  EXPECT_TRUE(image);
  return *image;
}
TEST(WorldLoader, NewerSchemaIsRefusedByTheNameOfWhoWroteIt) {
  const std::vector<ImageSection> sections{encode_server_section({"shoal-server 9.9", Tick{30}, 0, {}})};
  auto disk = three_saves();
  disk->bytes_of(name(3)) = foreign_image("game.Unheard", sections);
  expect_refused(std::move(disk), "game.Unheard", "unknown component");
  disk = three_saves();
  disk->bytes_of(name(3)) = foreign_image("shoal.demo.server.Brain", sections);
  expect_refused(std::move(disk), "shoal-server 9.9 wrote it", "component of another size");
  disk = three_saves();
  disk->bytes_of(name(3)) = foreign_image("", sections);
  expect_refused(std::move(disk), "demo.state", "another game");
}

TEST(WorldLoader, ImageThatNoServerSavedIsRefused) {
  auto disk = three_saves();
  disk->bytes_of(name(3)) = foreign_image("", {});
  expect_refused(std::move(disk), "no save of a server", "no section");
  disk = three_saves();
  disk->bytes_of(name(3)) = foreign_image("", {{std::string(kServerSection), Bytes(64, std::byte{3})}});
  expect_refused(std::move(disk), "no save of a server", "a section of garbage");
}

TEST(WorldLoader, FileThatMayNotBeReadIsNoDamage) {
  auto disk = three_saves();
  disk->before = [](const std::string& call) {
    return call == "read" ? std::make_error_code(std::errc::permission_denied) : std::error_code();
  };
  expect_refused(std::move(disk), "right to write", "permission");
}

TEST(WorldLoader, GameWithoutImageTypesSavesNothing) {
  class Plain final : public Game {
    std::span<const ComponentDescriptor> components() const override { return {}; }
    void register_components(Registry&) override {}
    void register_systems(Schedule&) override {}
    void start(Registry&) override {}
    Entity spawn_player(Registry&, PlayerNumber, Tick) override { return kNullEntity; }
    bool apply_input(Registry&, Entity, Tick, std::span<const std::byte>) override { return false; }
    void player_left(Registry&, Entity, CloseReason) override {}
  } game;
  const auto saves = open_saves(std::make_unique<MemoryDisk>(), {.folder = "saves"}, game, 10, "test 1.0");
  ASSERT_FALSE(saves);
  EXPECT_THAT(saves.error(), HasSubstr("Game::image_types"));
}

TEST(ServerSection, IsReadAsItWasWritten) {
  ServerSection section{"program 1.2.3", Tick{0xFFFFFFF0}, 70000, {}};
  for (std::uint8_t i = 0; i < 5; ++i) {
    SavedPlayer player{{}, {i + 1u}, Entity{i, 7}};
    player.id.bytes.fill(i);
    section.players.push_back(player);
  }
  const ImageSection sections[] = {{"other", {}}, encode_server_section(section)};
  const auto read = decode_server_section(sections);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->program, section.program);
  EXPECT_EQ(read->tick, section.tick);
  EXPECT_EQ(read->newest_player, section.newest_player);
  EXPECT_EQ(read->players, section.players);
}

TEST(ServerSection, AnyBytesAreRefusedOrRead) {
  const ImageSection good = encode_server_section({"program", Tick{1}, 2, {SavedPlayer{}}});
  for (std::size_t cut = 0; cut < good.bytes.size(); ++cut) {
    const ImageSection section{good.name,
                               {good.bytes.begin(), good.bytes.begin() + static_cast<std::ptrdiff_t>(cut)}};
    (void)decode_server_section(std::span(&section, 1));
  }
  for (std::size_t at = 0; at < good.bytes.size(); ++at) {
    ImageSection section = good;
    section.bytes[at] ^= std::byte{0xFF};
    (void)decode_server_section(std::span(&section, 1));
  }
}

}  // namespace
}  // namespace shoal
