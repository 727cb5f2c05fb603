#include "tests/simulation/simulation.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "schema/components_descriptors.hpp"
#include "shared/game/spawn.hpp"

namespace shoal::simulation {
namespace {

constexpr Duration kStep = milliseconds(3);
/// Frozen, even the worst link of a plan is done after this.
constexpr Duration kLongestEnd = seconds(60);
constexpr std::uint64_t kIdentity[4] = {1, 2, 3, 4};
constexpr std::string_view kPassword = "a word that no attacker knows";

std::vector<std::byte> password_of(const Plan& plan) {
  if (!plan.has_password) return {};
  const auto bytes = std::as_bytes(std::span(kPassword));
  return {bytes.begin(), bytes.end()};
}

ServerConfig server_config(const Plan& plan) {
  ServerConfig config;
  config.tick_rate_hz = plan.tick_rate_hz;
  config.first_tick = plan.first_tick;
  config.max_datagrams_per_tick = plan.max_datagrams_per_tick;
  config.interest = plan.interest;
  config.client_bytes_per_second = plan.client_bytes_per_second;
  config.full_state_bytes_per_second = plan.full_state_bytes_per_second;
  config.max_entities = 4096;
  config.max_sessions = 32;
  config.identity = Secret::from_bytes(std::as_bytes(std::span<const std::uint64_t, 4>(kIdentity)));
  if (plan.has_password) {
    config.admission.mode = JoinMode::Password;
    config.admission.password = kPassword;
  }
  // The honest play at home, where nobody is counted; attackers use up the allowance of nobody else.
  config.admission.limits.max_sessions = kMostSessionsOfAnAddress;
  config.allow_aes = plan.seed % 2 == 0;
  // Drawn from the seed, like what else is not in the plan. A partition of some seconds ends sessions, or does not; then
  // nobody comes back, few do, all do.
  config.time_out = plan.seed % 4 < 2 ? seconds(2) : seconds(8);
  config.return_time = plan.seed % 3 == 0 ? Duration{} : plan.seed % 3 == 1 ? seconds(2) : seconds(30);
  config.freeze_deadline = kLongestEnd;
  return config;
}

}  // namespace

bool SimulatedClient::should_be_connected(Duration now) const {
  if (now < plan.joins_at) return false;
  if (plan.leaves_at.count() == 0 || now < plan.leaves_at) return true;
  return plan.returns_at.count() != 0 && now >= plan.returns_at;
}

bool SimulatedClient::is_at(const Endpoint& peer) const {
  return peer == endpoint ||
         std::find(past_endpoints.begin(), past_endpoints.end(), peer) != past_endpoints.end();
}

const Mirror* SimulatedClient::mirror() const {
  if (sessions_before_restart == 0) return client->mirror();
  // Until it is connected anew it shows what the server before told it.
  const bool is_anew = sessions > sessions_before_restart && client->state() == ClientState::Connected;
  return is_anew ? client->mirror() : nullptr;
}

Simulation::Simulation(const Plan& plan)
    : plan_(plan),
      entropy_(mix64(plan.seed)),
      network_(clock_, mix64(plan.seed + 1)),
      mail_(plan.seed),
      server_endpoint_(Endpoint::ipv4(10, 0, 0, 1, 7777)),
      server_port_(network_.open(server_endpoint_)),
      schedule_(clock_.now(), plan.tick_rate_hz) {
  start_server();
  scene_.network = &network_;
  scene_.clock = &clock_;
  scene_.server = server_endpoint_;
  scene_.password = password_of(plan);
  scene_.schema = schema_versions(server_->table());
  for (std::size_t i = 0; i < plan.attackers.size(); ++i)
    attackers_.push_back(make_attacker(plan.attackers[i], i));
  network_.set_tap([this](const Endpoint& source, const Endpoint& target, std::span<const std::byte> bytes) {
    if (target == server_endpoint_) exchanges_[source].to_server += bytes.size();
    if (source == server_endpoint_ && !is_attacked_) exchanges_[target].from_server += bytes.size();
    // By the source as it is: what attackers send, under whatever address, is nobody's word.
    if (!is_attacked_)
      wire_.note(source == server_endpoint_ ? Direction::ToClient : Direction::ToServer, bytes);
    for (const auto& attacker : attackers_) attacker->see(source, target, bytes);
  });
  for (std::size_t i = 0; i < plan.clients.size(); ++i) {
    const auto endpoint = Endpoint::ipv4(10, 0, 1, static_cast<std::uint8_t>(i + 1), 4000);
    auto client = std::make_unique<SimulatedClient>(
        SimulatedClient{.plan = plan.clients[i],
                        .endpoint = endpoint,
                        .past_endpoints = {},
                        .clock = std::make_unique<ManualClock>(),
                        .port = network_.open(endpoint),
                        .client = {},
                        .behaviour = Behaviour(plan.clients[i].scenario, mix64(plan.seed ^ (i + 77)),
                                               static_cast<float>(plan.interest.square_size))});
    network_.set_link(endpoint, server_endpoint_, client->plan.to_server);
    network_.set_link(server_endpoint_, endpoint, client->plan.from_server);
    ClientConfig config;
    config.server = server_endpoint_;
    config.components = demo::component_descriptors();
    config.register_components = demo::register_shared_components;
    config.on_world = [actor = client.get()](Registry&) { ++actor->worlds; };
    config.max_entities = 4096;
    config.credentials = password_of(plan);
    if (plan.has_password) config.credential_kind = CredentialKind::Password;
    config.server_key = server_->public_key();
    config.player_key = Secret::random(entropy_);
    scene_.players.push_back(SignatureKey(*config.player_key).public_key());
    client->clock->advance(client->plan.clock_ahead);
    client->client = std::make_unique<Client>(*client->port, *client->clock, entropy_, config);
    mail_.register_client(i, *client->client, *client->clock);
    clients_.push_back(std::move(client));
  }
}

// The world begins anew: nothing of it is kept yet. The identity is.
void Simulation::start_server() {
  server_.reset();
  ++servers_;
  mail_.begin_server();
  game_ = std::make_unique<ChaosGame>(plan_.world, mail_);
  ServerConfig config = server_config(plan_);
  if (has_restarted_) config.first_tick = plan_.first_tick + 1'000'000;
  time_out_ = config.time_out;
  server_ = std::make_unique<Server>(*game_, *server_port_, clock_, entropy_, config);
  mail_.set_server(server_.get());
  for (const auto& client : clients_) client->sessions_before_restart = client->sessions;
}

void Simulation::cut_off(SimulatedClient& client) {
  const ClientPlan& plan = client.plan;
  const bool is_cut = plan.partition_at.count() != 0 && now() >= plan.partition_at &&
                      now() < plan.partition_at + plan.partition_length;
  if (is_cut == (client.partitioned.port != 0)) return;
  if (!is_cut) {
    network_.heal(client.partitioned, server_endpoint_);
    client.partitioned = {};
    return;
  }
  client.partitioned = client.endpoint;
  if (plan.partition_one_way) {
    if (plan.partition_to_server) {
      network_.partition_one_way(client.endpoint, server_endpoint_);
    } else {
      network_.partition_one_way(server_endpoint_, client.endpoint);
    }
  } else {
    network_.partition(server_endpoint_, client.endpoint);
  }
}

void Simulation::move(SimulatedClient& client, std::size_t number) {
  const ClientPlan& plan = client.plan;
  const Duration when = client.moves == 0 ? plan.moves_at : plan.moves_again_at;
  if (client.moves >= 2 || when.count() == 0 || now() < when) return;
  ++client.moves;
  if (client.client->state() == ClientState::Connecting) client.moved_while_joining_at = now();
  client.past_endpoints.push_back(client.endpoint);
  client.endpoint = Endpoint::ipv4(10, 0, static_cast<std::uint8_t>(1 + client.moves),
                                   static_cast<std::uint8_t>(number + 1), 4000);
  SHOAL_ASSERT(network_.move(*client.port, client.endpoint), "each client moves to addresses of its own");
  network_.set_link(client.endpoint, server_endpoint_, plan.to_server);
  network_.set_link(server_endpoint_, client.endpoint, plan.from_server);
}

void Simulation::run_client(SimulatedClient& client, std::size_t number) {
  const ClientPlan& plan = client.plan;
  const Duration now = this->now();
  client.clock->advance(
      Duration(static_cast<std::int64_t>(static_cast<double>(kStep.count()) * (1 + plan.clock_drift))));
  if (clock_.now() < client.next_read) return;
  client.next_read = clock_.now() + plan.reads_every;
  const bool wants_in = client.should_be_connected(now);
  const ClientState state = client.client->state();
  if (wants_in && (state == ClientState::Idle || state == ClientState::Closed) && !server_->is_frozen()) {
    mail_.begin_session(number);
    client.client->connect();
    ++client.sessions;
  }
  if (!wants_in && (state == ClientState::Connected || state == ClientState::Connecting))
    client.client->close();

  client.client->poll();
  const Time its_now = client.clock->now();
  if (client.client->state() == ClientState::Connected && its_now >= client.next_update) {
    client.next_update = its_now + Duration(seconds(1)) / plan_.tick_rate_hz;
    client.client->add_input(
        demo::encode_input(client.behaviour.next(client.client->registry(), client.client->controlled())));
    client.client->send_update();
    if (!server_->is_frozen()) mail_.write_from_client(number);
  }
  mail_.check_bounds(number);
}

void Simulation::step() {
  clock_.advance(kStep);
  if (plan_.server_restarts_at.count() != 0 && now() >= plan_.server_restarts_at && !has_restarted_) {
    has_restarted_ = true;
    start_server();
  }
  server_->poll();
  for (std::uint32_t due = schedule_.take_due(clock_.now()); due > 0; --due) server_->run_tick();
  scene_.clients.clear();
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    cut_off(*clients_[i]);
    move(*clients_[i], i);
    run_client(*clients_[i], i);
    scene_.clients.push_back(clients_[i]->endpoint);
  }
  is_attacked_ = true;
  for (const auto& attacker : attackers_) attacker->step(scene_);
  is_attacked_ = false;
}

