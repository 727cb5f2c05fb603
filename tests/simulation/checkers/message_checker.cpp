#include "tests/simulation/checkers/message_checker.hpp"

#include <fmt/core.h>

namespace shoal::simulation {
namespace {

// Per session: both windows and queues of what the server holds, and the notes about packets (message_sender.hpp,
// message_receiver.hpp).
constexpr std::size_t kMostBytesPerSession =
    2 * (kServerMessageLimits.ordered.window_bytes + kServerMessageLimits.unordered.window_bytes) +
    2 * (MessageQueueLimits{}.ordered_bytes + MessageQueueLimits{}.unordered_bytes) + (128u << 10);

}  // namespace

void MessageChecker::after_step(const Simulation& simulation) {
  if (!simulation.mail().failure().empty()) fail(simulation.mail().failure());
  const Server& server = simulation.server();
  if (server.message_memory_bytes() > kMostBytesPerSession * server.session_count())
    fail(fmt::format("messages of {} sessions take {} bytes", server.session_count(),
                     server.message_memory_bytes()));
}

void MessageChecker::at_end(const Simulation& simulation) {
  if (const std::string missing = simulation.mail().undelivered(); !missing.empty()) fail(missing);
}

}  // namespace shoal::simulation
