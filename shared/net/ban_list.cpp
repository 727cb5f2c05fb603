#include "shared/net/ban_list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/fault.hpp"

namespace shoal {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

bool BanList::bans(const Endpoint& peer) const {
  if (fault("net-forget-bans")) return false;
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const AddressRange& range) { return range.contains(peer); });
}

Result<BanList, std::string> parse_ban_list(std::string_view text) {
  constexpr std::string_view kPlayer = "player";
  BanList list;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (line.starts_with(kPlayer) && line.find_first_of(kBlanks) == kPlayer.size()) {
      const auto player = parse_player_id(trimmed(line.substr(kPlayer.size())));
      if (!player)
        return Failure{fmt::format("line {}: '{}': a player is 32 hexadecimal digits", number, line)};
      list.players.insert(*player);
      continue;
    }
    const auto range = parse_address_range(line);
    if (!range) {
      return Failure{fmt::format(
          "line {}: '{}' is neither an address, nor a range like 198.51.100.0/24, nor 'player <id>'", number,
          line)};
    }
    list.ranges.push_back(*range);
  }
  return list;
}

}  // namespace shoal
