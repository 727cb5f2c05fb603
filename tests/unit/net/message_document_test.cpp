// What docs/protocol.md says of messages is what the code writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "schema/protocol_generated.h"
#include "shared/net/event_gate.hpp"
#include "shared/net/message_channels.hpp"
#include "shared/net/message_envelope.hpp"
#include "tests/unit/net/protocol_page.hpp"

namespace shoal {
namespace {

using ::testing::HasSubstr;

std::vector<std::byte> chat_message() {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(protocol::CreateRefuse(builder, protocol::RefuseReason::Busy, builder.CreateString("hi")));
  std::vector<std::byte> message;
  write_message_header({fnv1a32("test.Chat")}, message);
  const auto table = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  message.insert(message.end(), table.begin(), table.end());
  return message;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[std::to_integer<unsigned>(bytes[i]) >> 4];
    text += kDigits[std::to_integer<unsigned>(bytes[i]) & 15];
    text += i % 16 == 15 ? '\n' : ' ';
  }
  return text;
}

TEST(MessageDocument, MessageIsWrittenByteForByte) {
  EXPECT_THAT(example("message"), ::testing::ElementsAreArray(chat_message())) << hex(chat_message());
}

TEST(MessageDocument, TableIsWrittenByteForByteAndRead) {
  MessageChannels channels(kServerMessageLimits, kClientMessageLimits);
  ASSERT_TRUE(channels.queue(MessageChannel::Ordered, chat_message()));
  ASSERT_TRUE(channels.queue(MessageChannel::Unordered, {}));
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(channels.build(builder, 1000, Sequence{1}));
  const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  const std::vector<std::byte> page = example("messages");
  ASSERT_THAT(page, ::testing::ElementsAreArray(bytes)) << hex(bytes);

  MessageChannels other(kClientMessageLimits, kServerMessageLimits);
  ASSERT_FALSE(other.take(*flatbuffers::GetRoot<protocol::Messages>(page.data())));
  const auto first = other.next();
  ASSERT_TRUE(first);
  EXPECT_THAT(first->span(), ::testing::ElementsAreArray(chat_message()));
  const auto second = other.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->size, 0u);
}

TEST(MessageDocument, NumbersAreThoseOfTheCode) {
  const std::string text = document();
  EXPECT_EQ(kMaxMessageBytes, 1'048'576u);
  EXPECT_EQ(kMessageUnitBytes, 64u);
  EXPECT_EQ(kMessageCostBytes, 96u);
  EXPECT_EQ(kMaxFragments, 64u);
  EXPECT_EQ(kMessageWindow, 256u);
  EXPECT_EQ(EventGate::kMaxEvents, 256u);
  EXPECT_EQ(EventGate::kMaxBytes, 262'144u);
  EXPECT_EQ(EventGate::kMaxWait, seconds{1});
  const MessageLimits& server = kServerMessageLimits;
  const MessageLimits& client = kClientMessageLimits;
  EXPECT_EQ(server.ordered.max_message_bytes, 65'536u);
  EXPECT_EQ(server.ordered.window_bytes, 131'072u);
  EXPECT_EQ(server.unordered.max_message_bytes, 65'536u);
  EXPECT_EQ(server.unordered.window_bytes, 131'072u);
  EXPECT_EQ(client.ordered.max_message_bytes, 1'048'576u);
  EXPECT_EQ(client.ordered.window_bytes, 1'114'112u);
  EXPECT_EQ(client.unordered.max_message_bytes, 262'144u);
  EXPECT_EQ(client.unordered.window_bytes, 393'216u);
  for (const char* phrase : {"0 to 1,048,576 bytes", "**units** of 64 bytes", "**64 fragments**",
                             "**and 96**", "**256 messages**", "more than 256 of them, or 262,144 bytes",
                             "after one second", "| client to server | 65,536 | 131,072 | 65,536 | 131,072 |",
                             "| server to client | 1,048,576 | 1,114,112 | 262,144 | 393,216 |"}) {
    EXPECT_THAT(text, HasSubstr(phrase));
  }
}

}  // namespace
}  // namespace shoal
