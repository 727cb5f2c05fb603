// Tickets of a matchmaker: who may join which server until when, signed with Ed25519. A matchmaker links this or
// writes the bytes itself:
//
//   0      4           20          28          36         37                                        size − 64
//   │ SHT1 │ id (16)   │ issued    │ expires   │ n │ player (n bytes) │ m │ audience (m bytes) │ signature (64) │
//
// issued and expires: seconds of Unix time, 8 bytes little-endian. The signature covers "shoal ticket" and everything
// before it. The text form is base64url without padding (RFC 4648, section 5).
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.hpp"
#include "shared/net/keys.hpp"

namespace shoal {

using TicketId = std::array<std::uint8_t, 16>;

/// Longest name of a player and of an audience.
inline constexpr std::size_t kMaxTicketNameBytes = 64;

struct Ticket {
  TicketId id{};  // random: two tickets never share one
  std::int64_t issued_unix = 0;
  std::int64_t expires_unix = 0;
  std::string player;  // 1 to kMaxTicketNameBytes bytes: the matchmaker's name for the player
  std::string
      audience;  // 1 to kMaxTicketNameBytes bytes: the server that it is for (shoal-server --audience)
};

/// For a matchmaker. REQUIRES: names of the lengths above.
std::vector<std::byte> mint_ticket(const SignatureKey& issuer, const Ticket& ticket);
/// The same with a random id, valid from now on.
std::vector<std::byte> mint_ticket(const SignatureKey& issuer, std::string_view player,
                                   std::string_view audience, std::int64_t now_unix,
                                   std::int64_t valid_seconds, Entropy& entropy);

enum class TicketError : std::uint8_t {
  Malformed,    // no ticket, or cut
  WrongIssuer,  // another key signed it, or it was changed
};
/// Whom it is for and whether it is still good are the caller's to check.
Result<Ticket, TicketError> open_ticket(std::span<const std::byte> bytes, const PublicKey& issuer);
/// What it says, without a look at the signature: for showing it to people.
std::optional<Ticket> read_ticket(std::span<const std::byte> bytes);

std::string to_text(std::span<const std::byte> ticket);
std::optional<std::vector<std::byte>> ticket_from_text(std::string_view text);

}  // namespace shoal
