#include "client/bots/swarm.hpp"

#include <algorithm>
#include <utility>

#include "schema/components.hpp"
#include "schema/components_descriptors.hpp"
#include "schema/messages_generated.h"
#include "shared/base/fault.hpp"
#include "shared/base/log.hpp"
#include "shared/game/spawn.hpp"

namespace shoal {
namespace {

/// Joins that were due but could not be made are made up for at most this much later, not all at once.
constexpr Duration kMaxJoinDebt = seconds(1);

// Of a bot, over all its sessions. The mirror of the last session stays until the next one begins.
MirrorCounters sum(const MirrorCounters& a, const MirrorCounters& b) {
  MirrorCounters result = a;
  result.blocks_verified += b.blocks_verified;
  result.mismatches += b.mismatches;
  result.resyncs_asked += b.resyncs_asked;
  result.decode_errors += b.decode_errors;
  result.baseline_misses += b.baseline_misses;
  result.entity_updates += b.entity_updates;
  return result;
}

}  // namespace

Swarm::Swarm(const SwarmConfig& config, const Clock& clock, Entropy& entropy, OpenPort open_port)
    : config_(config),
      clock_(&clock),
      entropy_(&entropy),
      open_port_(std::move(open_port)),
      started_at_(clock.now()),
      next_join_(started_at_) {
  if (config_.stages.empty()) {
    wanted_ = config_.bots;
    scenarios_.assign(config_.bots, config_.scenario);
  } else {
    scenarios_ = deal(config_.stages.all().front().mix, most_bots());
  }
}

std::uint32_t Swarm::most_bots() const {
  return config_.stages.empty() ? config_.bots : config_.stages.most_bots();
}

void Swarm::run() {
  const Time now = clock_->now();
  if (last_run_) round_us_.add(static_cast<std::uint64_t>((now - *last_run_).count() / 1000));
  last_run_ = now;
  if (!is_leaving_ && !has_server_ended_) {
    // A frozen world ends the stages; without them, who is late still joins and watches.
    if (!config_.stages.empty() && !is_frozen_) follow_stages();
    if (config_.stages.empty() || !is_frozen_) start_due();
  }
  for (const auto& bot : bots_) run_bot(*bot);
}

void Swarm::follow_stages() {
  const Stages::Moment moment = config_.stages.at(clock_->now() - started_at_);
  wanted_ = moment.bots;
  if (moment.stage != stage_) {
    stage_ = moment.stage;
    scenarios_ = deal(config_.stages.all()[stage_].mix, most_bots());
    for (std::size_t i = 0; i < bots_.size(); ++i) {
      Bot& bot = *bots_[i];
      if (bot.behaviour.scenario() == scenarios_[i]) continue;
      bot.behaviour.set_scenario(scenarios_[i]);
      if (bot.life == Life::Playing)
        bot.moves_at = clock_->now() + churn_time(bot, kMinChurnStay, kMaxChurnStay);
    }
  }
  for (std::size_t i = wanted_; i < bots_.size(); ++i) {
    Bot& bot = *bots_[i];
    if (bot.life == Life::Playing) end_session(bot, Life::Resting);
    if (bot.life == Life::Lost) bot.client->close();  // from connecting
    if (bot.life == Life::Away || bot.life == Life::Lost) bot.life = Life::Resting;
  }
}

void Swarm::start_due() {
  const Time now = clock_->now();
  next_join_ = std::max(next_join_, now - kMaxJoinDebt);
  const auto between =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1 / config_.joins_per_second));
  for (std::size_t i = 0; i < wanted_ && next_join_ <= now; ++i) {
    if (i == bots_.size()) {
      if (!start_bot()) return;
    } else if (bots_[i]->life == Life::Resting) {
      come_back(*bots_[i]);
    } else {
      continue;
    }
    next_join_ = next_join_ + between;
  }
}

bool Swarm::start_bot() {
  auto port = open_port_();
  if (!port) return false;
  const auto number = bots_.size();
  const std::uint64_t seed = mix64(config_.seed ^ mix64(number));
  auto bot = std::make_unique<Bot>(Bot{.port = std::move(port),
                                       .faulty = {},
                                       .client = {},
                                       .reconnector = {},
                                       .behaviour = Behaviour(scenarios_[number], seed, config_.square_size),
                                       .random = Random(mix64(~seed))});
  bot->faulty = std::make_unique<FaultyPort>(*bot->port, *clock_, PathFaults{config_.faults, config_.faults},
                                             mix64(config_.seed + number));
  ClientConfig client;
  client.server = config_.server;
  client.components = demo::component_descriptors();
  client.register_components = demo::register_shared_components;
  client.max_entities = config_.max_entities;
  client.server_key = config_.server_key;
  client.on_server_ending = [this](Duration left, std::string_view text) { hear_ending(left, text); };
  client.on_announcement = [this, bot = bot.get()](std::string_view text) { hear_announcement(*bot, text); };
  if (config_.credentials) {
    Credentials shown = config_.credentials(number);
    client.credential_kind = shown.kind;
    client.credentials = std::move(shown.bytes);
  }
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
  listen(*bot);
  bot->reconnector.emplace(*bot->client, *clock_, mix64(seed + 1),
                           ReconnectConfig{.give_up_after = config_.reconnect_for});
  bot->client->connect();
  bots_.push_back(std::move(bot));
  return true;
}

