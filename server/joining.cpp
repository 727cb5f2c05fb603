#include "server/joining.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "shared/config/text_file.hpp"
#include "shared/net/key_file.hpp"
#include "shared/net/password_file.hpp"

namespace shoal {
namespace {

std::string_view variable(const char* const* environment, std::string_view name) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view line = *environment;
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=')
      return line.substr(name.size() + 1);
  }
  return {};
}

std::optional<std::string> contradiction(const JoiningOptions& options) {
  struct Rule {
    JoinMode mode;
    std::string_view mode_word;
    std::string_view option;
    const std::string& value;
    bool is_needed;
  };
  const Rule rules[] = {
      {JoinMode::Password, "password", "--password-file", options.password_file, true},
      {JoinMode::Ticket, "ticket", "--ticket-issuer", options.ticket_issuer, true},
      {JoinMode::Ticket, "ticket", "--audience", options.audience, false},
  };
  for (const Rule& rule : rules) {
    if (options.mode == rule.mode && rule.is_needed && rule.value.empty())
      return fmt::format("--join {} needs {}", rule.mode_word, rule.option);
    if (options.mode != rule.mode && !rule.value.empty()) {
      return fmt::format("{} says nothing without --join {}: add that, or leave {} out", rule.option,
                         rule.mode_word, rule.option);
    }
  }
  return std::nullopt;
}

Result<std::vector<AddressRange>, std::string> exempt_ranges(std::string_view list) {
  std::vector<AddressRange> ranges;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view word = list.substr(0, comma);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (word.empty()) continue;
    if (word == kPrivateAddresses) {
      const auto known = private_ranges();
      ranges.insert(ranges.end(), known.begin(), known.end());
      continue;
    }
    const auto range = parse_address_range(word);
    if (!range) {
      return Failure{
          fmt::format("--exempt-addresses: '{}' is neither an address, nor a range like 198.51.100.0/24, "
                      "nor the word {}",
                      word, kPrivateAddresses)};
    }
    ranges.push_back(*range);
  }
  return ranges;
}

}  // namespace

std::string default_identity_file(const char* const* environment) {
  constexpr std::string_view kBelow = "/shoal/server-identity.key";
  // A relative path is to be ignored, says the XDG specification.
  const std::string_view state = variable(environment, "XDG_STATE_HOME");
  if (state.starts_with('/')) return fmt::format("{}{}", state, kBelow);
  const std::string_view home = variable(environment, "HOME");
  if (home.starts_with('/')) return fmt::format("{}/.local/state{}", home, kBelow);
  return {};
}

Result<JoiningConfig, std::string> joining_config(const JoiningOptions& options) {
  if (const auto why_not = contradiction(options)) return Failure{*why_not};
  JoiningConfig result;
  AdmissionConfig& admission = result.admission;
  admission.mode = options.mode;
  if (options.mode == JoinMode::Password) {
    auto read = read_password_file(options.password_file);
    if (!read) return Failure{"--password-file: " + read.error()};
    admission.password = std::move(read->password);
    if (read->others_may_read)
      result.warnings.push_back(fmt::format("others than its owner may read the password in {}: chmod 600 it",
                                            options.password_file));
  }
  if (options.mode == JoinMode::Ticket) {
    const auto issuer = parse_public_key(options.ticket_issuer);
    if (!issuer)
      return Failure{
          std::string("--ticket-issuer: a public key is 64 hexadecimal digits, as shoal-ticket keygen "
                      "prints them")};
    admission.ticket_issuer = *issuer;
    if (options.audience.size() > kMaxTicketNameBytes)
      return Failure{fmt::format("--audience: a name in tickets has at most {} bytes", kMaxTicketNameBytes)};
    admission.audience = options.audience;
  }
  auto exempt = exempt_ranges(options.exempt_addresses);
  if (!exempt) return Failure{exempt.error()};
  admission.limits.exempt = *std::move(exempt);
  admission.limits.max_sessions = options.sessions_per_address;
  admission.limits.handshakes_per_second = options.handshakes_per_address;
  admission.limits.handshake_burst = 4 * options.handshakes_per_address;
  return result;
}

Result<ServerIdentity, std::string> server_identity(const std::string& path, bool is_named,
                                                    Entropy& entropy) {
  if (path.empty()) {
    if (is_named) return Failure{std::string("--identity: in which file?")};
    return ServerIdentity{Secret::random(entropy), true, "the environment names no home"};
  }
  auto kept = read_or_make_key_file(path, kServerIdentity, entropy);
  if (kept) return ServerIdentity{kept->key, kept->is_new, {}};
  std::error_code unknown;
  const bool is_absent = !std::filesystem::exists(path, unknown) && !unknown;
  if (is_absent && !is_named) return ServerIdentity{Secret::random(entropy), true, kept.error()};
  return Failure{fmt::format("{}. Another place is said with --identity FILE", kept.error())};
}

Result<BanList, std::string> read_ban_list(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return Failure{fmt::format("cannot read the ban list {}: {}", path, text.error())};
  auto list = parse_ban_list(*text);
  if (!list) return Failure{fmt::format("ban list {}, {}", path, list.error())};
  return *std::move(list);
}

std::string describe_joining(const JoiningOptions& options, const PublicKey& server_key) {
  switch (options.mode) {
    case JoinMode::Open:
      return "everyone may join";
    case JoinMode::Password:
      return fmt::format("who knows the password in {} may join", options.password_file);
    case JoinMode::Ticket:
      return fmt::format("who has a ticket of {} for '{}' may join", options.ticket_issuer,
                         options.audience.empty() ? to_string(server_key) : options.audience);
  }
  return {};
}

}  // namespace shoal
