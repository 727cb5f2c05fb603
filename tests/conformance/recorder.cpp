// Plays one short session of the demo on the simulated network and prints what both sides said, opened, as lines of
// JSON: the schema, then each datagram that arrived or left at the client, and at some moments the server's own state.
// The second client (session_test.py) decodes them without a line of this code. The same bits on every machine, so the
// kept copy (session.jsonl) is compared byte for byte.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/bots/behaviour.hpp"
#include "client/client.hpp"
#include "schema/components.hpp"
#include "schema/components_descriptors.hpp"
#include "server/demo/demo_game.hpp"
#include "server/server.hpp"
#include "server/tick_schedule.hpp"
#include "shared/game/input.hpp"
#include "shared/game/spawn.hpp"
#include "shared/net/simulated_network.hpp"
#include "shared/wire/quantise.hpp"

namespace shoal {
namespace {

constexpr Endpoint kServer = Endpoint::ipv4(10, 0, 0, 1, 7777);
constexpr Endpoint kHome = Endpoint::ipv4(10, 0, 1, 1, 4000);
constexpr Endpoint kMoved = Endpoint::ipv4(10, 0, 2, 2, 5000);
constexpr Endpoint kOther = Endpoint::ipv4(10, 0, 3, 3, 6000);

constexpr std::uint32_t kTickRate = 30;
constexpr std::uint32_t kTicks = 90;
constexpr std::uint32_t kMoveAtTick = 50;  // the client goes on from another address

struct Crossing {
  bool is_to_server;
  std::vector<std::byte> bytes;
};

/// Keeps what passes, and can go on from another address.
class RecordingPort final : public DatagramPort {
 public:
  RecordingPort(SimulatedNetwork& network, std::vector<Crossing>& crossings)
      : home_(network.open(kHome)), moved_(network.open(kMoved)), crossings_(crossings) {}

  void move() { is_moved_ = true; }
  bool send(const Endpoint& peer, std::span<const std::byte> bytes) override {
    crossings_.push_back({true, {bytes.begin(), bytes.end()}});
    return (is_moved_ ? moved_ : home_)->send(peer, bytes);
  }
  void flush() override {}
  bool receive(Datagram& datagram) override {
    if (!home_->receive(datagram) && !moved_->receive(datagram)) return false;
    crossings_.push_back({false, {datagram.span().begin(), datagram.span().end()}});
    return true;
  }
  Endpoint local() const override { return home_->local(); }
  PortCounters counters() const override { return home_->counters(); }

 private:
  std::unique_ptr<DatagramPort> home_;
  std::unique_ptr<DatagramPort> moved_;
  std::vector<Crossing>& crossings_;
  bool is_moved_ = false;
};

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

void print_schema(const ComponentTable& table) {
  std::string lines;
  for (const auto& component : table.components()) {
    std::string bits;
    for (unsigned i = 0; i < component.column_count; ++i) {
      bits += fmt::format("{}{}", i == 0 ? "" : ",",
                          static_cast<unsigned>(table.columns()[component.first_column + i].bits));
    }
    std::string references;  // columns at which the id of an entity begins
    unsigned column = 0;
    for (const auto& field : component.fields) {
      if (field.type == FieldType::Entity)
        references += fmt::format("{}{}", references.empty() ? "" : ",", column);
      column += column_count(field.type);
    }
    lines += fmt::format(R"({}{{"name":"{}","wire_id":{},"audience":{},"bits":[{}],"references":[{}]}})",
                         lines.empty() ? "" : ",", component.name, component.wire_id,
                         static_cast<int>(component.audience), bits, references);
  }
  fmt::print("{{\"components\":[{}]}}\n", lines);
}

/// The version as the server holds it: each bound slot with its entity and its components' integers, by wire id.
void print_state(const ComponentTable& table, const ChunkVersion& version) {
  std::string slots;
  for_each_slot(version.bound(), [&](Slot slot) {
    std::string components;
    for (ComponentIndex index = 0; index < table.size(); ++index) {
      if ((version.present(index) & slot_bit(slot)) == 0) continue;
      std::string values;
      for (unsigned i = 0; i < table[index].column_count; ++i)
        values += fmt::format("{}{}", i == 0 ? "" : ",", version.value(table[index].first_column + i, slot));
      components +=
          fmt::format(R"({}"{}":[{}])", components.empty() ? "" : ",", table[index].wire_id, values);
    }
    const Entity id = version.id(slot);
    slots += fmt::format(R"({}"{}":{{"id":[{},{}],"components":{{{}}}}})", slots.empty() ? "" : ",", slot,
                         id.index, id.generation, components);
  });
  fmt::print("{{\"chunk\":{},\"tick\":{},\"slots\":{{{}}}}}\n", version.chunk().value, version.tick().value,
             slots);
}

class Recording {
 public:
  Recording()
      : entropy_(1),
        network_(clock_, 5),
        game_({.entities = 90, .seed = 2, .world_half_size = 32, .tick_rate = kTickRate}),
        server_port_(network_.open(kServer)),
        server_(game_, *server_port_, clock_, entropy_, server_config()),
        port_(network_, crossings_),
        client_(port_, clock_, entropy_, client_config()),
        other_port_(network_.open(kOther)),
        other_(*other_port_, clock_, entropy_, client_config()),
        behaviour_(Scenario::Border, 11, 16),
        other_behaviour_(Scenario::Fight, 12, 16) {}

