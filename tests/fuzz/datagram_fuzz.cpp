// Datagrams of anyone to a server, and to a client that plays on it: raw bytes, packets of a session that is open,
// real datagrams that were captured and damaged; before, while and after a session. The input decides the sender's
// address and whether the checksum is made right, which stands for a peer that means it.
//
// An input: flags (bit 0: the victim joins first), then operations until it ends; see `Operation`.
#include "tests/fuzz/fuzz_input.hpp"
#include "tests/fuzz/fuzz_world.hpp"

namespace shoal::fuzz {
namespace {

enum class Operation : std::uint8_t {
  Raw,     // route, flags (bit 0: repair), length u16, bytes
  Packet,  // route, sequence ahead of the newest i8, length u16, body
  Replay,  // route, which, flags (bit 0: repair, bit 1: captured at the server), patches, each offset u16, xor
  Run,     // ticks
  Wait,    // hundredths of a second, without a tick
  Connect,  // the victim
  Close,
};
constexpr std::uint32_t kOperations = 7;
constexpr int kMaxOperations = 64;
constexpr std::uint32_t kMaxTicks = 200;
constexpr Endpoint kVictim = Endpoint::ipv4(10, 0, 0, 2, 2000);
constexpr std::array<Endpoint, 6> kSenders = {kVictim,
                                              kServerEndpoint,
                                              Endpoint::ipv4(10, 0, 0, 2, 2001),  // the victim's host
                                              Endpoint::ipv4(10, 0, 0, 3, 1),
                                              Endpoint::ipv4(0, 0, 0, 0, 0),
                                              Endpoint{{0x20, 1, 0xD, 0xB8}, 65535}};

class DatagramFuzz {
 public:
  explicit DatagramFuzz(FuzzInput& input)
      : input_(input), port_(world_.open(kVictim)), victim_(world_.make_client(*port_)) {}

  void run() {
    if (input_.flag()) {
      victim_->connect();
      run_ticks(6);
      SHOAL_ASSERT(victim_->state() == ClientState::Connected, "nothing keeps the victim from joining yet");
    }
    for (int i = 0; i < kMaxOperations && !input_.empty(); ++i) {
      one(static_cast<Operation>(input_.below(kOperations)));
      world_.server().poll();
      victim_->poll();
    }
    world_.require_honest_client_becomes_exact();
  }

 private:
  void one(Operation operation) {
    switch (operation) {
      case Operation::Raw: {
        const unsigned route = input_.byte();
        const bool repair = input_.flag();
        const auto bytes = input_.bytes(input_.u16() % (Datagram::kCapacity + 1));
        std::vector<std::byte> datagram(bytes.begin(), bytes.end());
        if (repair) patch_and_repair(datagram, {}, victim_->session_keys());
        return send(route, datagram);
      }
      case Operation::Packet: {
        const unsigned route = input_.byte();
        const auto ahead = static_cast<std::int8_t>(input_.byte());
        const auto body = input_.bytes(input_.u16() % (kMaxPacketBodyBytes + 1));
        const auto known = newest_packet(to_client(route) ? world_.server_port() : *port_);
        if (!known) return;
        std::array<std::byte, kMaxDatagramBytes> datagram;
        const Sequence sequence{known->sequence.value + static_cast<std::uint64_t>(std::int64_t{ahead})};
        const ConnectionKeys* keys = victim_->session_keys();
        if (keys == nullptr) return;
        const std::size_t size =
            seal(to_client(route) ? keys->receive : keys->send,
                 {DatagramType::Packet, known->connection, sequence}, {}, body, datagram);
        return send(route, std::span(datagram).first(size));
      }
      case Operation::Replay:
        return replay();
      case Operation::Run:
        return run_ticks(input_.below(16));
      case Operation::Wait:
        return world_.clock().advance(milliseconds(10) * input_.byte());
      case Operation::Connect:
        if (victim_->state() == ClientState::Idle || victim_->state() == ClientState::Closed)
          victim_->connect();
        return;
      case Operation::Close:
        return victim_->close();
    }
  }

