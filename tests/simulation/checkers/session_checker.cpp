#include "tests/simulation/checkers/session_checker.hpp"

#include <fmt/core.h>

namespace shoal::simulation {

namespace {

// A client that has lost its server hears nothing for the time-out.
constexpr Duration kNoticesAfter = seconds(8);
// A cookie is good for one address; a client that moved with it asks for another when it is old.
constexpr Duration kAsksAnewAfter = seconds(6);

}  // namespace

void SessionChecker::at_end(const Simulation& simulation) {
  const Plan& plan = simulation.plan();
  for (std::size_t i = 0; i < simulation.clients().size(); ++i) {
    const SimulatedClient& actor = *simulation.clients()[i];
    const bool is_connected = actor.client->state() == ClientState::Connected;
    const Duration since = std::max(
        {actor.plan.joins_at, actor.plan.returns_at, actor.plan.partition_at + actor.plan.partition_length,
         plan.server_restarts_at.count() == 0 ? Duration{} : plan.server_restarts_at + kNoticesAfter,
         actor.moved_while_joining_at.count() == 0 ? Duration{}
                                                   : actor.moved_while_joining_at + kAsksAnewAfter});
    // A join takes two round trips, each of which a bad link loses every other time.
    const bool is_joining = actor.client->state() == ClientState::Connecting;
    const bool had_time = plan.length - since > (is_joining ? seconds(10) : seconds(3));
    if (actor.should_be_connected(plan.length) && had_time && !is_connected) {
      fail(fmt::format("client {} should be connected, but: {}", i, actor.client->describe_close()));
    }
    if (actor.client->state() == ClientState::Closed &&
        actor.client->close_reason() == CloseReason::Refused) {
      fail(fmt::format("client {} was refused: {}", i, actor.client->describe_close()));
    }
  }
  if (plan.has_liars()) return;
  if (simulation.server().counters().bad_inputs > 0) fail("the server calls an honest client's input bad");
  if (simulation.server().counters().bad_updates > 0) fail("the server calls an honest client's update bad");
}

}  // namespace shoal::simulation