std::size_t Simulation::players() const {
  std::size_t players = clients_.size();
  for (const auto& attacker : attackers_) players += attacker->players();
  return players;
}

std::string Simulation::first_failure(std::span<const std::unique_ptr<Checker>> checkers) const {
  for (const auto& checker : checkers) {
    if (!checker->failure().empty()) {
      return fmt::format("{} at {:.3f} s, tick {}: {}", checker->name(), to_seconds(now()),
                         server_->tick().value, checker->failure());
    }
  }
  return {};
}

std::string Simulation::run(std::span<const std::unique_ptr<Checker>> checkers) {
  const auto check_step = [&] {
    for (const auto& checker : checkers) checker->after_step(*this);
  };
  while (now() < plan_.length) {
    step();
    check_step();
    if (auto failure = first_failure(checkers); !failure.empty()) return failure;
  }
  server_->freeze();
  const Duration frozen_at = now();
  while ((!server_->all_compared() || !mail_.is_delivered()) && now() - frozen_at < kLongestEnd) {
    step();
    check_step();
    if (auto failure = first_failure(checkers); !failure.empty()) return failure;
  }
  for (const auto& checker : checkers) checker->at_end(*this);
  return first_failure(checkers);
}

std::string run_seed(std::uint64_t seed, double max_loss_percent) {
  Simulation simulation(plan_of(seed, max_loss_percent));
  const auto checkers = all_checkers();
  return simulation.run(checkers);
}

}  // namespace shoal::simulation