  void replay() {
    const unsigned route = input_.byte();
    const std::size_t which = input_.byte();
    const unsigned flags = input_.byte();
    const auto& captured = (flags & 2) != 0 ? world_.server_port().sent() : port_->sent();
    const std::uint32_t patches = input_.below(8);
    if (captured.empty()) return;
    std::vector<std::byte> datagram = captured[captured.size() - 1 - which % captured.size()];
    std::vector<Patch> patched;
    for (std::uint32_t i = 0; i < patches; ++i) {
      const std::size_t at = input_.u16() % datagram.size();
      patched.push_back({at, static_cast<std::byte>(input_.byte())});
    }
    if ((flags & 1) != 0) {
      patch_and_repair(datagram, patched, victim_->session_keys());
    } else {
      for (const Patch& patch : patched) datagram[patch.at] ^= patch.flip;
    }
    send(route, datagram);
  }

  // Bit 7 of a route: to the victim instead of the server; the rest is the sender.
  static bool to_client(unsigned route) { return (route & 0x80) != 0; }
  void send(unsigned route, std::span<const std::byte> datagram) {
    TappedPort& target = to_client(route) ? *port_ : world_.server_port();
    target.inject(kSenders[(route & 0x7F) % kSenders.size()], datagram);
  }

  void run_ticks(std::uint32_t count) {
    Client* const clients[] = {victim_.get()};
    for (; count > 0 && ticks_ < kMaxTicks; --count, ++ticks_) world_.run_tick(clients);
  }

  FuzzInput& input_;
  FuzzWorld world_;
  std::unique_ptr<TappedPort> port_;
  std::unique_ptr<Client> victim_;
  std::uint32_t ticks_ = 0;
};

unsigned number(Operation operation) {
  return static_cast<unsigned>(operation);
}

}  // namespace

std::vector<Seed> seeds() {
  constexpr unsigned kToClient = 0x80;
  std::vector<Seed> result;
  const auto add = [&](std::string name, const SeedWriter& writer) {
    result.push_back({std::move(name), writer.written()});
  };
  HandshakeWriter handshake;
  OutgoingDatagram hello;
  handshake.hello(77, {kProtocolVersion, {}}, hello);
  add("hello", SeedWriter()
                   .byte(0)
                   .byte(number(Operation::Raw))
                   .byte(3)
                   .byte(1)
                   .u16(kMaxDatagramBytes)
                   .bytes(hello.span()));
  add("handshake_damaged", SeedWriter()
                               .byte(0)
                               .byte(number(Operation::Connect))
                               .byte(number(Operation::Run))
                               .byte(1)
                               .byte(number(Operation::Replay))
                               .byte(2)
                               .byte(0)
                               .byte(1)
                               .byte(1)
                               .u16(60)
                               .byte(1)
                               .byte(number(Operation::Run))
                               .byte(3));
  flatbuffers::FlatBufferBuilder builder;
  const auto close =
      protocol::CreateClose(builder, protocol::CloseReason::Kicked, builder.CreateString("bye"));
  builder.Finish(protocol::CreatePacket(builder, 0, 0, 0, protocol::Payload::Close, close.Union()));
  const auto body = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  for (const unsigned route : {0u, kToClient | 1u}) {
    const std::string target = route == 0 ? "server" : "client";
    add("forged_close_to_" + target, SeedWriter()
                                         .byte(1)
                                         .byte(number(Operation::Packet))
                                         .byte(route)
                                         .byte(1)
                                         .u16(static_cast<unsigned>(body.size()))
                                         .bytes(body)
                                         .byte(number(Operation::Run))
                                         .byte(4));
    add("damaged_packet_to_" + target, SeedWriter()
                                           .byte(1)
                                           .byte(number(Operation::Replay))
                                           .byte(route)
                                           .byte(0)
                                           .byte(route == 0 ? 1 : 3)
                                           .byte(2)
                                           .u16(9)
                                           .byte(0x40)
                                           .u16(90)
                                           .byte(0xFF)
                                           .byte(number(Operation::Run))
                                           .byte(8));
  }
  add("reconnect", SeedWriter()
                       .byte(1)
                       .byte(number(Operation::Close))
                       .byte(number(Operation::Connect))
                       .byte(number(Operation::Run))
                       .byte(6)
                       .byte(number(Operation::Wait))
                       .byte(255)
                       .byte(number(Operation::Wait))
                       .byte(255)
                       .byte(number(Operation::Run))
                       .byte(6));
  return result;
}

}  // namespace shoal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return shoal::fuzz::run_bounded<shoal::fuzz::DatagramFuzz>(bytes, size);
}
