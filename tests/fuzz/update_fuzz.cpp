// What a client that is in the game may send: ClientUpdates with any inputs, resyncs and digest reports, through a real
// session; as the verifier takes them, or damaged behind a right checksum. Its acknowledgements are as true as the
// input wants them.
//
// An input: operations until it ends; see `Operation`.
#include "shared/game/input.hpp"
#include "tests/fuzz/fuzz_input.hpp"
#include "tests/fuzz/fuzz_world.hpp"

namespace shoal::fuzz {
namespace {

enum class Operation : std::uint8_t {
  Update,  // flags (Flag), then what `build_update` reads
  Run,     // ticks
  Ignore,  // how many frames are not acknowledged from now on
  Rejoin,
  Freeze,  // the server's world: digests count from now on
};
constexpr std::uint32_t kOperations = 5;
enum Flag : unsigned {
  kDamaged = 1,      // patches: count, each offset u16, xor; a right checksum is put behind them
  kNewestTick = 2,   // absent otherwise
  kManyInputs = 4,   // up to 100, else up to 4
  kManyResyncs = 8,  // up to 100, else up to 4
  kDigest = 16,
  kFalseAcks = 32,  // acknowledges what the input says
};
constexpr int kMaxOperations = 48;
constexpr std::uint32_t kMaxTicks = 120;
constexpr Endpoint kPlayer = Endpoint::ipv4(10, 0, 0, 2, 2000);

using Builder = flatbuffers::FlatBufferBuilder;

class UpdateFuzz final : private ClientTransport::Handler {
 public:
  explicit UpdateFuzz(FuzzInput& input)
      : input_(input),
        port_(world_.open(kPlayer)),
        transport_(*port_, world_.clock(), world_.entropy(), config(), *this) {
    join();
  }

  void run() {
    for (int i = 0; i < kMaxOperations && !input_.empty(); ++i) {
      switch (static_cast<Operation>(input_.below(kOperations))) {
        case Operation::Update:
          send_update();
          break;
        case Operation::Run:
          run_ticks(input_.below(16));
          break;
        case Operation::Ignore:
          ignored_ = input_.byte();
          break;
        case Operation::Rejoin:
          transport_.close();
          join();
          break;
        case Operation::Freeze:
          has_frozen_ = true;
          world_.server().freeze();
          break;
      }
    }
    const auto& counters = world_.server().counters();
    SHOAL_ASSERT(counters.digests_exact + counters.digests_different <= counters.joined,
                 "each session compares once");
    if (has_frozen_) return;  // nobody joins a frozen world
    transport_.close();
    world_.require_honest_client_becomes_exact();
  }

 private:
  ClientTransportConfig config() {
    ClientTransportConfig result;
    result.server = kServerEndpoint;
    result.schema = schema_versions(world_.server().table());
    return result;
  }

  void on_connected(const AcceptBody&) override {}
  PacketVerdict on_packet(Sequence, const protocol::Packet& packet) override {
    server_tick_ = packet.payload_as_Frame()->tick();
    if (ignored_ == 0) return PacketVerdict::Acknowledge;
    --ignored_;
    return PacketVerdict::Ignore;
  }
  void on_acknowledged(Sequence) override {}
  void on_lost(Sequence) override {}
  void on_closed(CloseReason, std::string_view) override {}

  void join() {
    if (transport_.state() == ClientState::Connected || transport_.state() == ClientState::Connecting) return;
    transport_.connect();
    run_ticks(4);
  }
  void run_ticks(std::uint32_t count) {
    for (; count > 0 && ticks_ < kMaxTicks; --count, ++ticks_) {
      world_.run_tick({});
      transport_.poll();
    }
  }

