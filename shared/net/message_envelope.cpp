#include "shared/net/message_envelope.hpp"

#include "shared/base/little_endian.hpp"

namespace shoal {
namespace {

template <class T>
void put(T value, std::vector<std::byte>& message) {
  message.resize(message.size() + sizeof value);
  store_little_endian(&message[message.size() - sizeof value], value);
}

}  // namespace

void write_message_header(const MessageHeader& header, std::vector<std::byte>& message) {
  put(header.type, message);
  put(static_cast<std::uint32_t>(header.kind), message);
  if (header.kind == MessageKind::Event) {
    put(header.entity, message);
    put(std::uint64_t{header.tick.value}, message);
  } else if (header.kind != MessageKind::Plain) {
    put(std::uint64_t{header.request}, message);
  }
}

std::optional<MessageHeader> read_message_header(std::span<const std::byte> message,
                                                 std::span<const std::byte>& table) {
  if (message.size() < 8) return std::nullopt;
  const auto kind = load_little_endian<std::uint32_t>(&message[4]);  // with the zeros behind it
  if (kind > static_cast<std::uint32_t>(MessageKind::Refusal)) return std::nullopt;
  MessageHeader header;
  header.type = load_little_endian<std::uint32_t>(&message[0]);
  header.kind = static_cast<MessageKind>(kind);
  const std::size_t bytes = message_header_bytes(header.kind);
  if (message.size() < bytes) return std::nullopt;
  if (header.kind == MessageKind::Event) {
    header.entity = load_little_endian<std::uint64_t>(&message[8]);
    header.tick = Tick{load_little_endian<std::uint32_t>(&message[16])};
    if (load_little_endian<std::uint32_t>(&message[20]) != 0) return std::nullopt;
  } else if (header.kind != MessageKind::Plain) {
    header.request = load_little_endian<std::uint32_t>(&message[8]);
    if (load_little_endian<std::uint32_t>(&message[12]) != 0) return std::nullopt;
  }
  table = message.subspan(bytes);
  if ((header.kind == MessageKind::Refusal) != table.empty()) return std::nullopt;
  return header;
}

}  // namespace shoal