void Swarm::listen(Bot& bot) {
  const auto count = [&bot](const EventInfo& event) {
    ++bot.events;
    bot.late_events += event.is_late;
  };
  MessageRouter& messages = bot.client->messages();
  messages.on_event<demo::Hit>(
      [count](const MessageSource&, const EventInfo& event, const demo::Hit&) { count(event); });
  messages.on_event<demo::Said>(
      [count](const MessageSource&, const EventInfo& event, const demo::Said&) { count(event); });
}

void Swarm::hear_announcement(Bot& bot, std::string_view text) {
  ++bot.announcements;
  if (text == last_announcement_) return;
  last_announcement_ = text;
  log_info("the server announces: {}", text);
}

void Swarm::hear_ending(Duration left, std::string_view text) {
  if (std::exchange(has_heard_ending_, true)) return;
  log_info("the server ends in {:.0f} s: {}", to_seconds(left), text);
}

void Swarm::run_bot(Bot& bot) {
  if (bot.life == Life::Ended) return;
  // Also between two sessions: a server that missed our goodbye is answered.
  bot.client->poll();
  if (bot.life == Life::Playing) return play(bot);
  if (has_server_ended_ || is_leaving_) {
    if (bot.life == Life::Lost) bot.client->close();  // from connecting
    bot.life = Life::Ended;
  } else if (bot.life == Life::Lost) {
    try_again(bot);
  } else if (bot.life == Life::Away && clock_->now() >= bot.moves_at && !is_frozen_) {
    come_back(bot);
  }
}

void Swarm::play(Bot& bot) {
  Client& client = *bot.client;
  const Time now = clock_->now();
  if (client.state() != ClientState::Closed) bot.reconnector->run();  // it sees what there is to lose
  if (client.state() == ClientState::Connecting && has_server_ended_) {
    // Nobody will answer any more. It was in no session, so nothing was lost.
    end_session(bot, Life::Ended);
  }
  if (client.state() == ClientState::Connected) {
    if (!bot.was_in_session) begin_session(bot);
    is_frozen_ = is_frozen_ || client.is_frozen();
    bot.is_expected = bot.is_expected || is_frozen_;
    if (bot.behaviour.scenario() == Scenario::Churn && now >= bot.moves_at && !is_frozen_) {
      end_session(bot, Life::Away);
      bot.moves_at = now + churn_time(bot, kMinChurnAbsence, kMaxChurnAbsence);
      return;
    }
    if (now >= bot.next_update) {
      const Duration period = Duration(seconds(1)) / client.tick_rate_hz();
      bot.next_update = std::max(bot.next_update + period, now - period);
      const Registry* mirror = client.registry();
      client.add_input(demo::encode_input(bot.behaviour.next(mirror, client.controlled())));
      client.send_update();
    }
  }
  if (bot.life == Life::Playing && client.state() == ClientState::Closed) take_end(bot);
}

void Swarm::begin_session(Bot& bot) {
  const Time now = clock_->now();
  bot.was_in_session = true;
  bot.joined_at = now;
  bot.next_update = now;
  bot.moves_at = now + churn_time(bot, kMinChurnStay, kMaxChurnStay);
  const auto say_hello = [](MessageRouter::Builder& builder) {
    return demo::CreateChat(builder, builder.CreateString("hello"));
  };
  bot.chats += bot.client->messages().send<demo::Chat>({}, MessageChannel::Ordered, say_hello).ok();
}

void Swarm::end_session(Bot& bot, Life next) {
  bot.left_by_us = true;
  bot.was_withdrawn = bot.client->state() == ClientState::Connecting && !is_leaving_;
  if (bot.client->state() != ClientState::Closed) bot.client->close();
  bot.faulty->pump();
  take_end(bot);
  bot.life = next;
}

// The client is closed, by whomever: what the session came to is kept, since the next one has a mirror of its own.
void Swarm::take_end(Bot& bot) {
  const Client& client = *bot.client;
  if (bot.was_in_session) bot.past_time += clock_->now() - bot.joined_at;
  bot.was_in_session = false;
  const std::uint64_t sessions = client.transport_counters().joined;
  const bool was_let_in = sessions > bot.past_sessions;
  if (was_let_in) bot.past = sum(bot.past, client.mirror()->counters());
  // The last frame and the goodbye may have come at one go.
  bot.is_expected = bot.is_expected || (was_let_in && client.is_frozen());
  bot.life = Life::Ended;
  // Who came back while the server ended was in no session: that is as good as being away. So is who came by a stage;
  // without stages everybody was asked for at once, and is missed.
  if (!was_let_in && is_frozen_ && (bot.past_sessions > 0 || !config_.stages.empty()))
    bot.left_by_us = bot.was_withdrawn = true;
  bot.past_sessions = sessions;
  if (bot.left_by_us) return;
  if (was_let_in && lose_session(bot)) bot.life = Life::Lost;
  const CloseReason reason = client.close_reason();
  if (reason == CloseReason::ServerShutDown ||
      (reason == CloseReason::ServerRestart && bot.life == Life::Ended)) {
    has_server_ended_ = true;
    return;
  }
  if (reason == CloseReason::ServerRestart) return;
  ++(reason == CloseReason::Refused ? bot.refused : bot.lost);
  if (first_trouble_.empty()) first_trouble_ = client.describe_close();
}

