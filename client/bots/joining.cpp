#include "client/bots/joining.hpp"

#include "shared/base/log.hpp"
#include "shared/net/key_file.hpp"
#include "shared/net/password_file.hpp"
#include "shared/net/ticket.hpp"

namespace shoal {

bool prepare_joining(BotOptions& options, Entropy& entropy, const WallClock& wall_clock) {
  if (!options.server_key.empty()) {
    options.swarm.server_key = parse_public_key(options.server_key);
    if (!options.swarm.server_key) {
      log_error("--server-key: a public key is 64 hexadecimal digits, as the server logs them");
      return false;
    }
  } else if (!options.password_file.empty() || !options.ticket_key.empty()) {
    log_warn("without --server-key whoever answers gets the {}",
             options.ticket_key.empty() ? "password" : "tickets");
  }
  if (!options.password_file.empty()) {
    const auto read = read_password_file(options.password_file);
    if (!read) {
      log_error("--password-file: {}", read.error());
      return false;
    }
    const auto bytes = std::as_bytes(std::span(read->password));
    options.swarm.credentials = [shown = std::vector<std::byte>(bytes.begin(), bytes.end())](std::size_t) {
      return Credentials{CredentialKind::Password, shown};
    };
  }
  if (!options.ticket_key.empty()) {
    const auto key = read_key_file(options.ticket_key, kTicketSigningKey);
    if (!key) {
      log_error("--ticket-key: {}", key.error());
      return false;
    }
    if (options.audience.size() > kMaxTicketNameBytes) {
      log_error("--audience: a name in tickets has at most {} bytes", kMaxTicketNameBytes);
      return false;
    }
    const std::string audience =
        options.audience.empty() ? to_string(*options.swarm.server_key) : options.audience;
    // Bots of another process are other players.
    const std::uint64_t run = entropy.next();
    options.swarm.credentials = [issuer = SignatureKey(*key), audience, run, &entropy,
                                 &wall_clock](std::size_t bot) {
      constexpr std::int64_t kValidSeconds = 3600;
      return Credentials{CredentialKind::Ticket,
                         mint_ticket(issuer, fmt::format("bot-{:016x}-{}", run, bot), audience,
                                     wall_clock.unix_seconds(), kValidSeconds, entropy)};
    };
  }
  return true;
}

}  // namespace shoal
