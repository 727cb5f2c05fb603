#include "shared/net/admission.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <limits>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"

namespace shoal {
namespace {

// Clocks of honest machines differ by so much: a ticket is good for that long after its end.
constexpr std::int64_t kClockSkewSeconds = 5;

// Until when a ticket is good; a matchmaker may have meant for ever.
std::int64_t last_second(const Ticket& ticket) {
  constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max() - kClockSkewSeconds;
  return std::min(ticket.expires_unix, kLatest) + kClockSkewSeconds;
}

Digest256 digest_of(const AdmissionConfig& config) {
  return Hasher("shoal admission")
      .add(static_cast<std::uint64_t>(config.mode))
      .add(std::as_bytes(std::span(config.password)))
      .add(config.ticket_issuer)
      .add(std::as_bytes(std::span(fault("net-notes-for-all") ? std::string() : config.audience)))
      .finish();
}

// Of one length, whatever was typed.
Digest256 password_digest(std::span<const std::byte> password) {
  return Hasher("shoal password").add(password).finish();
}

}  // namespace

Admission::Admission(AdmissionConfig config, const AgreementKey& identity, const WallClock& wall_clock)
    : config_(std::move(config)),
      wall_clock_(wall_clock),
      started_unix_(wall_clock.unix_seconds()),
      resume_tickets_(identity.secret(), digest_of(config_)),
      limits_(config_.limits, identity.secret()),
      used_tickets_(config_.max_used_tickets) {
  SHOAL_ASSERT(config_.mode != JoinMode::Password ||
                   (!config_.password.empty() && config_.password.size() <= kMaxCredentialBytes),
               "a password has 1 to kMaxCredentialBytes bytes");
  if (config_.audience.empty()) config_.audience = to_string(identity.public_key());
}

std::optional<RefuseBody> Admission::stop_at_the_door(const Endpoint& peer, Time now) {
  if (bans_.bans(peer)) return RefuseBody{RefuseReason::Banned, {}};
  if (!limits_.take_handshake(peer, now))
    return RefuseBody{RefuseReason::Busy, "too many handshakes from this address"};
  return std::nullopt;
}

Result<Admitted, RefuseBody> Admission::judge(const Claim& claim) {
  Admitted admitted{player_of_key(claim.player_key), {}, claim.player_key, {}};
  if (auto resumed = judge_resume(claim)) {
    admitted = *std::move(resumed);
  } else if (claim.kind == CredentialKind::Resume && config_.mode != JoinMode::Open) {
    return Failure{RefuseBody{RefuseReason::TicketExpired, "the session cannot be resumed any more"}};
  } else if (config_.mode == JoinMode::Password) {
    const Digest256 given = password_digest(
        claim.kind == CredentialKind::Password ? claim.credentials : std::span<const std::byte>{});
    const Digest256 wanted = password_digest(std::as_bytes(std::span(config_.password)));
    const bool is_right = claim.kind == CredentialKind::Password &&
                          sodium_memcmp(given.data(), wanted.data(), given.size()) == 0;
    if (!is_right && !fault("net-any-password")) {
      return Failure{RefuseBody{RefuseReason::WrongPassword,
                                claim.kind == CredentialKind::Password ? "" : "none was given"}};
    }
  } else if (config_.mode == JoinMode::Ticket) {
    auto ticket_holder = judge_ticket(claim);
    if (!ticket_holder) return Failure{ticket_holder.error()};
    admitted = *std::move(ticket_holder);
  }
  if (bans_.bans(admitted.player)) return Failure{RefuseBody{RefuseReason::Banned, {}}};
  return admitted;
}

std::optional<Admitted> Admission::judge_resume(const Claim& claim) const {
  if (claim.kind != CredentialKind::Resume) return std::nullopt;
  auto ticket = resume_tickets_.open(claim.credentials);
  if (!ticket || ticket->expires_unix < wall_clock_.unix_seconds() ||
      (ticket->player_key != claim.player_key && !fault("net-resume-anyone")))
    return std::nullopt;
  return Admitted{ticket->player, std::move(ticket->name), claim.player_key, {}};
}

Result<Admitted, RefuseBody> Admission::judge_ticket(const Claim& claim) {
  const auto refuse = [](RefuseReason reason, std::string detail) {
    return Failure{RefuseBody{reason, std::move(detail)}};
  };
  if (claim.kind != CredentialKind::Ticket) return refuse(RefuseReason::TicketRequired, {});
  auto ticket = open_ticket(claim.credentials, config_.ticket_issuer);
  if (!ticket) {
    return refuse(RefuseReason::TicketForged,
                  ticket.error() == TicketError::Malformed ? "it is damaged" : "another key signed it");
  }
  if (ticket->audience != config_.audience && !fault("net-foreign-tickets")) {
    return refuse(RefuseReason::TicketForeign,
                  "made for '" + printable(ticket->audience) + "', this is '" + config_.audience + "'");
  }
  const std::int64_t now = wall_clock_.unix_seconds();
  if (last_second(*ticket) < now && !fault("net-old-tickets")) return refuse(RefuseReason::TicketExpired, {});
  // Without tolerance: what was used before a start is not known after it, so nothing may have been used that could pass
  // for younger than the start. Who comes too early waits; a matchmaker whose clock is behind does after each start.
  if (ticket->issued_unix > now && !fault("net-tickets-to-come")) {
    return refuse(
        RefuseReason::Busy,
        fmt::format("the ticket is of a time to come: its matchmaker's clock is {} s ahead of this server's",
                    ticket->issued_unix - now));
  }
  if (ticket->issued_unix <= started_unix_ && !fault("net-tickets-of-before"))
    return refuse(RefuseReason::TicketExpired, "it may be older than this server's start");
  switch (used_tickets_.ask(ticket->id, claim.player_key, last_second(*ticket), now)) {
    case UsedTickets::Answer::Good:
      break;
    case UsedTickets::Answer::UsedByAnother:
      return refuse(RefuseReason::TicketUsed, {});
    case UsedTickets::Answer::Forgotten:
      return refuse(RefuseReason::TicketExpired, "the server's clock was set back");
    case UsedTickets::Answer::Full:
      return refuse(RefuseReason::Busy, "too many tickets are remembered");
  }
  Admitted admitted{player_of_ticket(ticket->player), printable(ticket->player), claim.player_key, {}};
  admitted.ticket = *std::move(ticket);
  return admitted;
}

void Admission::admit(const Admitted& admitted, const Endpoint& peer, Time now) {
  if (admitted.ticket) {
    used_tickets_.note(admitted.ticket->id, admitted.player_key, last_second(*admitted.ticket));
  }
  limits_.session_opened(peer, now);
}

std::vector<std::byte> Admission::resume_ticket(const Admitted& admitted, Entropy& entropy) const {
  return resume_tickets_.make({admitted.player, admitted.player_key, admitted.name,
                               wall_clock_.unix_seconds() + config_.resume_seconds},
                              entropy);
}

}  // namespace shoal
