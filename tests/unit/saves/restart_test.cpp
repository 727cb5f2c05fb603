// A restart makes no difference to the world.
#include <gmock/gmock.h>

#include "client/client.hpp"
#include "saved_world.hpp"
#include "schema/components.hpp"
#include "schema/components_descriptors.hpp"
#include "shared/ecs/local.hpp"
#include "shared/game/server_components.hpp"
#include "shared/game/spawn.hpp"
#include "shared/game/state.hpp"

namespace shoal {
namespace {

using test::copy_of;
using test::MemoryDisk;
using test::SavedWorld;

TEST(Restart, WorldGoesOnAsItWouldHaveWithout) {
  for (const int ticks_before : {0, 1, 200, 900}) {
    SavedWorld without;
    ASSERT_FALSE(without.open(std::make_unique<MemoryDisk>()));
    without.run(ticks_before);
    without.save();

    SavedWorld again({.entities = 9, .seed = 77});  // the saved ones win
    ASSERT_FALSE(again.open(copy_of(*without.disk)));
    EXPECT_EQ(again.server->tick(), without.server->tick());
    EXPECT_EQ(again.hash(), without.hash()) << "after " << ticks_before << " ticks";
    for (int second = 0; second < 20; ++second) {
      without.run(30);
      again.run(30);
      ASSERT_EQ(again.hash(), without.hash()) << second << " s after the restart at tick " << ticks_before;
    }
    // What comes next has the same handles, too.
    EXPECT_EQ(again.server->registry().create(), without.server->registry().create());
  }
}

TEST(Restart, ManyRestartsAreAsOne) {
  SavedWorld without;
  ASSERT_FALSE(without.open(std::make_unique<MemoryDisk>()));
  without.save();
  auto disk = copy_of(*without.disk);
  without.run(50);
  for (int i = 0; i < 10; ++i) {
    SavedWorld again;
    ASSERT_FALSE(again.open(std::move(disk)));
    again.run(5);
    again.save();
    disk = copy_of(*again.disk);
    if (i == 9) {
      EXPECT_EQ(again.hash(), without.hash());
    }
  }
}

TEST(Restart, SpawnPointsKeepTheirHandlesAndAreLocal) {
  SavedWorld world;
  ASSERT_FALSE(world.open(std::make_unique<MemoryDisk>()));
  world.run(10);
  world.save();
  SavedWorld again;
  ASSERT_FALSE(again.open(copy_of(*world.disk)));
  const auto& points = again.server->registry().resources().get<demo::GameState>().spawn_points;
  EXPECT_EQ(points, world.server->registry().resources().get<demo::GameState>().spawn_points);
  ASSERT_FALSE(points.empty());
  for (const Entity point : points)
    EXPECT_TRUE((again.server->registry().all_of<Local, demo::SpawnPoint>(point)));
  EXPECT_EQ(again.server->replicated_entities(), world.server->replicated_entities());
}

TEST(Restart, TickGoesOnAcrossItsWrap) {
  SavedWorld world;
  ASSERT_FALSE(world.open(std::make_unique<MemoryDisk>()));
  ServerConfig config;
  config.max_entities = test::kMaxEntities;
  config.first_tick = Tick{0xFFFFFFFF - 5};
  world.server.reset();
  world.start(config);
  world.run(20);
  world.save();
  SavedWorld again;
  ASSERT_FALSE(again.open(copy_of(*world.disk)));
  EXPECT_EQ(again.server->tick(), Tick{14});
}

class Guests : public ::testing::Test {
 protected:
  static Secret key(std::uint8_t number) {
    SeededEntropy entropy(number);
    return Secret::random(entropy);
  }
  std::unique_ptr<Client> join(SavedWorld& world, std::uint8_t number) {
    world.guest_ports.push_back(world.network.open(Endpoint::ipv4(10, 0, 2, number, 4000)));
    ClientConfig config;
    config.server = Endpoint::ipv4(10, 0, 0, 1, 7777);
    config.components = demo::component_descriptors();
    config.register_components = demo::register_shared_components;
    config.player_key = key(number);
    auto client = std::make_unique<Client>(*world.guest_ports.back(), world.clock, entropy_, config);
    client->connect();
    return client;
  }
  static void run(SavedWorld& world, std::span<const std::unique_ptr<Client>> clients, int ticks) {
    for (int i = 0; i < ticks; ++i) {
      world.run(1);
      for (const auto& client : clients) {
        client->poll();
        client->send_update();
      }
    }
  }

  SeededEntropy entropy_{9};
};

TEST_F(Guests, FindTheirEntityAndNumberOrAreGivenUp) {
  SavedWorld world;
  ASSERT_FALSE(world.open(std::make_unique<MemoryDisk>()));
  std::vector<std::unique_ptr<Client>> clients;
  clients.push_back(join(world, 1));
  clients.push_back(join(world, 2));
  run(world, clients, 30);
  const Entity first = world.server->player_entity({1}), second = world.server->player_entity({2});
  ASSERT_FALSE(first.is_null());
  ASSERT_FALSE(second.is_null());
  world.save();
  clients.clear();

  SavedWorld again;
  ASSERT_FALSE(again.open(copy_of(*world.disk)));
  EXPECT_EQ(again.server->absent_count(), 2u);
  std::vector<std::unique_ptr<Client>> later;
  const bool first_was_one =
      world.server->players_to_save()[0].id == player_of_key(SignatureKey(key(1)).public_key());
  later.push_back(join(again, first_was_one ? 2 : 1));
  run(again, later, 30);
  EXPECT_EQ(again.server->player_entity({2}), second) << "who was number 2 is number 2";
  EXPECT_TRUE(again.server->registry().alive(first)) << "may still come";
  later.push_back(join(again, 3));
  run(again, later, 30);
  EXPECT_FALSE(again.server->player_entity({3}).is_null()) << "numbers go on";
  run(again, later, 31 * 30);
  EXPECT_FALSE(again.server->registry().alive(first)) << "did not come";
  EXPECT_TRUE(again.server->registry().alive(second));
}

TEST_F(Guests, WhoLeftInTheLastMomentDoesNotStayForEver) {
  SavedWorld world;
  ASSERT_FALSE(world.open(std::make_unique<MemoryDisk>()));
  std::vector<std::unique_ptr<Client>> clients;
  clients.push_back(join(world, 1));
  run(world, clients, 30);
  const Entity player = world.server->player_entity({1});
  ASSERT_FALSE(player.is_null());
  clients[0]->close();
  world.clock.advance(milliseconds(30));
  world.server->poll();  // the server knows it; the game will hear of it in the next tick
  ASSERT_TRUE(world.server->player_entity({1}).is_null());
  ASSERT_TRUE(world.server->registry().alive(player));
  world.save();
  SavedWorld again;
  ASSERT_FALSE(again.open(copy_of(*world.disk)));
  again.run(31 * 30);  // as if it had been cut off, and did not come
  EXPECT_FALSE(again.server->registry().alive(player));
}

}  // namespace
}  // namespace shoal
