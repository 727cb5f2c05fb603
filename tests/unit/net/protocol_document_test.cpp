// docs/protocol.md is true: its examples are what the code writes and reads, its numbers are the code's.
#include <fstream>
#include <sstream>
#include <string>

#include "shared/net/input_channel.hpp"
#include "tests/unit/net/net_fixture.hpp"

namespace shoal {
namespace {

using ::testing::HasSubstr;

std::string document() {
  const std::string here = __FILE__;
  const std::string root = here.substr(0, here.rfind("tests/unit/net/"));
  std::ifstream file(root + "docs/protocol.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The bytes between "```hex <name>" and "```".
std::vector<std::byte> example(const std::string& name) {
  const std::string text = document();
  const std::string fence = "```hex " + name + "\n";
  const std::size_t start = text.find(fence);
  if (start == std::string::npos) return {};
  const std::size_t first = start + fence.size();
  std::istringstream digits(text.substr(first, text.find("```", first) - first));
  std::vector<std::byte> bytes;
  for (unsigned value = 0; digits >> std::hex >> value;) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

constexpr ConnectionId kConnection{0x1122334455660007};
constexpr std::uint64_t kNonce = 0x0102030405060708;

/// The key of the page's examples: 00 01 02 … 1f.
SealingKey example_key() {
  std::array<std::byte, kKeyBytes> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  return {Cipher::ChaCha20Poly1305, Secret::from_bytes(bytes)};
}
ConnectionKeys example_keys() { return {example_key(), example_key()}; }

TEST(ProtocolDocument, ClientUpdateIsWrittenByteForByte) {
  Connection connection(kConnection, kServerEndpoint, Time{}, example_keys());
  InputSender inputs;
  inputs.push(Tick{41}, std::array{std::byte{0xC0}, std::byte{0xDE}});
  flatbuffers::FlatBufferBuilder builder;
  const auto list = inputs.build(builder, 1000);
  const auto update = protocol::CreateClientUpdate(builder, 40, list);
  OutgoingDatagram datagram;
  ASSERT_TRUE(
      connection.write(builder, protocol::Payload::ClientUpdate, update.Union(), true, Time{}, datagram));
  EXPECT_THAT(example("client-update"), ::testing::ElementsAreArray(datagram.span()));
}

TEST(ProtocolDocument, ClientUpdateIsReadAsThePageSays) {
  const std::vector<std::byte> bytes = example("client-update");
  BodyBuffer buffer;
  Opened opened;
  Connection connection(kConnection, client_endpoint(1), Time{}, example_keys());
  ASSERT_FALSE(connection.open(bytes, buffer, opened));
  EXPECT_EQ(opened.header, (PacketHeader{DatagramType::Packet, kConnection.value, Sequence{1}}));
  EXPECT_THAT(example("client-update-body"), ::testing::ElementsAreArray(opened.body));
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

TEST(ProtocolDocument, AcceptIsWrittenByteForByteAndRead) {
  HandshakeWriter writer;
  OutgoingDatagram datagram;
  PublicKey ephemeral;
  ephemeral.bytes.fill(0xEE);
  PlayerId player;
  player.bytes.fill(0xAA);
  writer.accept(example_key(), kNonce, ephemeral,
                {kConnection, seconds{10}, 30, Cipher::Aes256Gcm, player, {std::byte{1}, std::byte{2}}}, datagram);
  const std::vector<std::byte> bytes = example("accept");
  EXPECT_THAT(bytes, ::testing::ElementsAreArray(datagram.span()));
  BodyBuffer buffer;
  Opened opened;
  EXPECT_EQ(read_accept_clear(bytes), ephemeral);
  ASSERT_FALSE(open(example_key(), bytes, kKeyBytes, buffer, opened));
  EXPECT_THAT(example("accept-body"), ::testing::ElementsAreArray(opened.body));
  EXPECT_EQ(opened.header, (PacketHeader{DatagramType::Accept, kNonce, Sequence{}}));
  const auto accept = read_accept(opened.body);
  ASSERT_TRUE(accept);
  EXPECT_EQ(accept->connection, kConnection);
  EXPECT_EQ(accept->time_out, seconds{10});
  EXPECT_EQ(accept->tick_rate_hz, 30u);
  EXPECT_EQ(accept->cipher, Cipher::Aes256Gcm);
  EXPECT_EQ(accept->player, player);
  EXPECT_THAT(accept->resume_ticket, ::testing::ElementsAre(std::byte{1}, std::byte{2}));
}

TEST(ProtocolDocument, NumbersAreThoseOfTheCode) {
  const std::string text = document();
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
  for (const char* phrase :
       {"up to 1167 bytes", "up to 48 runs", "1.2 seconds", "every 800 ms", "good for 10 seconds",
        "every 60 seconds", "at most 64, of", "cut at 800 bytes", "more than 65,536 ahead"}) {
    EXPECT_THAT(text, HasSubstr(phrase));
  }
}

}  // namespace
}  // namespace shoal
