#include "shared/net/used_tickets.hpp"

#include <algorithm>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"

namespace shoal {

void UsedTickets::forget(std::int64_t now_unix) {
  while (!by_expiry_.empty() && by_expiry_.begin()->first < now_unix) {
    forgotten_until_ = std::max(forgotten_until_, by_expiry_.begin()->first);
    by_id_.erase(by_expiry_.begin()->second);
    by_expiry_.erase(by_expiry_.begin());
  }
}

UsedTickets::Answer UsedTickets::ask(const TicketId& id, const PublicKey& player_key,
                                     std::int64_t forget_unix, std::int64_t now_unix) {
  forget(now_unix);
  if (const auto found = by_id_.find(id); found != by_id_.end())
    return found->second == player_key || fault("net-tickets-twice") ? Answer::Good : Answer::UsedByAnother;
  if (forget_unix <= forgotten_until_ && !fault("net-trust-clock")) return Answer::Forgotten;
  if (by_id_.size() < capacity_) return Answer::Good;
  if (!fault("net-evict-tickets")) return Answer::Full;
  by_id_.erase(by_expiry_.begin()->second);
  by_expiry_.erase(by_expiry_.begin());
  return Answer::Good;
}

void UsedTickets::note(const TicketId& id, const PublicKey& player_key, std::int64_t forget_unix) {
  if (!by_id_.emplace(id, player_key).second) return;
  SHOAL_ASSERT(by_id_.size() <= capacity_, "ask before noting a ticket");
  by_expiry_.emplace(forget_unix, id);
}

}  // namespace shoal
