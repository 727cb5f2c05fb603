// What stands before the table of each message: which type it is, and what it is for.
//
//   0        4       5      8            kind           bytes from 8 on                   table at
//   ┌────────┬───────┬──────┬─────────   Plain          –                                 8
//   │ type   │ kind  │ 0    │            Event          entity (8), tick (4), 0 (4)       24
//   └────────┴───────┴──────┴─────────   Request        number (4), 0 (4)                 16
//                                        Answer         number (4), 0 (4)                 16
//                                        Refusal        number (4), 0 (4)                 none
//
// Integers are little-endian. The table lies at a multiple of 8 bytes, so that it can be read where it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "shared/base/hash.hpp"
#include "shared/base/tick.hpp"

namespace shoal {

/// The name under which a table travels. Of tables that flatc made with --gen-name-strings it is the one in the
/// schema; for others specialise it.
template <class Table>
struct MessageName {
  static constexpr std::string_view value = Table::GetFullyQualifiedName();
};

/// The number of a type on the wire: the hash of its name.
template <class Table>
constexpr std::uint32_t message_type() {
  return fnv1a32(MessageName<Table>::value);
}

enum class MessageKind : std::uint8_t {
  Plain,
  Event,    // about an entity, in a tick
  Request,  // wants exactly one Answer or Refusal of the same number
  Answer,
  Refusal,  // nobody over there answers requests of this type
};

struct MessageHeader {
  std::uint32_t type = 0;  // of the table; in a Refusal that of the request
  MessageKind kind = MessageKind::Plain;
  std::uint32_t request = 0;  // its number: of Request, Answer, Refusal
  std::uint64_t entity = 0;   // its bits; 0 for none: of Event
  Tick tick{};                // of Event

  friend bool operator==(const MessageHeader&, const MessageHeader&) = default;
};

/// Where the table begins.
constexpr std::size_t message_header_bytes(MessageKind kind) {
  switch (kind) {
    case MessageKind::Plain:
      return 8;
    case MessageKind::Event:
      return 24;
    case MessageKind::Request:
    case MessageKind::Answer:
    case MessageKind::Refusal:
      return 16;
  }
  return 8;
}

/// Appends the bytes of the header.
void write_message_header(const MessageHeader& header, std::vector<std::byte>& message);
/// The header of a message, of which the table's bytes remain in `table`. None: it is not as a sender writes it.
std::optional<MessageHeader> read_message_header(std::span<const std::byte> message,
                                                 std::span<const std::byte>& table);

}  // namespace shoal
