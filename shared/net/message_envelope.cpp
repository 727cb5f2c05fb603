#include "shared/net/message_envelope.hpp"

namespace shoal {
namespace {

void put(std::uint64_t value, std::size_t bytes, std::vector<std::byte>& message) {
  for (std::size_t i = 0; i < bytes; ++i) message.push_back(static_cast<std::byte>(value >> (8 * i)));
}

std::uint64_t get(std::span<const std::byte> message, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= std::to_integer<std::uint64_t>(message[at + i]) << (8 * i);
  return value;
}

}  // namespace

void write_message_header(const MessageHeader& header, std::vector<std::byte>& message) {
  put(header.type, 4, message);
  put(static_cast<std::uint64_t>(header.kind), 4, message);
  if (header.kind == MessageKind::Event) {
    put(header.entity, 8, message);
    put(header.tick.value, 8, message);
  } else if (header.kind != MessageKind::Plain) {
    put(header.request, 8, message);
  }
}

std::optional<MessageHeader> read_message_header(std::span<const std::byte> message,
                                                 std::span<const std::byte>& table) {
  if (message.size() < 8) return std::nullopt;
  const std::uint64_t kind = get(message, 4, 4);  // with the zeros behind it
  if (kind > static_cast<std::uint64_t>(MessageKind::Refusal)) return std::nullopt;
  MessageHeader header;
  header.type = static_cast<std::uint32_t>(get(message, 0, 4));
  header.kind = static_cast<MessageKind>(kind);
  const std::size_t bytes = message_header_bytes(header.kind);
  if (message.size() < bytes) return std::nullopt;
  if (header.kind == MessageKind::Event) {
    header.entity = get(message, 8, 8);
    header.tick = Tick{static_cast<std::uint32_t>(get(message, 16, 4))};
    if (get(message, 20, 4) != 0) return std::nullopt;
  } else if (header.kind != MessageKind::Plain) {
    header.request = static_cast<std::uint32_t>(get(message, 8, 4));
    if (get(message, 12, 4) != 0) return std::nullopt;
  }
  table = message.subspan(bytes);
  if ((header.kind == MessageKind::Refusal) != table.empty()) return std::nullopt;
  return header;
}

}  // namespace shoal
