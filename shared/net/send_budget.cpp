#include "shared/net/send_budget.hpp"

#include "shared/base/fault.hpp"

namespace shoal {

bool SendBudget::may_send_other(bool state_waits) const {
  if (fault("net-messages-starve-state")) state_waits = false;
  return rate_ == 0 || (total_ > 0 && (other_ > 0 || !state_waits));
}

void SendBudget::spend_state(std::size_t bytes) {
  if (rate_ == 0 && !fault("net-owe-without-rate")) return;
  total_ -= static_cast<std::int64_t>(bytes) * kUnit;
}

void SendBudget::spend_other(std::size_t bytes) {
  spend_state(bytes);
  if (rate_ == 0) return;
  // What it took while no state waited is not held against it beyond a datagram.
  const auto datagram = static_cast<std::int64_t>(kMaxDatagramBytes) * kUnit;
  other_ = std::max(other_ - static_cast<std::int64_t>(bytes) * kUnit, -datagram);
}

}  // namespace shoal
