// docs/protocol.md is true: its examples are what the code writes and reads, its numbers are the code's.
#include <fmt/format.h>

#include <cctype>
#include <string>

#include "shared/net/input_channel.hpp"
#include "shared/net/ticket.hpp"
#include "tests/unit/net/net_fixture.hpp"
#include "tests/unit/net/protocol_page.hpp"

namespace shoal {
namespace {

/// A matcher would print the whole page.
bool page_says(const std::string& text) {
  return document().find(text) != std::string::npos;
}

/// Bytes as the page prints them, sixteen a line.
std::string lines_of(std::span<const std::byte> bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    text += fmt::format("{}{:02x}",
                        i == 0        ? ""
                        : i % 16 == 0 ? "\n"
                                      : " ",
                        std::to_integer<unsigned>(bytes[i]));
  return text;
}
std::string lines_of(std::span<const std::uint8_t> bytes) {
  return lines_of(std::as_bytes(bytes));
}
std::string lines_of(const Secret& secret) {
  return lines_of(std::as_bytes(secret.reveal()));
}
std::string lines_of(const PublicKey& key) {
  return lines_of(std::span<const std::uint8_t>(key.bytes));
}
std::string lines_of_example(const std::string& name) {
  return lines_of(std::span<const std::byte>(example(name)));
}

constexpr ConnectionId kConnection{0x1122334455660007};
constexpr std::uint64_t kNonce = 0x0102030405060708;

/// 32 bytes that count up from the first.
Secret counting_from(std::uint8_t first) {
  std::array<std::byte, kKeyBytes> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(first + i);
  return Secret::from_bytes(bytes);
}

/// The handshake of the page's example, from its four secrets.
struct WorkedHandshake {
  const AgreementKey client{counting_from(0x00)};
  const AgreementKey server{counting_from(0x20)};
  const AgreementKey ephemeral{counting_from(0x40)};
  const SignatureKey player{counting_from(0x60)};
  HandshakeContext context;
  OutgoingDatagram hello;
  OutgoingDatagram challenge;
  std::optional<ResponseKeys> keys;
  OutgoingDatagram response;
  std::optional<SessionSecrets> secrets;
  OutgoingDatagram accept;