  void run() {
    print_schema(server_.table());
    network_.set_links_to(kServer,
                          {.loss_percent = 8, .latency = milliseconds{15}, .jitter = milliseconds{4}});
    network_.set_links_from(kServer,
                            {.loss_percent = 8, .latency = milliseconds{15}, .jitter = milliseconds{4}});
    client_.connect();
    other_.connect();
    for (std::uint32_t tick = 0; tick < kTicks; ++tick) {
      if (tick == kMoveAtTick) port_.move();
      step();
      if (tick % 40 == 30) print_states(server_.tick());
    }
    server_.freeze();
    for (int i = 0; i < 60 && !server_.all_compared(); ++i) step();
    print_states(std::nullopt);
    server_.shut_down();
    for (int i = 0; i < 3; ++i) step();
  }

  bool is_whole() const {
    return client_.comparison() == Comparison::Exact &&
           client_.close_reason() == CloseReason::ServerShutDown && server_.transport_counters().moved == 1;
  }

 private:
  static ServerConfig server_config() {
    ServerConfig config;
    config.tick_rate_hz = kTickRate;
    config.max_entities = 4096;
    config.interest = {.square_size = 16, .radius = 8};
    config.allow_aes = false;
    return config;
  }
  static ClientConfig client_config() {
    ClientConfig config;
    config.server = kServer;
    config.components = demo::component_descriptors();
    config.register_components = demo::register_shared_components;
    config.max_entities = 4096;
    config.allow_aes = false;
    return config;
  }

  void step() {
    for (std::uint32_t i = 0; i < 1000 / kTickRate; ++i) {
      clock_.advance(milliseconds{1});
      server_.poll();
      client_.poll();
      other_.poll();
      print_crossings();
    }
    server_.run_tick();
    play(client_, behaviour_);
    play(other_, other_behaviour_);
    print_crossings();
  }

  static void play(Client& client, Behaviour& behaviour) {
    if (client.state() != ClientState::Connected) return;
    client.add_input(demo::encode_input(behaviour.next(client.registry(), client.controlled())));
    client.send_update();
  }

  /// Current versions: those of one tick, or all.
  void print_states(std::optional<Tick> tick) {
    server_.chunks().for_each([&](ChunkIndex, const Chunk& chunk) {
      if (!chunk.has_version() || (tick && chunk.current().tick() != *tick)) return;
      print_state(server_.table(), chunk.current());
    });
  }

  void print_crossings() {
    for (const Crossing& crossing : crossings_) {
      PacketHeader header;
      if (read_header(crossing.bytes, header) || header.type != DatagramType::Packet) continue;
      const ConnectionKeys* keys = client_.session_keys();
      BodyBuffer buffer;
      Opened opened;
      if (keys == nullptr ||
          open(crossing.is_to_server ? keys->send : keys->receive, crossing.bytes, 0, buffer, opened))
        continue;
      fmt::print("{{\"from\":\"{}\",\"header\":\"{}\",\"body\":\"{}\"}}\n",
                 crossing.is_to_server ? "client" : "server",
                 hex(std::span(crossing.bytes).first(kPacketHeaderBytes)), hex(opened.body));
    }
    crossings_.clear();
  }

  ManualClock clock_;
  SeededEntropy entropy_;
  SimulatedNetwork network_;
  demo::DemoGame game_;
  std::unique_ptr<DatagramPort> server_port_;
  Server server_;
  std::vector<Crossing> crossings_;
  RecordingPort port_;
  Client client_;
  std::unique_ptr<DatagramPort> other_port_;
  Client other_;
  Behaviour behaviour_;
  Behaviour other_behaviour_;
};

}  // namespace
}  // namespace shoal

int main() {
  shoal::Recording recording;
  recording.run();
  if (recording.is_whole()) return 0;
  fmt::print(stderr, "the session did not come to its end: mirror exact, one move, closed by the server\n");
  return 1;
}