bool Swarm::lose_session(Bot& bot) {
  // The server of a run that ends with ServerShutDown has compared its mirrors: nothing is left to come back for.
  if (config_.reconnect_for.count() == 0 || bot.client->close_reason() == CloseReason::ServerShutDown)
    return false;
  bot.reconnector->run();
  return bot.reconnector->state() == ReconnectState::Waiting;
}

void Swarm::try_again(Bot& bot) {
  bot.reconnector->run();
  if (bot.reconnector->state() == ReconnectState::GivenUp) {
    bot.life = Life::Ended;
  } else if (bot.client->state() == ClientState::Connected) {
    ++bot.reconnected;
    has_heard_ending_ = false;
    bot.life = Life::Playing;
    play(bot);
  }
}

void Swarm::come_back(Bot& bot) {
  bot.left_by_us = false;
  bot.was_withdrawn = false;
  bot.life = Life::Playing;
  bot.client->connect();
}

Duration Swarm::churn_time(Bot& bot, Duration least, Duration most) const {
  return least + Duration(static_cast<std::int64_t>(static_cast<double>((most - least).count()) *
                                                    static_cast<double>(bot.random.uniform())));
}

void Swarm::leave() {
  is_leaving_ = true;
  for (const auto& bot : bots_) {
    if (bot->life == Life::Playing) end_session(*bot, Life::Ended);
    if (bot->life == Life::Lost) bot->client->close();  // from connecting
    bot->life = Life::Ended;
  }
}

bool Swarm::is_over() const {
  const bool all_ended =
      std::all_of(bots_.begin(), bots_.end(), [](const auto& bot) { return bot->life == Life::Ended; });
  if (is_leaving_ || has_server_ended_) return all_ended;
  if (config_.stages.empty()) return all_ended && bots_.size() == config_.bots;
  return all_ended && !bots_.empty() && bots_.size() >= wanted_;
}

SwarmSummary Swarm::summary() const {
  SwarmSummary summary;
  summary.round_us.add(round_us_);
  summary.requested = config_.stages.empty() ? config_.bots : 0;
  for (const auto& bot : bots_) {
    const Client& client = *bot->client;
    const std::uint64_t sessions = client.transport_counters().joined;
    summary.connected_now += client.state() == ClientState::Connected;
    summary.connected += sessions > 0;
    summary.sessions += sessions;
    const bool never_played = sessions == 0 && bot->was_withdrawn;
    if (!config_.stages.empty() && !never_played) ++summary.requested;
    summary.refused += bot->refused;
    summary.lost += bot->lost;
    summary.reconnected += bot->reconnected;
    summary.expected += bot->is_expected;
    summary.exact += client.comparison() == Comparison::Exact;
    summary.different += client.comparison() == Comparison::Different;
    summary.compared += client.comparison() != Comparison::None;
    summary.bytes_received += client.transport_counters().received_bytes;
    summary.chats += bot->chats;
    summary.events += bot->events;
    summary.late_events += bot->late_events;
    summary.announcements += bot->announcements;
    for (std::size_t age = 0; age < summary.by_baseline_age.size(); ++age) {
      const AgeBucket& measured = client.measures().by_baseline_age[age];
      summary.by_baseline_age[age].blocks += measured.blocks;
      summary.by_baseline_age[age].bytes += measured.bytes;
      summary.by_baseline_age[age].updates += measured.updates;
    }
    const Mirror* mirror = client.mirror();
    if (mirror == nullptr) continue;
    const bool is_counted = sessions == bot->past_sessions;
    const MirrorCounters counters = is_counted ? bot->past : sum(bot->past, mirror->counters());
    summary.blocks_verified += counters.blocks_verified;
    summary.mismatches += counters.mismatches;
    summary.resyncs += counters.resyncs_asked;
    summary.decode_errors += counters.decode_errors + client.measures().bad_frames;
    summary.baseline_misses += counters.baseline_misses;
    summary.entity_updates += counters.entity_updates;
    const bool is_absent = bot->life == Life::Away || bot->life == Life::Resting || bot->life == Life::Lost;
    if (!is_absent) summary.mirrored_entities.add(client.registry()->alive_count());
    summary.update_age_us.add(client.measures().update_age_us);
    const Duration present = bot->was_in_session ? clock_->now() - bot->joined_at : Duration{};
    const double connected_for = to_seconds(bot->past_time + present);
    if (connected_for > 0.5) {
      const double bits = static_cast<double>(client.transport_counters().received_bytes) * 8;
      summary.bits_per_second.add(static_cast<std::uint64_t>(bits / connected_for));
    }
  }
  return summary;
}

}  // namespace shoal
