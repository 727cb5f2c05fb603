#include "client/bots/swarm.hpp"

#include <algorithm>

#include "schema/components.hpp"
#include "schema/components_descriptors.hpp"
#include "shared/base/fault.hpp"
#include "shared/game/spawn.hpp"

namespace shoal {

Swarm::Swarm(const SwarmConfig& config, const Clock& clock, Entropy& entropy, OpenPort open_port)
    : config_(config),
      clock_(&clock),
      entropy_(&entropy),
      open_port_(std::move(open_port)),
      started_at_(clock.now()) {}

void Swarm::run() {
  if (!is_leaving_) start_due();
  for (const auto& bot : bots_) run_bot(*bot);
}

void Swarm::start_due() {
  const double due = to_seconds(clock_->now() - started_at_) * config_.joins_per_second + 1;
  while (bots_.size() < config_.bots && static_cast<double>(bots_.size()) < due) {
    if (!start_bot()) return;
  }
}

bool Swarm::start_bot() {
  auto port = open_port_();
  if (!port) return false;
  const auto number = bots_.size();
  auto bot = std::make_unique<Bot>(
      Bot{.port = std::move(port),
          .faulty = {},
          .client = {},
          .behaviour = Behaviour(config_.scenario, mix64(config_.seed ^ mix64(number)))});
  bot->faulty = std::make_unique<FaultyPort>(*bot->port, *clock_, PathFaults{config_.faults, config_.faults},
                                             mix64(config_.seed + number));
  ClientConfig client;
  client.server = config_.server;
  client.components = demo::component_descriptors();
  client.register_components = demo::register_shared_components;
  client.max_entities = config_.max_entities;
  if (number == 0 && fault("flip-mirror-value")) {
    // Whatever the server sends, this bot's mirror shows another health.
    client.on_world = [](Registry& registry) {
      const auto flip = [](Registry& mirror, Entity entity) {
        mirror.get<demo::Health>(entity).current ^= 1;
      };
      registry.on_construct<demo::Health>().connect(flip);
      registry.on_update<demo::Health>().connect(flip);
    };
  }
  bot->client = std::make_unique<Client>(*bot->faulty, *clock_, *entropy_, std::move(client));
  bot->next_update = clock_->now();
  bot->client->connect();
  bots_.push_back(std::move(bot));
  return true;
}

void Swarm::run_bot(Bot& bot) {
  if (bot.has_ended) return;
  Client& client = *bot.client;
  client.poll();
  const Time now = clock_->now();
  if (client.state() == ClientState::Connected) {
    if (!bot.was_connected) {
      bot.was_connected = true;
      bot.connected_at = now;
      bot.next_update = now;
    }
    if (now >= bot.next_update) {
      const Duration period = Duration(seconds(1)) / client.tick_rate_hz();
      bot.next_update = std::max(bot.next_update + period, now - period);
      client.add_input(demo::encode_input(bot.behaviour.next()));
      client.send_update();
    }
  }
  if (client.state() == ClientState::Closed) {
    bot.has_ended = true;
    bot.ended_at = now;
    const bool by_plan = bot.left_by_us || client.close_reason() == CloseReason::ServerShutDown;
    if (!by_plan && first_trouble_.empty()) first_trouble_ = client.describe_close();
  }
}

void Swarm::leave() {
  is_leaving_ = true;
  for (const auto& bot : bots_) {
    if (bot->has_ended) continue;
    bot->left_by_us = true;
    bot->client->close();
    run_bot(*bot);
    bot->faulty->pump();
  }
}

bool Swarm::is_over() const {
  const bool all_started = is_leaving_ || bots_.size() == config_.bots;
  return all_started &&
         std::all_of(bots_.begin(), bots_.end(), [](const auto& bot) { return bot->has_ended; });
}

SwarmSummary Swarm::summary() const {
  SwarmSummary summary;
  summary.requested = config_.bots;
  for (const auto& bot : bots_) {
    const Client& client = *bot->client;
    const bool connected_now = client.state() == ClientState::Connected;
    summary.connected_now += connected_now;
    summary.connected += bot->was_connected;
    if (bot->has_ended && !bot->left_by_us) {
      const CloseReason reason = client.close_reason();
      summary.refused += reason == CloseReason::Refused;
      summary.lost += reason != CloseReason::Refused && reason != CloseReason::ServerShutDown;
    }
    summary.exact += client.comparison() == Comparison::Exact;
    summary.different += client.comparison() == Comparison::Different;
    summary.compared += client.comparison() != Comparison::None;
    summary.bytes_received += client.transport_counters().received_bytes;
    if (const Mirror* mirror = client.mirror()) {
      const MirrorCounters& counters = mirror->counters();
      summary.blocks_verified += counters.blocks_verified;
      summary.mismatches += counters.mismatches;
      summary.resyncs += counters.resyncs_asked;
      summary.decode_errors += counters.decode_errors + client.measures().bad_frames;
      summary.baseline_misses += counters.baseline_misses;
      summary.entity_updates += counters.entity_updates;
      summary.mirrored_entities.add(client.registry()->alive_count());
      summary.update_age_us.add(client.measures().update_age_us);
      const double connected_for =
          to_seconds((bot->has_ended ? bot->ended_at : clock_->now()) - bot->connected_at);
      if (connected_for > 0.5) {
        const double bits = static_cast<double>(client.transport_counters().received_bytes) * 8;
        summary.bits_per_second.add(static_cast<std::uint64_t>(bits / connected_for));
      }
    }
  }
  return summary;
}

}  // namespace shoal
