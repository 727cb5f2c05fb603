// Files that hold one secret key each: a server's identity, a matchmaker's signing key, a player's key.
//
//   shoal server identity          the kind of the key, so that none is taken for another
//   0123…ef                        64 hexadecimal digits
//
// 1. A file that others than its owner could read is refused, and so is one that cannot be read: no program goes on
//    with another key than its operator expects.
// 2. A new file is whole on the disk, with mode 0600, or not there.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/random.hpp"
#include "shared/base/result.hpp"
#include "shared/net/keys.hpp"

namespace shoal {

inline constexpr std::string_view kServerIdentity = "shoal server identity";
inline constexpr std::string_view kTicketSigningKey = "shoal ticket signing key";
inline constexpr std::string_view kPlayerKey = "shoal player key";

/// The errors say what is wrong with the file and what to do.
Result<Secret, std::string> read_key_file(const std::string& path, std::string_view kind);
/// Draws a key and keeps it in a new file, whose folders are made. An existing file is never replaced.
Result<Secret, std::string> make_key_file(const std::string& path, std::string_view kind, Entropy& entropy);

struct KeptKey {
  Secret key;
  bool is_new = false;
};
/// Reads the file, or makes it when there is none.
Result<KeptKey, std::string> read_or_make_key_file(const std::string& path, std::string_view kind,
                                                   Entropy& entropy);

}  // namespace shoal
