// What one address may take of the server: handshakes per second and open sessions. Only addresses that proved
// themselves (by a cookie) come here.
//
// 1. Memory is bounded: when the table is full of addresses that are active, newcomers are refused.
// 2. An exempt address is never counted and never refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "shared/base/time.hpp"
#include "shared/net/address_range.hpp"
#include "shared/net/keyed_hash.hpp"

namespace shoal {

struct AddressLimitsConfig {
  /// 0: without a limit, for each.
  std::uint32_t max_sessions = 32;
  std::uint32_t handshakes_per_second = 10;
  std::uint32_t handshake_burst = 40;
  std::vector<AddressRange> exempt = private_ranges();
  std::size_t max_addresses = 65536;
};

/// Whether no limit holds for it: it is in `exempt`, or this machine itself.
bool is_exempt(const AddressLimitsConfig& config, const Endpoint& peer);

class AddressLimits {
 public:
  /// Who knows `secret` can choose addresses that make the table slow; nothing else rests on it.
  AddressLimits(AddressLimitsConfig config, const Secret& secret)
      : config_(std::move(config)), entries_(0, KeyedHash(secret, "shoal address table")) {}

  /// Takes one handshake from the address's allowance. False: it has none left, or the table is full.
  bool take_handshake(const Endpoint& peer, Time now);
  /// `leaving`: where a session was opened from that ends when this one opens.
  bool has_room_for_session(const Endpoint& peer,
                            const std::optional<Endpoint>& leaving = std::nullopt) const;
  void session_opened(const Endpoint& peer, Time now);
  /// With the address that the session was opened from: moving about frees no place.
  void session_closed(const Endpoint& opened_from);

  std::size_t address_count() const { return entries_.size(); }

 private:
  using Holder = AddressHolder;
  struct Entry {
    std::uint32_t sessions = 0;
    double allowance = 0;  // handshakes
    Time filled_at{};
  };

  Entry* entry(const Endpoint& peer, Time now);
  void refill(Entry& entry, Time now) const;
  bool is_idle(const Entry& entry) const;

  AddressLimitsConfig config_;
  std::unordered_map<Holder, Entry, KeyedHash> entries_;
  std::deque<Holder> in_order_;  // of entries_, looked through for idle ones a little with each newcomer
};

}  // namespace shoal
