#include "shared/net/simulated_network.hpp"

#include "shared/base/assert.hpp"
#include "shared/net/delay_queue.hpp"

namespace shoal {

class SimulatedNetwork::Port final : public DatagramPort {
 public:
  Port(SimulatedNetwork& network, const Endpoint& local) : network_(network), local_(local) {}
  ~Port() override { network_.ports_.erase(local_); }

  bool send(const Endpoint& peer, std::span<const std::byte> bytes) override {
    if (bytes.size() > Datagram::kCapacity) {
      ++counters_.send_failures;
      return false;
    }
    ++counters_.sent_datagrams;
    counters_.sent_bytes += bytes.size();
    network_.send(local_, peer, bytes);
    return true;  // what happens on the way the sender cannot tell
  }

  void flush() override {}  // nothing waits

  bool receive(Datagram& datagram) override {
    const Datagram* due = waiting_.pop_due(network_.clock_.now());
    if (due == nullptr) return false;
    copy_datagram(*due, datagram);
    ++counters_.received_datagrams;
    counters_.received_bytes += datagram.size;
    return true;
  }

  Endpoint local() const override { return local_; }
  PortCounters counters() const override { return counters_; }

  void move_to(const Endpoint& local) {
    local_ = local;
    waiting_.clear();
  }
  DelayQueue& waiting() { return waiting_; }
  void count_overflow() { ++counters_.receive_overflows; }

 private:
  SimulatedNetwork& network_;
  Endpoint local_;
  PortCounters counters_;
  DelayQueue waiting_{kMaxWaiting};
};

std::size_t SimulatedNetwork::LinkKeyHash::operator()(const LinkKey& key) const noexcept {
  const std::hash<Endpoint> hash;
  return static_cast<std::size_t>(mix64(hash(key.source)) ^ hash(key.target));
}

SimulatedNetwork::SimulatedNetwork(const Clock& clock, std::uint64_t seed) : clock_(clock), seed_(seed) {}

SimulatedNetwork::~SimulatedNetwork() {
  SHOAL_ASSERT(ports_.empty(), "a port outlives its simulated network: destroy the ports first");
}

std::unique_ptr<DatagramPort> SimulatedNetwork::open(Endpoint endpoint) {
  while (endpoint.port == 0) {
    Endpoint candidate = endpoint;
    candidate.port = next_free_port_++;
    if (next_free_port_ == 0) next_free_port_ = 49152;
    if (!ports_.contains(candidate)) endpoint = candidate;
  }
  if (ports_.contains(endpoint)) return nullptr;
  auto port = std::make_unique<Port>(*this, endpoint);
  ports_.emplace(endpoint, port.get());
  return port;
}

bool SimulatedNetwork::move(DatagramPort& port, const Endpoint& endpoint) {
  const auto found = ports_.find(port.local());
  SHOAL_ASSERT(found != ports_.end() && found->second == &port, "the port is not of this network");
  if (ports_.contains(endpoint)) return false;
  Port* moved = found->second;
  ports_.erase(found);
  moved->move_to(endpoint);
  ports_.emplace(endpoint, moved);
  return true;
}

void SimulatedNetwork::send(const Endpoint& source, const Endpoint& target, std::span<const std::byte> bytes,
                            bool capped) {
  if (tap_) tap_(source, target, bytes);
  LinkModel& model = link(source, target);
  const LinkModel::Fate fate = model.decide(clock_.now(), bytes.size(), capped);
  if (partitions_.contains({source, target})) {
    ++model.counters().partitioned;
    return;
  }
  const auto port = ports_.find(target);
  if (port == ports_.end()) {
    ++undeliverable_;
    return;
  }
  for (std::uint32_t i = 0; i < fate.count; ++i) {
    Datagram* copy = port->second->waiting().push(fate.copies[i].deliver_at, source, bytes);
    if (copy == nullptr) {
      port->second->count_overflow();
      continue;
    }
    if (fate.copies[i].corrupt) {
      copy->size = static_cast<std::uint16_t>(model.corrupt({copy->bytes.data(), copy->size}));
    }
    ++model.counters().delivered;
  }
}

LinkModel& SimulatedNetwork::link(const Endpoint& source, const Endpoint& target) {
  const LinkKey key{source, target};
  const auto found = links_.find(key);
  if (found != links_.end()) return found->second;
  return links_.emplace(key, LinkModel(mix64(seed_ ^ LinkKeyHash{}(key)), faults_for(key))).first->second;
}

LinkFaults SimulatedNetwork::faults_for(const LinkKey& key) const {
  if (const auto rule = faults_between_.find(key); rule != faults_between_.end()) return rule->second;
  if (const auto rule = faults_to_.find(key.target); rule != faults_to_.end()) return rule->second;
  if (const auto rule = faults_from_.find(key.source); rule != faults_from_.end()) return rule->second;
  return default_faults_;
}

void SimulatedNetwork::apply_rules() {
  for (auto& [key, model] : links_) model.set_faults(faults_for(key));
}

void SimulatedNetwork::set_default_link(const LinkFaults& faults) {
  default_faults_ = faults;
  apply_rules();
}
void SimulatedNetwork::set_links_from(const Endpoint& source, const LinkFaults& faults) {
  faults_from_[source] = faults;
  apply_rules();
}
void SimulatedNetwork::set_links_to(const Endpoint& target, const LinkFaults& faults) {
  faults_to_[target] = faults;
  apply_rules();
}
void SimulatedNetwork::set_link(const Endpoint& source, const Endpoint& target, const LinkFaults& faults) {
  faults_between_[{source, target}] = faults;
  apply_rules();
}

void SimulatedNetwork::partition_one_way(const Endpoint& source, const Endpoint& target) {
  partitions_.insert({source, target});
}
void SimulatedNetwork::partition(const Endpoint& a, const Endpoint& b) {
  partition_one_way(a, b);
  partition_one_way(b, a);
}
void SimulatedNetwork::heal(const Endpoint& a, const Endpoint& b) {
  partitions_.erase({a, b});
  partitions_.erase({b, a});
}

std::optional<Time> SimulatedNetwork::next_event() const {
  std::optional<Time> next;
  for (const auto& [endpoint, port] : ports_) {
    const std::optional<Time> event = port->waiting().next_due();
    if (event && (!next || *event < *next)) next = event;
  }
  return next;
}

LinkCounters SimulatedNetwork::link_counters(const Endpoint& source, const Endpoint& target) const {
  const auto found = links_.find({source, target});
  return found == links_.end() ? LinkCounters{} : found->second.counters();
}

LinkCounters SimulatedNetwork::total_counters() const {
  LinkCounters total;
  for (const auto& [key, model] : links_) {
    const LinkCounters& one = model.counters();
    total.offered += one.offered;
    total.delivered += one.delivered;
    total.lost += one.lost;
    total.duplicated += one.duplicated;
    total.reordered += one.reordered;
    total.corrupted += one.corrupted;
    total.throttled += one.throttled;
    total.partitioned += one.partitioned;
  }
  return total;
}

}  // namespace shoal