  WorkedHandshake() {
    context = {3, kNonce, client.public_key(), {1000, {}}, 0x5C4E3A0000000001, server.public_key()};
    context.cookie.code.fill(0xCC);
    HandshakeWriter writer;
    writer.hello(kNonce, {context.protocol_version, context.client_key}, hello);
    writer.challenge(kNonce, {context.cookie, context.schema_hash, context.server_key}, challenge);

    keys.emplace(*client.agree(server.public_key()), context);
    ResponseBody body;
    body.schema_hash = context.schema_hash;
    body.credential_kind = CredentialKind::Password;
    static constexpr std::array<char, 6> kPassword{'s', 'a', 'r', 'd', 'i', 'n'};
    body.credentials = std::as_bytes(std::span(kPassword));
    body.player_key = player.public_key();
    const Digest256 asked = player_challenge(keys->transcript);
    body.player_signature = player.sign(std::as_bytes(std::span(asked)));
    body.ciphers = 1;
    writer.response(keys->response, kNonce, {context.protocol_version, context.client_key, context.cookie},
                    body, response);

    secrets.emplace(*keys, *client.agree(ephemeral.public_key()), response.span().last<kPacketTagBytes>(),
                    ephemeral.public_key());
    writer.accept({Cipher::ChaCha20Poly1305, secrets->accept}, kNonce, ephemeral.public_key(),
                  {kConnection,
                   seconds{10},
                   30,
                   Cipher::ChaCha20Poly1305,
                   player_of_key(player.public_key()),
                   {std::byte{1}, std::byte{2}}},
                  accept);
  }
  ConnectionKeys of_client() const {
    return {{Cipher::ChaCha20Poly1305, secrets->to_server}, {Cipher::ChaCha20Poly1305, secrets->to_client}};
  }
  ConnectionKeys of_server() const {
    return {{Cipher::ChaCha20Poly1305, secrets->to_client}, {Cipher::ChaCha20Poly1305, secrets->to_server}};
  }
};

TEST(ProtocolDocument, KeysOfTheExampleAreThoseOfTheCode) {
  const WorkedHandshake worked;
  EXPECT_EQ(lines_of_example("client-key"), lines_of(worked.client.public_key()));
  EXPECT_EQ(lines_of_example("server-key"), lines_of(worked.server.public_key()));
  EXPECT_EQ(lines_of_example("server-ephemeral"), lines_of(worked.ephemeral.public_key()));
  EXPECT_EQ(lines_of_example("player-key"), lines_of(worked.player.public_key()));
  const Secret& es = worked.keys->es;
  EXPECT_EQ(lines_of_example("es"), lines_of(es));
  EXPECT_EQ(es, *worked.server.agree(worked.client.public_key()));
  const Digest256& transcript = worked.keys->transcript;
  EXPECT_EQ(lines_of_example("transcript"), lines_of(std::span<const std::uint8_t>(transcript)));
  EXPECT_EQ(lines_of_example("response-key"),
            lines_of(derive({es.data(), kKeyBytes}, "shoal response", transcript)));
  EXPECT_EQ(lines_of_example("denial-key"),
            lines_of(derive({es.data(), kKeyBytes}, "shoal denial", transcript)));
  const Digest256 asked = player_challenge(transcript);
  EXPECT_EQ(lines_of_example("player-challenge"), lines_of(std::span<const std::uint8_t>(asked)));
  EXPECT_EQ(
      lines_of_example("player-signature"),
      lines_of(std::span<const std::uint8_t>(worked.player.sign(std::as_bytes(std::span(asked))).bytes)));
  EXPECT_EQ(lines_of_example("ee"), lines_of(*worked.ephemeral.agree(worked.client.public_key())));
  EXPECT_EQ(lines_of_example("accept-key"), lines_of(worked.secrets->accept));
  EXPECT_EQ(lines_of_example("to-server-key"), lines_of(worked.secrets->to_server));
  EXPECT_EQ(lines_of_example("to-client-key"), lines_of(worked.secrets->to_client));
}

TEST(ProtocolDocument, ClearDatagramsAreWrittenByteForByteAndRead) {
  const WorkedHandshake worked;
  // Of the Hello only what is not zero: the page says how many zeros lie between.
  const auto hello = worked.hello.span();
  ASSERT_EQ(hello.size(), kMaxDatagramBytes);
  const std::vector<std::byte> start = example("hello-start");
  EXPECT_EQ(lines_of(std::span<const std::byte>(start)), lines_of(hello.first(start.size())));
  EXPECT_EQ(lines_of_example("hello-tag"), lines_of(hello.last(kPacketTagBytes)));
  for (std::size_t i = start.size(); i < hello.size() - kPacketTagBytes; ++i)
    ASSERT_EQ(hello[i], std::byte{0});
  EXPECT_TRUE(page_says(fmt::format("{} zeros", hello.size() - kPacketTagBytes - start.size())));

  EXPECT_EQ(lines_of_example("challenge"), lines_of(worked.challenge.span()));
  const std::vector<std::byte> bytes = example("challenge");
  BodyBuffer buffer;
  Opened opened;
  ASSERT_FALSE(read_clear(bytes, buffer, opened));
  const auto challenge = read_challenge(opened.body);
  ASSERT_TRUE(challenge);
  EXPECT_EQ(challenge->cookie, worked.context.cookie);
  EXPECT_EQ(challenge->schema_hash, worked.context.schema_hash);
  EXPECT_EQ(challenge->server_key, worked.context.server_key);
}

TEST(ProtocolDocument, ResponseIsWrittenByteForByteAndRead) {
  const WorkedHandshake worked;
  EXPECT_EQ(lines_of_example("response"), lines_of(worked.response.span()));
  const std::vector<std::byte> bytes = example("response");
  const auto clear = read_response_clear(bytes);
  ASSERT_TRUE(clear);
  EXPECT_EQ(clear->protocol_version, kProtocolVersion);
  EXPECT_EQ(clear->client_key, worked.context.client_key);
  EXPECT_EQ(clear->cookie, worked.context.cookie);
  BodyBuffer buffer;
  Opened opened;
  ASSERT_FALSE(open(worked.keys->response, bytes, ResponseClear::kBytes, buffer, opened));
  EXPECT_EQ(lines_of_example("response-body"), lines_of(opened.body));
  const auto response = read_response(opened.body);
  ASSERT_TRUE(response);
  const Digest256 asked = player_challenge(worked.keys->transcript);
  EXPECT_TRUE(
      is_signed_by(response->player_key, std::as_bytes(std::span(asked)), response->player_signature));
}

TEST(ProtocolDocument, AcceptIsWrittenByteForByteAndRead) {
  const WorkedHandshake worked;
  EXPECT_EQ(lines_of_example("accept"), lines_of(worked.accept.span()));
  const std::vector<std::byte> bytes = example("accept");
  BodyBuffer buffer;
  Opened opened;
  EXPECT_EQ(read_accept_clear(bytes), worked.ephemeral.public_key());
  ASSERT_FALSE(open({Cipher::ChaCha20Poly1305, worked.secrets->accept}, bytes, kKeyBytes, buffer, opened));
  EXPECT_EQ(lines_of_example("accept-body"), lines_of(opened.body));
  EXPECT_EQ(opened.header, (PacketHeader{DatagramType::Accept, kNonce, Sequence{}}));
  const auto accept = read_accept(opened.body);
  ASSERT_TRUE(accept);
  EXPECT_EQ(accept->connection, kConnection);
  EXPECT_EQ(accept->time_out, seconds{10});
  EXPECT_EQ(accept->tick_rate_hz, 30u);
  EXPECT_EQ(accept->cipher, Cipher::ChaCha20Poly1305);
  EXPECT_EQ(accept->player, player_of_key(worked.player.public_key()));
  EXPECT_THAT(accept->resume_ticket, ::testing::ElementsAre(std::byte{1}, std::byte{2}));
}

TEST(ProtocolDocument, ClientUpdateIsWrittenByteForByte) {
  Connection connection(kConnection, kServerEndpoint, Time{}, WorkedHandshake().of_client());
  InputSender inputs;
  inputs.push(Tick{41}, std::array{std::byte{0xC0}, std::byte{0xDE}});
  flatbuffers::FlatBufferBuilder builder;
  const auto list = inputs.build(builder, 1000);
  const auto update = protocol::CreateClientUpdate(builder, 40, list);
  OutgoingDatagram datagram;
  ASSERT_TRUE(
      connection.write(builder, protocol::Payload::ClientUpdate, update.Union(), true, Time{}, datagram));
  EXPECT_EQ(lines_of_example("client-update"), lines_of(datagram.span()));
}

TEST(ProtocolDocument, ClientUpdateIsReadAsThePageSays) {
  const std::vector<std::byte> bytes = example("client-update");
  BodyBuffer buffer;
  Opened opened;
  Connection connection(kConnection, client_endpoint(1), Time{}, WorkedHandshake().of_server());
  ASSERT_FALSE(connection.open(bytes, buffer, opened));
  EXPECT_EQ(opened.header, (PacketHeader{DatagramType::Packet, kConnection.value, Sequence{1}}));
  EXPECT_EQ(lines_of_example("client-update-body"), lines_of(opened.body));
  std::vector<SendLog::Outcome> outcomes;
  const protocol::Packet* packet = nullptr;
  ASSERT_FALSE(connection.read(opened, Time{}, outcomes, packet));
  EXPECT_EQ(packet->payload_as_ClientUpdate()->newest_tick(), 40u);
  InputReceiver inputs;
  ASSERT_TRUE(inputs.accept(*packet->payload_as_ClientUpdate()));
  const auto input = inputs.next();
  ASSERT_TRUE(input);
  EXPECT_EQ(input->tick, Tick{41});
  EXPECT_THAT(input->payload, ::testing::ElementsAre(std::byte{0xC0}, std::byte{0xDE}));
}

TEST(ProtocolDocument, TicketIsWrittenByteForByte) {
  Ticket ticket{{}, 1'700'000'000, 1'700'000'300, "anna", "eu-1"};
  ticket.id.fill(0x11);
  const std::vector<std::byte> bytes = mint_ticket(SignatureKey(counting_from(0x80)), ticket);
  EXPECT_EQ(lines_of_example("ticket"), lines_of(std::span<const std::byte>(bytes)));
  EXPECT_TRUE(page_says("`" + to_text(bytes) + "`")) << to_text(bytes);
}

/// The value in the first column of the row whose second is that name; -1: no such row.
int value_in_table(const std::string& name) {
  const std::string text = document();
  const std::size_t cell = text.find(" | " + name + " | ");
  if (cell == std::string::npos) return -1;
  const std::size_t row = text.rfind("\n| ", cell);
  return std::stoi(text.substr(row + 3));
}

TEST(ProtocolDocument, ReasonsAndKindsHaveTheValuesOfTheSchema) {
  for (const auto reason : protocol::EnumValuesRefuseReason())
    EXPECT_EQ(value_in_table(protocol::EnumNameRefuseReason(reason)), static_cast<int>(reason));
  for (const auto reason : protocol::EnumValuesCloseReason()) {
    if (reason == protocol::CloseReason::Unspecified)
      continue;  // the first such row is that of refusals: 0, too
    EXPECT_EQ(value_in_table(protocol::EnumNameCloseReason(reason)), static_cast<int>(reason));
  }
  for (const auto kind : protocol::EnumValuesCredentialKind())
    EXPECT_EQ(value_in_table(protocol::EnumNameCredentialKind(kind)), static_cast<int>(kind));
  const std::pair<const char*, DatagramType> types[] = {
      {"Hello", DatagramType::Hello},       {"Challenge", DatagramType::Challenge},
      {"Response", DatagramType::Response}, {"Accept", DatagramType::Accept},
      {"Refuse", DatagramType::Refuse},     {"Packet", DatagramType::Packet},
      {"Denial", DatagramType::Denial}};
  for (const auto& [name, type] : types) EXPECT_EQ(value_in_table(name), static_cast<int>(type)) << name;
}

TEST(ProtocolDocument, CountersAreNamedWhereTheirDutyStands) {
  const std::string text = document();
  const std::string duties = text.substr(text.find("## Duties of the receiver"));
  for (std::size_t i = 0; i < kBadDatagrams; ++i) {
    std::string words(to_string(static_cast<BadDatagram>(i)));  // "too far ahead" is TooFarAhead
    std::string name;
    for (std::size_t at = 0; at < words.size(); ++at) {
      if (words[at] == ' ') continue;
      const bool is_first = at == 0 || words[at - 1] == ' ';
      name += is_first ? static_cast<char>(std::toupper(static_cast<unsigned char>(words[at]))) : words[at];
    }
    const bool is_of_handshake = name == "BadServerKey";
    EXPECT_NE((is_of_handshake ? text : duties).find("`" + name + "`"), std::string::npos) << name;
  }
}

TEST(ProtocolDocument, NumbersAreThoseOfTheCode) {
  EXPECT_EQ(kMaxDatagramBytes, 1200u);
  EXPECT_EQ(kMaxPacketBodyBytes, 1167u);
  EXPECT_EQ(kPacketHeaderBytes + kPacketTagBytes, 33u);
  EXPECT_EQ(kMaxSequenceJump, 65536u);
  EXPECT_EQ(kAckCoverage, milliseconds{1200});
  EXPECT_EQ(kMaxAckRanges, 48u);
  EXPECT_EQ(kKeepAlive, milliseconds{250});
  EXPECT_EQ(kHandshakeRetry, milliseconds{200});
  EXPECT_EQ(kHandshakeRetryMax, milliseconds{800});
  EXPECT_EQ(kCloseCopies, 4);
  EXPECT_EQ(kCookieLifetime, seconds{10});
  EXPECT_EQ(kCookieSecretLifetime, seconds{60});
  EXPECT_EQ(kMaxInputs, 64u);
  EXPECT_EQ(kMaxInputBytes, 64u);
  EXPECT_EQ(kMaxDetailBytes, 800u);
  EXPECT_EQ(kProtocolVersion, 3u);
  EXPECT_EQ(ResponseClear::kBytes, 76u);
  EXPECT_EQ(kMaxCredentialBytes, 256u);
  EXPECT_EQ(kMaxTicketNameBytes, 64u);
  EXPECT_EQ(kPathRetry, milliseconds{200});
  EXPECT_EQ(kPathLifetime, seconds{5});
  EXPECT_EQ(kPacketsPerKey, std::uint64_t{1} << 28);
  for (const char* phrase :
       {"up to 1167 bytes", "up to 48 runs", "1.2 seconds", "every 800 ms", "good for 10 seconds",
        "every 60 seconds", "at most 64, of", "cut at 800 bytes", "than 65,536 ahead", "protocol version 3",
        "76 bytes", "at most one in 200 ms", "same for 5 seconds", "After 2^28 packets", "1 to 64 bytes",
        "256 bytes at most"}) {
    EXPECT_TRUE(page_says(phrase)) << phrase;
  }
}

}  // namespace
}  // namespace shoal
