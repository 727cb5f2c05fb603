// Which tickets were used: each is good once, however often it is shown, until its time is over.
//
// 1. A ticket is remembered until it expires, whatever else comes: a full memory refuses new ones and forgets none.
// 2. A ticket that ends no later than one that was forgotten is not good any more, even if time of day goes back: whether
//    it was used is not known.
// 3. Who came with a ticket may come with it again, proved by the same key: their Accept may have been lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "shared/net/keys.hpp"
#include "shared/net/ticket.hpp"

namespace shoal {

class UsedTickets {
 public:
  enum class Answer {
    Good,
    UsedByAnother,
    Forgotten,
    Full,
  };

  explicit UsedTickets(std::size_t capacity) : capacity_(capacity) {}

  /// `forget_unix`: the last second in which the ticket is good.
  Answer ask(const TicketId& id, const PublicKey& player_key, std::int64_t forget_unix,
             std::int64_t now_unix);
  /// REQUIRES: ask() of the same was Good.
  void note(const TicketId& id, const PublicKey& player_key, std::int64_t forget_unix);
  std::size_t size() const { return by_id_.size(); }

 private:
  void forget(std::int64_t now_unix);

  std::size_t capacity_;
  std::map<TicketId, PublicKey> by_id_;
  std::multimap<std::int64_t, TicketId> by_expiry_;
  std::int64_t forgotten_until_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace shoal