  // Near the server's, or anywhere.
  std::uint32_t any_tick() {
    const std::uint8_t form = input_.byte();
    return form == 0xFF ? input_.u32() : server_tick_ + static_cast<std::uint32_t>(std::int32_t{form} - 100);
  }
  std::uint32_t any_chunk() {
    const std::uint8_t form = input_.byte();
    return form == 0xFF ? input_.u32() : form % 4u;
  }
  flatbuffers::Offset<protocol::Input> build_input(Builder& builder) {
    const std::uint32_t tick = any_tick();
    const std::uint8_t form = input_.byte();
    if (form == 0xFF) return protocol::CreateInput(builder, tick);  // no payload at all
    const auto bytes = input_.bytes(form % 96u);
    return protocol::CreateInput(
        builder, tick,
        builder.CreateVector(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  }
  flatbuffers::Offset<protocol::Resync> build_resync(Builder& builder) {
    const std::uint32_t chunk = any_chunk();
    const std::uint16_t epoch = input_.below(4) != 0 ? std::uint16_t{1} : input_.u16();
    const std::uint32_t to = any_tick();
    std::vector<std::uint32_t> hashes;
    switch (input_.below(3)) {
      case 0:
        return protocol::CreateResync(builder, chunk, epoch, to);
      case 1:
        hashes.resize(world_.server().table().size(), input_.u32());
        break;
      default:
        hashes.resize(input_.below(100), input_.u32());
    }
    return protocol::CreateResync(builder, chunk, epoch, to, builder.CreateVector(hashes));
  }
  flatbuffers::Offset<protocol::ClientUpdate> build_update(Builder& builder, unsigned flags) {
    std::vector<flatbuffers::Offset<protocol::Input>> inputs;
    for (std::uint32_t i = input_.below((flags & kManyInputs) != 0 ? 101 : 5); i > 0; --i)
      inputs.push_back(build_input(builder));
    std::vector<flatbuffers::Offset<protocol::Resync>> resyncs;
    for (std::uint32_t i = input_.below((flags & kManyResyncs) != 0 ? 101 : 5); i > 0; --i)
      resyncs.push_back(build_resync(builder));
    flatbuffers::Offset<protocol::DigestReport> digest;
    if ((flags & kDigest) != 0) {
      const std::uint32_t tick = any_tick();
      const auto result = static_cast<protocol::DigestResult>(input_.byte());
      const std::uint64_t hash = input_.u32();
      digest = protocol::CreateDigestReport(builder, tick, result, hash, input_.u32());
    }
    const auto inputs_at = builder.CreateVector(inputs);
    const auto resyncs_at = builder.CreateVector(resyncs);
    protocol::ClientUpdateBuilder update(builder);
    if ((flags & kNewestTick) != 0) update.add_newest_tick(any_tick());
    update.add_inputs(inputs_at);
    update.add_resyncs(resyncs_at);
    if (!digest.IsNull()) update.add_digest(digest);
    return update.Finish();
  }

  void send_update() {
    const unsigned flags = input_.byte();
    if (transport_.state() != ClientState::Connected) return;
    if ((flags & (kDamaged | kFalseAcks)) == 0) {
      const auto update = build_update(transport_.builder(), flags);
      (void)transport_.send(update);  // too large is fine: then nothing leaves
      world_.server().poll();
      return;
    }
    Builder builder;
    const auto update = build_update(builder, flags);
    std::vector<protocol::AckRange> ranges;
    std::uint64_t newest = 0;
    if ((flags & kFalseAcks) != 0) {
      const auto known = newest_packet(world_.server_port());
      newest =
          (known ? known->sequence.value : 0) + static_cast<std::uint64_t>(std::int64_t{input_.byte()} - 64);
      for (std::uint32_t i = input_.below(64); i > 0; --i) {
        const std::uint16_t gap = input_.byte();
        ranges.emplace_back(ranges.empty() ? std::uint16_t{0} : gap, input_.byte());
      }
    }
    const auto acks = ranges.empty() ? 0 : builder.CreateVectorOfStructs(ranges);
    builder.Finish(protocol::CreatePacket(builder, newest, acks, input_.u32(),
                                          protocol::Payload::ClientUpdate, update.Union()));
    if (builder.GetSize() > kMaxPacketBodyBytes) return;
    const std::span body(builder.GetBufferPointer(), builder.GetSize());
    for (std::uint32_t i = (flags & kDamaged) != 0 ? input_.below(12) : 0; i > 0; --i) {
      const std::size_t at = input_.u16() % body.size();
      body[at] ^= input_.byte();
    }
    // Ahead of what the transport sends, which the server will take for old or doubled.
    const auto known = newest_packet(*port_);
    const Sequence sequence{(known ? known->sequence.value : 0) + 1};
    std::array<std::byte, kMaxDatagramBytes> datagram;
    const std::size_t size =
        seal(transport_.keys()->send, {DatagramType::Packet, transport_.connection_id().value, sequence}, {},
             std::as_bytes(body), datagram);
    (void)port_->send(kServerEndpoint, std::span(datagram).first(size));
    world_.server().poll();
  }

  FuzzInput& input_;
  FuzzWorld world_;
  std::unique_ptr<TappedPort> port_;
  ClientTransport transport_;
  std::uint32_t server_tick_ = 0;
  std::uint32_t ignored_ = 0;
  std::uint32_t ticks_ = 0;
  bool has_frozen_ = false;
};

SeedWriter& operator<<(SeedWriter& writer, Operation operation) {
  return writer.byte(static_cast<unsigned>(operation));
}

}  // namespace

std::vector<Seed> seeds() {
  std::vector<Seed> result;
  const auto input = demo::encode_input({.move_x = 1, .move_y = -0.5f, .aim_degrees = 30, .fire = true});
  {
    SeedWriter writer;  // two honest inputs, twice
    for (unsigned round = 0; round < 2; ++round) {
      (writer << Operation::Update).byte(kNewestTick).byte(2);
      for (unsigned i = 0; i < 2; ++i) writer.byte(101 + 2 * round + i).byte(demo::kInputBytes).bytes(input);
      writer.byte(0).byte(100);
      (writer << Operation::Run).byte(4);
    }
    result.push_back({"inputs", writer.written()});
  }
  {
    SeedWriter writer;
    (writer << Operation::Ignore).byte(9);
    (writer << Operation::Run).byte(6);
    (writer << Operation::Update).byte(0).byte(0).byte(1).byte(0).byte(1).byte(98).byte(1).u32(0x1234);
    (writer << Operation::Run).byte(9);
    result.push_back({"resync", writer.written()});
  }
  {
    SeedWriter writer;
    writer << Operation::Freeze;
    (writer << Operation::Run).byte(8);
    (writer << Operation::Update).byte(kDigest).byte(0).byte(0).byte(100).byte(1).u32(1).u32(2);
    result.push_back({"digest", writer.written()});
  }
  {
    SeedWriter writer;
    (writer << Operation::Run).byte(5);
    (writer << Operation::Update)
        .byte(kFalseAcks)
        .byte(0)
        .byte(0)
        .byte(64)
        .byte(2)
        .byte(0)
        .byte(1)
        .byte(1)
        .byte(2)
        .u32(0);
    (writer << Operation::Update)
        .byte(kDamaged)
        .byte(1)
        .byte(102)
        .byte(5)
        .bytes(input)
        .byte(0)
        .u32(0)
        .byte(2)
        .u16(30)
        .byte(1)
        .u16(50)
        .byte(0x80);
    (writer << Operation::Run).byte(5);
    writer << Operation::Rejoin;
    (writer << Operation::Run).byte(3);
    result.push_back({"false_acks", writer.written()});
  }
  return result;
}

}  // namespace shoal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return shoal::fuzz::run_bounded<shoal::fuzz::UpdateFuzz>(bytes, size);
}
