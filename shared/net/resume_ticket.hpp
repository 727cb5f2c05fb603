// The server's own note about a player, which the client keeps and shows when it comes again. Only the server can read
// or make it: nothing is kept here, and a server that was restarted with the same identity still knows its players.
//
//   0              24                                                    size − 16     size
//   │ nonce        │ sealed: expires (8) · name length (1) · player (16) · key (32) · name │ tag │
//
// XChaCha20-Poly1305 with a random nonce, under a key derived from the server's identity and from what admits players:
// a new password ends all older tickets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shared/net/keys.hpp"
#include "shared/net/player_id.hpp"

namespace shoal {

struct ResumeTicket {
  PlayerId player;
  PublicKey player_key;  // who shows the ticket must prove this key
  std::string name;      // of the matchmaker's ticket, or empty
  std::int64_t expires_unix = 0;
};

class ResumeTicketMint {
 public:
  ResumeTicketMint(const Secret& identity, const Digest256& admission)
      : key_(derive({identity.data(), kKeyBytes}, "shoal resume", admission)) {}

  std::vector<std::byte> make(const ResumeTicket& ticket, Entropy& entropy) const;
  /// None: not ours, or changed. Whether it has expired is the caller's to check.
  std::optional<ResumeTicket> open(std::span<const std::byte> bytes) const;

 private:
  Secret key_;
};

}  // namespace shoal
