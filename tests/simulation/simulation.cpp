#include "tests/simulation/simulation.hpp"

#include <fmt/core.h>

#include "schema/components_descriptors.hpp"
#include "shared/game/spawn.hpp"

namespace shoal::simulation {
namespace {

constexpr Duration kStep = milliseconds(3);
/// Frozen, even the worst link of a plan is done after this.
constexpr Duration kLongestEnd = seconds(60);

ServerConfig server_config(const Plan& plan) {
  ServerConfig config;
  config.tick_rate_hz = plan.tick_rate_hz;
  config.first_tick = plan.first_tick;
  config.max_datagrams_per_tick = plan.max_datagrams_per_tick;
  config.interest = plan.interest;
  config.client_bytes_per_second = plan.client_bytes_per_second;
  config.full_state_bytes_per_second = plan.full_state_bytes_per_second;
  config.max_entities = 4096;
  config.max_sessions = 16;
  config.time_out = seconds(8);
  config.freeze_deadline = kLongestEnd;
  return config;
}

}  // namespace

bool SimulatedClient::should_be_connected(Duration now) const {
  if (now < plan.joins_at) return false;
  if (plan.leaves_at.count() == 0 || now < plan.leaves_at) return true;
  return plan.returns_at.count() != 0 && now >= plan.returns_at;
}

Simulation::Simulation(const Plan& plan)
    : plan_(plan),
      entropy_(mix64(plan.seed)),
      network_(clock_, mix64(plan.seed + 1)),
      game_(plan.world),
      server_endpoint_(Endpoint::ipv4(10, 0, 0, 1, 7777)),
      server_port_(network_.open(server_endpoint_)),
      server_(std::make_unique<Server>(game_, *server_port_, clock_, entropy_, server_config(plan))),
      schedule_(clock_.now(), plan.tick_rate_hz) {
  for (std::size_t i = 0; i < plan.clients.size(); ++i) {
    const auto endpoint = Endpoint::ipv4(10, 0, 1, static_cast<std::uint8_t>(i + 1), 4000);
    auto client = std::make_unique<SimulatedClient>(
        SimulatedClient{.plan = plan.clients[i],
                        .endpoint = endpoint,
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
    config.max_entities = 4096;
    client->client = std::make_unique<Client>(*client->port, clock_, entropy_, config);
    clients_.push_back(std::move(client));
  }
}

void Simulation::run_client(SimulatedClient& client) {
  const ClientPlan& plan = client.plan;
  const Duration now = this->now();
  const bool is_cut = plan.partition_at.count() != 0 && now >= plan.partition_at &&
                      now < plan.partition_at + plan.partition_length;
  if (is_cut != client.is_partitioned) {
    client.is_partitioned = is_cut;
    if (!is_cut) {
      network_.heal(client.endpoint, server_endpoint_);
    } else if (plan.partition_one_way) {
      network_.partition_one_way(server_endpoint_, client.endpoint);
    } else {
      network_.partition(server_endpoint_, client.endpoint);
    }
  }
  const bool wants_in = client.should_be_connected(now);
  const ClientState state = client.client->state();
  if (wants_in && (state == ClientState::Idle || state == ClientState::Closed) && !server_->is_frozen()) {
    client.client->connect();
    ++client.sessions;
  }
  if (!wants_in && (state == ClientState::Connected || state == ClientState::Connecting))
    client.client->close();

  client.client->poll();
  if (client.client->state() == ClientState::Connected && clock_.now() >= client.next_update) {
    client.next_update = clock_.now() + Duration(seconds(1)) / plan_.tick_rate_hz;
    client.client->add_input(
        demo::encode_input(client.behaviour.next(client.client->registry(), client.client->controlled())));
    client.client->send_update();
  }
}

void Simulation::step() {
  clock_.advance(kStep);
  server_->poll();
  for (std::uint32_t due = schedule_.take_due(clock_.now()); due > 0; --due) server_->run_tick();
  for (const auto& client : clients_) run_client(*client);
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
  while (!server_->all_compared() && now() - frozen_at < kLongestEnd) {
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
