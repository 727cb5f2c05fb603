#include "tests/simulation/attackers.hpp"

#include <algorithm>
#include <utility>

#include "schema/messages_generated.h"
#include "shared/net/message_envelope.hpp"
#include "shared/net/message_limits.hpp"
#include "tests/simulation/mail_generated.h"

namespace shoal::simulation {
namespace {

constexpr std::uint32_t kTypes[] = {message_type<demo::Chat>(), message_type<Letter>(),
                                    message_type<Question>(), message_type<Answer>()};

Endpoint anyone(Random& random) {
  return Endpoint::ipv4(10, 66, static_cast<std::uint8_t>(random.below(256)),
                        static_cast<std::uint8_t>(random.below(256)),
                        static_cast<std::uint16_t>(1 + random.below(65535)));
}

void flip_some(Random& random, std::vector<std::byte>& bytes) {
  for (std::uint32_t flips = 1 + random.below(4); flips > 0 && !bytes.empty(); --flips) {
    const std::uint32_t bit = random.below(static_cast<std::uint32_t>(bytes.size()) * 8);
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  if (random.chance(0.2)) bytes.resize(random.below(static_cast<std::uint32_t>(bytes.size()) + 1));
}

std::vector<std::byte> noise(Random& random, std::uint32_t most) {
  std::vector<std::byte> bytes(random.below(most + 1));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

// The last datagrams that were sent.
class Capture {
 public:
  struct Sent {
    Endpoint source;
    Endpoint target;
    std::vector<std::byte> bytes;
  };
  void add(const Endpoint& source, const Endpoint& target, std::span<const std::byte> bytes) {
    if (sent_.size() == 300) sent_.pop_front();
    sent_.push_back({source, target, {bytes.begin(), bytes.end()}});
  }
  const Sent* any(Random& random) const {
    return sent_.empty() ? nullptr : &sent_[random.below(static_cast<std::uint32_t>(sent_.size()))];
  }

 private:
  std::deque<Sent> sent_;
};

// Hellos from everywhere whose Challenge nobody answers; some not padded, to get more than was sent.
class HelloFlood final : public Attacker {
 public:
  using Attacker::Attacker;

 private:
  void act(const Scene& scene) override {
    PublicKey key;
    for (std::uint8_t& byte : key.bytes) byte = static_cast<std::uint8_t>(random_.below(256));
    writer_.hello(random_.next(), {random_.chance(0.9) ? kProtocolVersion : random_.below(9), key}, hello_);
    std::span<const std::byte> bytes = hello_.span();
    std::array<std::byte, kMaxDatagramBytes> cut;
    if (random_.chance(0.3)) {
      PacketHeader header;
      (void)read_header(bytes, header);
      const std::size_t body = 60 + random_.below(100);
      bytes = std::span(cut).first(write_clear(header, bytes.subspan(kPacketHeaderBytes, body), cut));
    }
    const bool as_client = !scene.clients.empty() && random_.chance(0.1);
    scene.network->forge(as_client
                             ? scene.clients[random_.below(static_cast<std::uint32_t>(scene.clients.size()))]
                             : anyone(random_),
                         scene.server, bytes);
  }

  HandshakeWriter writer_;
  OutgoingDatagram hello_;
};

// Noise and damaged copies under other people's addresses, to both sides.
class Spoofer final : public Attacker {
 public:
  using Attacker::Attacker;
  void see(const Endpoint& source, const Endpoint& target, std::span<const std::byte> bytes) override {
    capture_.add(source, target, bytes);
  }

 private:
  void act(const Scene& scene) override {
    const Capture::Sent* captured = capture_.any(random_);
    if (captured == nullptr) return;
    std::vector<std::byte> bytes = random_.chance(0.7) ? captured->bytes : noise(random_, 1300);
    const Endpoint source = captured->source;
    const Endpoint target = captured->target;
    flip_some(random_, bytes);
    scene.network->forge(source, target, bytes);
  }
  Capture capture_;
};

// True copies, late or early, under the sender's address or its own.
class Replayer final : public Attacker {
 public:
  using Attacker::Attacker;
  void see(const Endpoint& source, const Endpoint& target, std::span<const std::byte> bytes) override {
    capture_.add(source, target, bytes);
    if (source != home() && target != home() && random_.chance(0.1))
      fresh_ = {source, target, {bytes.begin(), bytes.end()}};
  }

 private:
  void act(const Scene& scene) override {
    if (random_.chance(0.5) && !fresh_.bytes.empty() && fresh_.target == scene.server) {
      // Faster than the original.
      const auto bytes = std::exchange(fresh_.bytes, {});
      return scene.network->forge(home(), scene.server, bytes);
    }
    const Capture::Sent* captured = capture_.any(random_);
    if (captured == nullptr) return;
    const Capture::Sent copy = *captured;
    const bool as_itself = random_.chance(0.3) && copy.target == scene.server;
    scene.network->forge(as_itself ? home() : copy.source, copy.target, copy.bytes);
  }
  Capture capture_;
  Capture::Sent fresh_;
};

// Has an account, so it joins, and then says anything.
class Liar : public Attacker, private ClientTransport::Handler {
 public:
  using Attacker::Attacker;
  bool is_joined() const override { return transport_ && transport_->state() == ClientState::Connected; }

 protected:
  virtual std::vector<std::byte> password(const Scene& scene) const { return scene.password; }

  void between_acts(const Scene& scene) override {
    if (!port_) {
      port_ = scene.network->open(home());
      ClientTransportConfig config;
      config.server = scene.server;
      config.schema = scene.schema;
      config.credentials = password(scene);
      if (!config.credentials.empty()) config.credential_kind = CredentialKind::Password;
      ClientTransport::Handler& handler = *this;
      transport_ = std::make_unique<ClientTransport>(*port_, *scene.clock, entropy_, config, handler);
    }
    if (transport_->state() == ClientState::Idle || transport_->state() == ClientState::Closed) {
      next_ = 1;
      letters_ = {};
      transport_->connect();
    }
    transport_->poll();
  }
  void finish() override {
    if (transport_) transport_->close();
  }
  void act(const Scene& scene) override {
    if (!is_joined()) return;
    builder_.Clear();
    if (random_.chance(0.2)) {
      build_messages();
    } else {
      build_lie();
    }
    std::vector<std::byte> body(builder_.GetSize());
    std::memcpy(body.data(), builder_.GetBufferPointer(), body.size());
    if (random_.chance(0.5)) flip_some(random_, body);
    if (random_.chance(0.1)) body = noise(random_, kMaxPacketBodyBytes);
    if (body.size() > kMaxPacketBodyBytes) return;
    next_ += random_.chance(0.02) ? random_.below(100'000) : 1;
    std::array<std::byte, kMaxDatagramBytes> datagram;
    const std::size_t size =
        seal(transport_->keys()->send,
             {DatagramType::Packet, transport_->connection_id().value, Sequence{next_}}, {}, body, datagram);
    (void)port_->send(scene.server, std::span(datagram).first(size));
  }

 private:
  void build_lie() {
    std::vector<flatbuffers::Offset<protocol::Input>> inputs;
    for (std::uint32_t i = random_.below(4); i > 0; --i) {
      const std::vector<std::uint8_t> payload(random_.below(90), static_cast<std::uint8_t>(random_.next()));
      inputs.push_back(protocol::CreateInput(builder_, any_tick(), builder_.CreateVector(payload)));
    }
    std::vector<flatbuffers::Offset<protocol::Resync>> resyncs;
    for (std::uint32_t i = random_.below(6); i > 0; --i) {
      const std::uint32_t chunk =
          random_.chance(0.7) ? random_.below(40) : static_cast<std::uint32_t>(random_.next());
      resyncs.push_back(
          protocol::CreateResync(builder_, chunk, static_cast<std::uint16_t>(random_.below(3)), any_tick()));
    }
    const auto inputs_at = builder_.CreateVector(inputs);
    const auto resyncs_at = builder_.CreateVector(resyncs);
    const auto digest =
        protocol::CreateDigestReport(builder_, any_tick(), protocol::DigestResult::Differs, 1, 2);
    const auto update = protocol::CreateClientUpdate(builder_, any_tick(), inputs_at, resyncs_at,
                                                     random_.chance(0.2) ? digest : 0);
    std::vector<protocol::AckRange> ranges;
    for (std::uint32_t i = random_.below(5); i > 0; --i) {
      ranges.emplace_back(static_cast<std::uint16_t>(ranges.empty() ? 0 : 1 + random_.below(3)),
                          static_cast<std::uint16_t>(1 + random_.below(40)));
    }
    const auto acks = ranges.empty() ? 0 : builder_.CreateVectorOfStructs(ranges);
    const std::uint64_t newest = ranges.empty() ? 0 : newest_heard_ + random_.below(3);
    builder_.Finish(protocol::CreatePacket(builder_, newest, acks, static_cast<std::uint32_t>(random_.next()),
                                           protocol::Payload::ClientUpdate, update.Union()));
  }
  // What a handler gets to see: nothing in it, or words.
  std::vector<std::byte> any_table() {
    flatbuffers::FlatBufferBuilder builder;
    const auto words = random_.chance(0.5) ? builder.CreateString(std::string(random_.below(300), 'x')) : 0;
    builder.Finish(demo::CreateChat(builder, words));
    const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
    return {bytes.begin(), bytes.end()};
  }
  // Mostly whole messages in their turn, so that they reach the routers; of types that there are. What ends the session
  // is seldom among them.
  void build_messages() {
    std::array<std::vector<protocol::FragmentEntry>, kMessageChannels> entries;
    std::vector<std::byte> bodies;
    for (std::size_t channel = 0; channel < kMessageChannels; ++channel) {
      for (std::uint32_t i = random_.below(3); i > 0; --i) {
        std::vector<std::byte> message;
        write_message_header(
            {random_.chance(0.8) ? kTypes[random_.below(4)] : static_cast<std::uint32_t>(random_.next()),
             static_cast<MessageKind>(random_.below(5)), random_.below(100), random_.next(),
             Tick{any_tick()}},
            message);
        const auto table = random_.chance(0.02) ? noise(random_, 90) : any_table();
        message.insert(message.end(), table.begin(), table.end());
        if (random_.chance(0.02)) flip_some(random_, message);
        const auto bytes = static_cast<std::uint32_t>(message.size());
        const bool is_wild = random_.chance(0.02);
        entries[channel].emplace_back(
            is_wild ? static_cast<std::uint32_t>(random_.next()) : letters_[channel]++,
            is_wild ? random_.below(1u << 21) : bytes,
            static_cast<std::uint16_t>(is_wild ? random_.below(4) : 0),
            static_cast<std::uint16_t>(message_units(bytes)));
        bodies.insert(bodies.end(), message.begin(), message.end());
      }
    }
    const auto ordered = builder_.CreateVectorOfStructs(entries[0]);
    const auto unordered = builder_.CreateVectorOfStructs(entries[1]);
    const auto bodies_at =
        builder_.CreateVector(reinterpret_cast<const std::uint8_t*>(bodies.data()), bodies.size());
    const auto limit = random_.chance(0.02)
                           ? flatbuffers::Optional<std::uint32_t>(static_cast<std::uint32_t>(random_.next()))
                           : flatbuffers::nullopt;
    const auto messages =
        protocol::CreateMessages(builder_, ordered, unordered, bodies_at, limit, flatbuffers::nullopt);
    builder_.Finish(protocol::CreatePacket(builder_, 0, 0, 0, protocol::Payload::Messages, messages.Union()));
  }
  std::uint32_t any_tick() {
    return random_.chance(0.8) ? server_tick_ + random_.below(80) - 20
                               : static_cast<std::uint32_t>(random_.next());
  }

  void on_connected(const AcceptBody&) override {}
  PacketVerdict on_packet(Sequence sequence, const protocol::Packet& packet) override {
    newest_heard_ = std::max(newest_heard_, sequence.value);
    server_tick_ = packet.payload_as_Frame()->tick();
    return random_.chance(0.5) ? PacketVerdict::Acknowledge : PacketVerdict::Ignore;
  }
  void on_acknowledged(Sequence) override {}
  void on_lost(Sequence) override {}
  void on_closed(CloseReason, std::string_view) override { newest_heard_ = 0; }

  SeededEntropy entropy_{mix64(plan_.seed + 1)};
  std::unique_ptr<DatagramPort> port_;
  std::unique_ptr<ClientTransport> transport_;
  flatbuffers::FlatBufferBuilder builder_;
  std::uint64_t next_ = 1;
  std::array<std::uint32_t, kMessageChannels> letters_{};
  std::uint64_t newest_heard_ = 0;
  std::uint32_t server_tick_ = 0;
};

// Says everything right but the password.
class Stranger final : public Liar {
 public:
  using Liar::Liar;

 private:
  std::vector<std::byte> password(const Scene& scene) const override {
    std::vector<std::byte> wrong = scene.password;
    if (!wrong.empty()) wrong.back() ^= std::byte{1};
    return wrong;
  }
};

// Opens one session after the other, each whole, and says nothing in any of them. It comes from outside, so that the
// limits of its address hold. Half of its sessions are of one player, the others of ever new ones.
class Silent final : public Attacker, private ClientTransport::Handler {
 public:
  Silent(const AttackerPlan& plan, std::uint64_t number)
      : Attacker(plan, number), one_player_(Secret::random(entropy_)) {}

  Endpoint home() const override {
    return Endpoint::ipv4(198, 51, 100, static_cast<std::uint8_t>(number() + 1), 4000);
  }
  bool may_join_from(const Endpoint& peer, bool) const override { return peer.address == home().address; }
  std::size_t players() const override { return players_; }
  std::size_t most_sessions() const override { return kMostSessionsOfAnAddress; }

 private:
  void act(const Scene& scene) override {
    if (transport_) return;  // one join at a time
    Endpoint from = home();
    from.port = static_cast<std::uint16_t>(from.port + ++joins_);
    port_ = scene.network->open(from);
    ClientTransportConfig config;
    config.server = scene.server;
    config.schema = scene.schema;
    config.credentials = scene.password;
    if (!config.credentials.empty()) config.credential_kind = CredentialKind::Password;
    const bool is_the_one_player = random_.chance(0.5);
    if (is_the_one_player) config.player_key = one_player_;
    if (!is_the_one_player || !std::exchange(has_one_player_, true)) ++players_;
    ClientTransport::Handler& handler = *this;
    transport_ = std::make_unique<ClientTransport>(*port_, *scene.clock, entropy_, config, handler);
    transport_->connect();
  }
  void between_acts(const Scene&) override {
    if (!transport_) return;
    transport_->poll();
    if (transport_->state() == ClientState::Connecting) return;
    // In, or refused: from here on nobody is there any more.
    transport_.reset();
    port_.reset();
  }
  void finish() override {
    transport_.reset();
    port_.reset();
  }

  void on_connected(const AcceptBody&) override {}
  PacketVerdict on_packet(Sequence, const protocol::Packet&) override { return PacketVerdict::Ignore; }
  void on_acknowledged(Sequence) override {}
  void on_lost(Sequence) override {}
  void on_closed(CloseReason, std::string_view) override {}

  SeededEntropy entropy_{mix64(plan_.seed + 1)};
  Secret one_player_;
  bool has_one_player_ = false;
  std::uint32_t joins_ = 0;
  std::size_t players_ = 0;
  std::unique_ptr<DatagramPort> port_;
  std::unique_ptr<ClientTransport> transport_;
};

// Has the password, knows who plays by their public keys, and claims to be one of them.
class Impostor final : public Attacker {
 public:
  using Attacker::Attacker;

 private:
  void act(const Scene& scene) override {
    if (scene.players.empty()) return;
    if (!port_) port_ = scene.network->open(home());
    nonce_ = random_.next();
    ephemeral_ = AgreementKey::make(entropy_);
    writer_.hello(nonce_, {kProtocolVersion, ephemeral_->public_key()}, out_);
    (void)port_->send(scene.server, out_.span());
  }
  void between_acts(const Scene& scene) override {
    while (port_ && port_->receive(datagram_)) {
      Opened opened;
      if (read_clear(datagram_.span(), body_, opened) || opened.header.connection != nonce_) continue;
      if (opened.header.type != DatagramType::Challenge) continue;
      if (const auto challenge = read_challenge(opened.body)) claim(scene, *challenge);
    }
  }
  void claim(const Scene& scene, const ChallengeBody& challenge) {
    const auto es = ephemeral_->agree(challenge.server_key);
    if (!es) return;
    const ResponseKeys keys(*es, {kProtocolVersion, nonce_, ephemeral_->public_key(), challenge.cookie,
                                  challenge.schema_hash, challenge.server_key});
    ResponseBody body;
    body.schema_hash = challenge.schema_hash;
    body.credentials = scene.password;
    if (!body.credentials.empty()) body.credential_kind = CredentialKind::Password;
    body.player_key = scene.players[random_.below(static_cast<std::uint32_t>(scene.players.size()))];
    const Digest256 digest = player_challenge(keys.transcript);
    body.player_signature = own_.sign(std::as_bytes(std::span(digest)));
    body.ciphers = 1u << static_cast<unsigned>(Cipher::ChaCha20Poly1305);
    writer_.response(keys.response, nonce_, {kProtocolVersion, ephemeral_->public_key(), challenge.cookie},
                     body, out_);
    (void)port_->send(scene.server, out_.span());
  }

  SeededEntropy entropy_{mix64(plan_.seed + 1)};
  SignatureKey own_ = SignatureKey::make(entropy_);
  std::optional<AgreementKey> ephemeral_;
  std::uint64_t nonce_ = 0;
  std::unique_ptr<DatagramPort> port_;
  HandshakeWriter writer_;
  OutgoingDatagram out_;
  Datagram datagram_;
  BodyBuffer body_;
};

}  // namespace

void Attacker::step(const Scene& scene) {
  const Duration now = scene.clock->now().since_zero;
  const Duration passed = now - std::exchange(last_step_, now);
  if (now < plan_.from || is_finished_) return;
  if (now >= plan_.until) {
    is_finished_ = true;
    return finish();
  }
  between_acts(scene);
  owed_ += to_seconds(passed) * plan_.acts_per_second;
  for (; owed_ >= 1; owed_ -= 1) act(scene);
}

std::unique_ptr<Attacker> make_attacker(const AttackerPlan& plan, std::uint64_t number) {
  switch (plan.kind) {
    case AttackerKind::HelloFlood:
      return std::make_unique<HelloFlood>(plan, number);
    case AttackerKind::Spoofer:
      return std::make_unique<Spoofer>(plan, number);
    case AttackerKind::Replayer:
      return std::make_unique<Replayer>(plan, number);
    case AttackerKind::Liar:
      return std::make_unique<Liar>(plan, number);
    case AttackerKind::Stranger:
      return std::make_unique<Stranger>(plan, number);
    case AttackerKind::Silent:
      return std::make_unique<Silent>(plan, number);
    case AttackerKind::Impostor:
      return std::make_unique<Impostor>(plan, number);
  }
  return nullptr;
}

}  // namespace shoal::simulation
