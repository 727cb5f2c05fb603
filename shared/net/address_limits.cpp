#include "shared/net/address_limits.hpp"

#include <algorithm>

#include "shared/base/fault.hpp"

namespace shoal {
namespace {

// Old entries looked at for each new one: twice as many as come, so that the table shrinks when a crowd is gone.
constexpr int kSweepPerNewcomer = 2;

}  // namespace

bool is_exempt(const AddressLimitsConfig& config, const Endpoint& peer) {
  if (is_loopback(peer)) return true;
  return std::any_of(config.exempt.begin(), config.exempt.end(),
                     [&](const AddressRange& range) { return range.contains(peer); });
}

void AddressLimits::refill(Entry& entry, Time now) const {
  const double gained = to_seconds(now - entry.filled_at) * config_.handshakes_per_second;
  entry.allowance = std::min<double>(config_.handshake_burst, entry.allowance + gained);
  entry.filled_at = now;
}

bool AddressLimits::is_idle(const Entry& entry) const {
  return entry.sessions == 0 && entry.allowance >= config_.handshake_burst;
}

AddressLimits::Entry* AddressLimits::entry(const Endpoint& peer, Time now) {
  const Holder holder = holder_of(peer);
  if (const auto found = entries_.find(holder); found != entries_.end()) {
    refill(found->second, now);
    return &found->second;
  }
  for (int i = 0; i < kSweepPerNewcomer && !in_order_.empty(); ++i) {
    const Holder oldest = in_order_.front();
    in_order_.pop_front();
    Entry& old = entries_.at(oldest);
    refill(old, now);
    if (is_idle(old)) {
      entries_.erase(oldest);
    } else {
      in_order_.push_back(oldest);
    }
  }
  if (entries_.size() >= config_.max_addresses) return nullptr;
  in_order_.push_back(holder);
  return &entries_.emplace(holder, Entry{0, static_cast<double>(config_.handshake_burst), now}).first->second;
}

bool AddressLimits::take_handshake(const Endpoint& peer, Time now) {
  if ((config_.handshakes_per_second == 0 && config_.max_sessions == 0) || is_exempt(config_, peer) ||
      fault("net-no-limits"))
    return true;
  // Also where only sessions are limited: who has no place in the table could not be counted.
  Entry* known = entry(peer, now);
  if (known == nullptr) return false;
  if (config_.handshakes_per_second == 0) return true;
  if (known->allowance < 1) return false;
  known->allowance -= 1;
  return true;
}

bool AddressLimits::has_room_for_session(const Endpoint& peer, const std::optional<Endpoint>& leaving) const {
  if (config_.max_sessions == 0 || is_exempt(config_, peer) || fault("net-no-limits")) return true;
  const auto found = entries_.find(holder_of(peer));
  const std::uint32_t freed = leaving && holder_of(*leaving) == holder_of(peer) ? 1 : 0;
  return found == entries_.end() || found->second.sessions < config_.max_sessions + freed;
}

void AddressLimits::session_opened(const Endpoint& peer, Time now) {
  if (is_exempt(config_, peer)) return;
  if (Entry* known = entry(peer, now)) ++known->sessions;
}

void AddressLimits::session_closed(const Endpoint& opened_from) {
  const auto found = entries_.find(holder_of(opened_from));
  if (found != entries_.end() && found->second.sessions > 0) --found->second.sessions;
}

}  // namespace shoal
