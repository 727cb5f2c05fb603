// Who may not join: addresses and players, from a file of lines that an operator edits while the server runs.
//
//   203.0.113.7                              one address
//   198.51.100.0/24                          a range
//   player 0123456789abcdef0123456789abcdef  a player, by the id that the log shows
//   # a comment, on a line of its own or behind an entry
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "shared/base/result.hpp"
#include "shared/net/address_range.hpp"
#include "shared/net/player_id.hpp"

namespace shoal {

struct BanList {
  std::vector<AddressRange> ranges;
  std::unordered_set<PlayerId> players;

  bool bans(const Endpoint& peer) const;
  bool bans(const PlayerId& player) const { return players.contains(player); }
  std::size_t size() const { return ranges.size() + players.size(); }
};

/// The error names the first line that is neither.
Result<BanList, std::string> parse_ban_list(std::string_view text);

}  // namespace shoal
