#include "tests/fuzz/fuzz_world.hpp"

#include <algorithm>

#include "schema/components_descriptors.hpp"
#include "shared/base/log.hpp"
#include "shared/game/spawn.hpp"

namespace shoal::fuzz {
namespace {

constexpr std::uint32_t kMaxEntities = 256;
constexpr std::uint32_t kMaxSessions = 6;
constexpr Duration kStep = milliseconds(11);
constexpr Endpoint kHonestEndpoint = Endpoint::ipv4(10, 9, 9, 9, 999);

ServerConfig server_config() {
  ServerConfig config;
  config.max_sessions = kMaxSessions;
  config.max_entities = kMaxEntities;
  config.time_out = seconds(3);
  return config;
}

}  // namespace

bool TappedPort::send(const Endpoint& peer, std::span<const std::byte> bytes) {
  if (sent_.size() == kKept) sent_.pop_front();
  sent_.emplace_back(bytes.begin(), bytes.end());
  return inner_->send(peer, bytes);
}

bool TappedPort::receive(Datagram& datagram) {
  if (injected_.empty()) return inner_->receive(datagram);
  datagram = injected_.front();
  injected_.pop_front();
  return true;
}

void TappedPort::inject(const Endpoint& sender, std::span<const std::byte> bytes) {
  Datagram& datagram = injected_.emplace_back();
  datagram.peer = sender;
  datagram.size = static_cast<std::uint16_t>(std::min(bytes.size(), Datagram::kCapacity));
  std::copy_n(bytes.begin(), datagram.size, datagram.bytes.begin());
}

FuzzWorld::FuzzWorld()
    : game_(demo::GameConfig{.entities = 12}), server_port_(network_.open(kServerEndpoint)) {
  set_log_level(LogLevel::Off);
  server_ = std::make_unique<Server>(game_, server_port_, clock_, entropy_, server_config());
}

std::unique_ptr<TappedPort> FuzzWorld::open(const Endpoint& endpoint) {
  return std::make_unique<TappedPort>(network_.open(endpoint));
}

std::unique_ptr<Client> FuzzWorld::make_client(DatagramPort& port) {
  ClientConfig config;
  config.server = kServerEndpoint;
  config.components = demo::component_descriptors();
  config.register_components = demo::register_shared_components;
  config.max_entities = kMaxEntities;
  config.connect_time_out = seconds(3);
  return std::make_unique<Client>(port, clock_, entropy_, config);
}

void FuzzWorld::run_tick(std::span<Client* const> clients) {
  for (int step = 0; step < 3; ++step) {
    clock_.advance(kStep);
    server_->poll();
    if (step == 0) server_->run_tick();
    for (Client* client : clients) client->poll();
  }
  for (Client* client : clients) {
    if (client->state() == ClientState::Connected) client->send_update();
  }
}

void FuzzWorld::require_honest_client_becomes_exact() {
  // Who holds a place is silent from now on: all of them time out, so that one is free.
  for (int i = 0; i < 4; ++i) {
    clock_.advance(seconds(1));
    server_->poll();
  }
  const auto port = open(kHonestEndpoint);
  SHOAL_ASSERT(port->local() == kHonestEndpoint, "the honest client's address is its own");
  const auto client = make_client(*port);
  Client* const clients[] = {client.get()};
  client->connect();
  for (int tick = 0; tick < 60 && client->controlled().is_null(); ++tick) {
    run_tick(clients);
    SHOAL_ASSERT(client->state() != ClientState::Closed, "an honest client is let in, and stays");
  }
  SHOAL_ASSERT(client->state() == ClientState::Connected, "an honest client joins in two seconds");
  SHOAL_ASSERT(!client->controlled().is_null(), "an honest client is told which entity it steers");
  server_->freeze();
  for (int tick = 0; tick < 90 && client->comparison() == Comparison::None; ++tick) run_tick(clients);
  SHOAL_ASSERT(client->comparison() == Comparison::Exact,
               "the honest client's mirror is exact in three seconds");
  SHOAL_ASSERT(
      client->mirror()->counters().mismatches == 0 && client->mirror()->counters().decode_errors == 0,
      "no block of the server was bad");
  SHOAL_ASSERT(server_->registry().alive_count() <= kMaxEntities, "the world is bounded");
  SHOAL_ASSERT(server_->session_count() <= kMaxSessions, "sessions are bounded");
}

void patch_and_repair(std::vector<std::byte>& datagram, std::span<const Patch> patches,
                      const ConnectionKeys* keys) {
  if (datagram.empty()) return;
  PacketHeader header;
  Opened opened;
  BodyBuffer buffer;
  const SealingKey* key = nullptr;
  if (keys != nullptr && !read_header(datagram, header) && header.type == DatagramType::Packet) {
    for (const SealingKey* candidate : {&keys->send, &keys->receive}) {
      if (key == nullptr && !open(*candidate, datagram, 0, buffer, opened)) key = candidate;
    }
    if (key != nullptr)
      std::copy(opened.body.begin(), opened.body.end(), datagram.begin() + kPacketHeaderBytes);
  }
  for (const Patch& patch : patches) datagram[patch.at % datagram.size()] ^= patch.flip;
  if (read_header(datagram, header)) return;  // of no known type: nobody looks at the tag
  std::array<std::byte, kMaxDatagramBytes> whole;
  const auto body =
      std::span(datagram).subspan(kPacketHeaderBytes, datagram.size() - kPacketHeaderBytes - kPacketTagBytes);
  if (is_sealed(header.type) && key == nullptr) return;
  const std::size_t size =
      is_sealed(header.type) ? seal(*key, header, {}, body, whole) : write_clear(header, body, whole);
  std::copy_n(whole.begin(), size, datagram.begin());
}

std::optional<PacketHeader> newest_packet(const TappedPort& port) {
  for (auto datagram = port.sent().rbegin(); datagram != port.sent().rend(); ++datagram) {
    PacketHeader header;
    if (!read_header(*datagram, header) && header.type == DatagramType::Packet) return header;
  }
  return std::nullopt;
}

}  // namespace shoal::fuzz
