#include "tests/simulation/plan.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "shared/base/random.hpp"

namespace shoal::simulation {
namespace {

Duration between(Random& random, int low_ms, int high_ms) {
  return milliseconds(random.between(low_ms, high_ms));
}

LinkFaults faults_of(Random& random, double max_loss_percent) {
  LinkFaults faults;
  if (random.chance(0.15)) return faults;  // some links are perfect
  faults.loss_percent = random.uniform() * max_loss_percent;
  faults.duplicate_percent = random.chance(0.5) ? random.uniform(0, 10) : 0;
  faults.reorder_percent = random.chance(0.5) ? random.uniform(0, 20) : 0;
  faults.corrupt_percent = random.chance(0.5) ? random.uniform(0, 5) : 0;
  faults.latency = between(random, 0, 150);
  faults.jitter = between(random, 0, 40);
  faults.reorder_delay = between(random, 5, 120);
  if (random.chance(0.15)) {
    faults.bytes_per_second = 20'000 + random.below(100'000);
    // A second of it. In one longer than the time-out all that waits is no sign of life, once somebody makes a copy
    // overtake it (docs/protocol.md).
    faults.queue_bytes = std::min(faults.queue_bytes, faults.bytes_per_second);
  }
  return faults;
}

const char* to_string(AttackerKind kind) {
  constexpr const char* kNames[] = {"hello flood", "spoofer", "replayer", "liar",
                                    "stranger",    "silent",  "impostor"};
  return kNames[static_cast<std::size_t>(kind)];
}

// Longer than the servers' time-out: who lost a server must notice, and come back.
constexpr Duration kAfterRestart = seconds(14);

// Those who open sessions for nothing, and those who claim to be somebody else. Drawn apart, as below.
void add_account_holders(Plan& plan) {
  Random random = Random::keyed(plan.seed, 0x51E7);
  for (const AttackerKind kind : {AttackerKind::Silent, AttackerKind::Impostor}) {
    if (!random.chance(0.15)) continue;
    AttackerPlan attacker;
    attacker.kind = kind;
    attacker.seed = random.next();
    attacker.from = between(random, 0, 3000);
    attacker.until = plan.length - milliseconds(500);
    attacker.acts_per_second = random.chance(0.5) ? 3 : 60;
    plan.attackers.push_back(attacker);
  }
}

// Drawn apart from the rest, so that a seed's world and links stay what they are without it.
void add_hardships(Plan& plan) {
  Random random = Random::keyed(plan.seed, 0x4A8D);
  plan.has_password = random.chance(0.5);
  if (random.chance(0.06)) {
    plan.server_restarts_at = between(random, 1500, 4000);
    plan.length = plan.server_restarts_at + kAfterRestart;
  }
  std::uint64_t number = 0;
  for (ClientPlan& client : plan.clients) {
    if (random.chance(0.3)) {
      client.moves_at = client.joins_at + between(random, 300, 4000);
      if (random.chance(0.3)) client.moves_again_at = client.moves_at + between(random, 50, 1500);
    }
    if (random.chance(0.2)) client.reads_every = between(random, 20, 400);
    if (random.chance(0.4)) client.clock_drift = random.uniform(-0.02f, 0.02f);
    if (random.chance(0.4)) client.clock_ahead = seconds(random.below(1'000'000));
    client.partition_to_server = Random::keyed(plan.seed, 0xD12EC7 + number++).chance(0.5);
  }
  if (random.chance(0.4)) return;
  for (std::uint32_t i = 1 + random.below(3); i > 0; --i) {
    AttackerPlan attacker;
    // Silent and Impostor came later and are drawn apart, so that the seeds of before are what they were.
    constexpr std::uint32_t kKinds = static_cast<std::uint32_t>(AttackerKind::Silent);
    attacker.kind = static_cast<AttackerKind>(random.below(kKinds));
    attacker.seed = random.next();
    attacker.from = between(random, 0, 3000);
    attacker.until = plan.length - milliseconds(500);
    attacker.acts_per_second = random.chance(0.5) ? 20 : 400;
    plan.attackers.push_back(attacker);
  }
}

}  // namespace

