#include "shared/net/send_budget.hpp"

#include "shared/base/fault.hpp"

namespace shoal {

bool SendBudget::may_send_other(bool state_waits) const {
  if (fault("net-messages-starve-state")) state_waits = false;
  return rate_ == 0 || (total_ > 0 && (other_ > 0 || !state_waits));
}

}  // namespace shoal
