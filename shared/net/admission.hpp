// Who may join, and as whom. The transport asks when a client's cookie came back and again when its claim is open;
// nothing here knows of datagrams.
//
// 1. Who shows nothing but a key is the player of that key; who shows a ticket is the player it names; who shows a
//    resume ticket is who they were, if they prove the key they had.
// 2. A ticket admits one player once (UsedTickets); a judgement alone uses nothing up, admit() does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shared/base/result.hpp"
#include "shared/base/time.hpp"
#include "shared/net/address_limits.hpp"
#include "shared/net/ban_list.hpp"
#include "shared/net/handshake.hpp"
#include "shared/net/resume_ticket.hpp"
#include "shared/net/used_tickets.hpp"

namespace shoal {

enum class JoinMode : std::uint8_t {
  Open,      // everyone
  Password,  // who knows it
  Ticket,    // who has a ticket of the matchmaker
};

struct AdmissionConfig {
  JoinMode mode = JoinMode::Open;
  std::string password{};     // 1 to kMaxCredentialBytes bytes in mode Password
  PublicKey ticket_issuer{};  // Ed25519, in mode Ticket
  /// The name that tickets for this server carry; empty: the server's public key in hexadecimal digits.
  std::string audience{};
  /// How long a player may stay away and come back without other credentials.
  std::int64_t resume_seconds = 24 * 3600;
  std::size_t max_used_tickets = 65536;
  AddressLimitsConfig limits{};
};

/// What a client says about itself, when its key is proved.
struct Claim {
  CredentialKind kind = CredentialKind::None;
  std::span<const std::byte> credentials;
  PublicKey player_key;
};

struct Admitted {
  PlayerId player;
  std::string name;  // of the ticket; else empty
  PublicKey player_key;
  std::optional<Ticket> ticket;  // that admit() uses up
};

class Admission {
 public:
  /// `wall_clock` outlives it. `identity`: the server's secret.
  Admission(AdmissionConfig config, const AgreementKey& identity, const WallClock& wall_clock);

  /// Before any work with keys is done for the peer, whose address is proved. None: it may go on.
  std::optional<RefuseBody> stop_at_the_door(const Endpoint& peer, Time now);
  Result<Admitted, RefuseBody> judge(const Claim& claim);
  /// Whether `peer` may open one more session, when the one that was admitted from `leaving` ends for it.
  bool has_room(const Endpoint& peer, const std::optional<Endpoint>& leaving) const {
    return limits_.has_room_for_session(peer, leaving);
  }
  /// The session opens. `peer` is counted until left().
  void admit(const Admitted& admitted, const Endpoint& peer, Time now);
  void left(const Endpoint& admitted_from) { limits_.session_closed(admitted_from); }
  std::vector<std::byte> resume_ticket(const Admitted& admitted, Entropy& entropy) const;

  void set_bans(BanList bans) { bans_ = std::move(bans); }
  const BanList& bans() const { return bans_; }

 private:
  Result<Admitted, RefuseBody> judge_ticket(const Claim& claim);
  /// None: the credentials are no resume ticket that is still good for this client.
  std::optional<Admitted> judge_resume(const Claim& claim) const;

  AdmissionConfig config_;
  const WallClock& wall_clock_;
  std::int64_t started_unix_;
  ResumeTicketMint resume_tickets_;
  AddressLimits limits_;
  UsedTickets used_tickets_;
  BanList bans_;
};

}  // namespace shoal