bool Plan::has_liars() const {
  return std::any_of(attackers.begin(), attackers.end(), [](const AttackerPlan& attacker) {
    return attacker.kind == AttackerKind::Liar || attacker.kind == AttackerKind::Stranger;
  });
}

Plan plan_of(std::uint64_t seed, double max_loss_percent) {
  Random random(seed);
  Plan plan;
  plan.seed = seed;
  plan.world.game.seed = seed;
  plan.world.game.entities = random.chance(0.1) ? 0 : random.below(120);
  plan.world.edits_per_tick = random.below(8);
  plan.tick_rate_hz = random.chance(0.7) ? 30 : 10 + random.below(51);
  plan.world.game.tick_rate = plan.tick_rate_hz;
  // From 0, from just below the wrap, from just below the sign's, or from anywhere.
  const std::uint32_t starts[] = {0, 0xFFFFFFFFu - random.below(200), 0x7FFFFFFFu - random.below(200),
                                  static_cast<std::uint32_t>(random.next())};
  plan.first_tick = Tick{starts[random.below(4)]};
  plan.max_datagrams_per_tick = random.chance(0.3) ? 1 + random.below(3) : 24;
  if (random.chance(0.75)) {
    // The demo's smallest world is 64 metres wide: most of it is out of sight.
    const double sizes[] = {4, 8, 16, 32};
    plan.interest.square_size = sizes[random.below(4)];
    plan.interest.radius = 4 + random.uniform() * 24;
  }
  // Most plans take their few clients for a crowd.
  if (seed % 4 != 3) plan.interest.crowd = 0;
  if (random.chance(0.6)) plan.client_bytes_per_second = 15'000 + random.below(100'000);
  if (random.chance(0.5)) plan.full_state_bytes_per_second = 20'000 + random.below(100'000);
  plan.length = between(random, 4000, 12000);
  const std::uint32_t clients = 1 + random.below(5);
  for (std::uint32_t i = 0; i < clients; ++i) {
    ClientPlan client;
    client.scenario = kScenarios[random.below(static_cast<std::uint32_t>(kScenarios.size()))].second;
    client.joins_at = between(random, 0, 3000);
    client.to_server = faults_of(random, max_loss_percent);
    client.from_server = faults_of(random, max_loss_percent);
    if (random.chance(0.3)) {
      client.leaves_at = client.joins_at + between(random, 500, 3000);
      if (random.chance(0.7)) client.returns_at = client.leaves_at + between(random, 0, 1500);
    }
    if (random.chance(0.2)) {
      client.partition_at = client.joins_at + between(random, 500, 3000);
      client.partition_length = between(random, 100, 3000);
      client.partition_one_way = random.chance(0.5);
    }
    plan.clients.push_back(client);
  }
  add_hardships(plan);
  add_account_holders(plan);
  return plan;
}

std::string describe(const Plan& plan) {
  double worst_loss = 0;
  for (const auto& client : plan.clients) {
    worst_loss = std::max({worst_loss, client.to_server.loss_percent, client.from_server.loss_percent});
  }
  std::string against;
  for (const auto& attacker : plan.attackers) against += fmt::format(", {}", to_string(attacker.kind));
  if (plan.server_restarts_at.count() > 0)
    against += fmt::format(", restart at {:.1f} s", to_seconds(plan.server_restarts_at));
  return fmt::format(
      "{} clients, {} entities, {} edits a tick, {} Hz from tick {}, {:.1f} s, loss up to {:.0f} %, radius "
      "{:.1f}, "
      "squares of {}, {} and {} bytes a second{}",
      plan.clients.size(), plan.world.game.entities, plan.world.edits_per_tick, plan.tick_rate_hz,
      plan.first_tick.value, to_seconds(plan.length), worst_loss, plan.interest.radius,
      plan.interest.square_size, plan.client_bytes_per_second, plan.full_state_bytes_per_second, against);
}

}  // namespace shoal::simulation
