#include "tests/simulation/wire.hpp"

#include <fmt/core.h>

#include "shared/net/handshake.hpp"

namespace shoal::simulation {
namespace {

std::string text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

const char* to_string(Direction direction) {
  return direction == Direction::ToServer ? "to the server" : "to the client";
}

}  // namespace

void Wire::note(Direction direction, std::span<const std::byte> datagram) {
  PacketHeader header;
  if (read_header(datagram, header)) return fail("a datagram without a header");
  switch (header.type) {
    case DatagramType::Packet:
      return note_packet(direction, header, datagram.size());
    case DatagramType::Response:
      return note_handshake(header, ResponseClear::kBytes, datagram);
    case DatagramType::Accept:
      return note_handshake(header, kKeyBytes, datagram);
    case DatagramType::Denial:
      return note_handshake(header, 0, datagram);
    case DatagramType::Hello:
    case DatagramType::Challenge:
    case DatagramType::Refuse:
      return;  // nothing in them is sealed
  }
}

void Wire::note_packet(Direction direction, const PacketHeader& header, std::size_t size) {
  const SessionKey key{direction, header.connection};
  const auto [session, is_new] = sessions_.try_emplace(key);
  if (is_new) {
    sessions_in_order_.push_back(key);
    if (sessions_in_order_.size() > kMostKeys) {
      sessions_.erase(sessions_in_order_.front());
      sessions_in_order_.pop_front();
    }
  }
  if (header.sequence <= session->second.newest) {
    return fail(fmt::format("packet {} {} of connection {:016x} was sealed after number {}",
                            header.sequence.value, to_string(direction), header.connection,
                            session->second.newest.value));
  }
  session->second.newest = header.sequence;
  session->second.bytes += size;
  ++packets_;
}

void Wire::note_handshake(const PacketHeader& header, std::size_t clear_bytes,
                          std::span<const std::byte> datagram) {
  const std::string before = text(datagram.first(kPacketHeaderBytes + clear_bytes));
  const std::string sealed = text(datagram.subspan(before.size()));
  if (const auto known = remember(before, sealed); known && *known != sealed) {
    fail(fmt::format("two handshake datagrams of type {} for nonce {:016x} are sealed alike",
                     static_cast<int>(header.type), header.connection));
  }
  if (header.type != DatagramType::Accept) return;
  const std::string ephemeral = before.substr(kPacketHeaderBytes);
  if (const auto known = remember(ephemeral, before); known && *known != before)
    fail(fmt::format("the Accept for nonce {:016x} has an earlier one's ephemeral key", header.connection));
}

std::optional<std::string> Wire::remember(std::string key, std::string value) {
  const auto found = sealed_.find(key);
  if (found != sealed_.end()) return found->second;
  sealed_in_order_.push_back(key);
  sealed_.emplace(std::move(key), std::move(value));
  if (sealed_.size() > kMostKeys) {
    sealed_.erase(sealed_in_order_.front());
    sealed_in_order_.pop_front();
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Wire::sent_bytes(Direction direction, ConnectionId connection) const {
  const auto session = sessions_.find({direction, connection.value});
  if (session == sessions_.end()) return std::nullopt;
  return session->second.bytes;
}

}  // namespace shoal::simulation
