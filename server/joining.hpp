// What the options of a server's operator say about who may join, turned into what the transport takes: identity,
// password, tickets, bans, limits. Reads files, for mains; a secret comes from a file and goes into no message.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/random.hpp"
#include "shared/base/result.hpp"
#include "shared/net/admission.hpp"

namespace shoal {

/// The word of --exempt-addresses for private_ranges().
inline constexpr std::string_view kPrivateAddresses = "private";

struct JoiningOptions {
  std::string identity{};  // path of a key file; empty: a key for this run alone
  JoinMode mode = JoinMode::Open;
  std::string password_file{};
  std::string ticket_issuer{};  // 64 hexadecimal digits
  std::string audience{};
  std::string ban_list{};  // path of a file; empty: nobody is banned
  std::uint32_t sessions_per_address = 32;
  std::uint32_t handshakes_per_address = 10;  // per second
  std::string exempt_addresses{kPrivateAddresses};
};

/// Where a server keeps its identity unless told otherwise, by the variables XDG_STATE_HOME and HOME of the
/// environment; empty when neither says where.
std::string default_identity_file(const char* const* environment);

struct JoiningConfig {
  AdmissionConfig admission;
  /// Lines for the log.
  std::vector<std::string> warnings;
};
/// The error says which options contradict each other, or what is wrong with a file.
Result<JoiningConfig, std::string> joining_config(const JoiningOptions& options);

struct ServerIdentity {
  Secret key;
  bool is_new = false;
  /// Why the key could not be kept, and is good for this run alone; else empty.
  std::string not_kept;
};
/// A file that is there but cannot be used is always an error. One that cannot be made is an error if the operator
/// named it.
Result<ServerIdentity, std::string> server_identity(const std::string& path, bool is_named, Entropy& entropy);

/// The error names the file and the line.
Result<BanList, std::string> read_ban_list(const std::string& path);

/// Who may join, for the log.
std::string describe_joining(const JoiningOptions& options, const PublicKey& server_key);

}  // namespace shoal
