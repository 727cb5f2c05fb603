#include "shared/net/simulated_network.hpp"

#include <algorithm>
#include <cstring>

#include "shared/base/assert.hpp"

namespace shoal {

class SimulatedNetwork::Port final : public DatagramPort {
 public:
  Port(SimulatedNetwork& network, const Endpoint& local) : network_(network), local_(local) {}
  ~Port() override {
    network_.ports_.erase(local_);
    for (const Waiting& waiting : waiting_) network_.free_buffers_.push_back(waiting.buffer);
  }

  bool send(const Endpoint& peer, std::span<const std::byte> bytes) override {
    if (bytes.size() > Datagram::kCapacity) {
      ++counters_.send_failures;
      return false;
    }
    ++counters_.sent_datagrams;
    counters_.sent_bytes += bytes.size();
    return network_.send(local_, peer, bytes);
  }

  bool receive(Datagram& datagram) override {
    if (waiting_.empty() || waiting_.front().deliver_at > network_.clock_.now()) return false;
    std::pop_heap(waiting_.begin(), waiting_.end(), later);
    const std::uint32_t buffer = waiting_.back().buffer;
    waiting_.pop_back();
    const Datagram& source = *network_.buffers_[buffer];
    datagram.peer = source.peer;
    datagram.size = source.size;
    std::memcpy(datagram.bytes.data(), source.bytes.data(), source.size);
    network_.free_buffers_.push_back(buffer);
    ++counters_.received_datagrams;
    counters_.received_bytes += datagram.size;
    return true;
  }

  Endpoint local() const override { return local_; }
  PortCounters counters() const override { return counters_; }

  bool is_full() const { return waiting_.size() >= kMaxInFlight; }
  void count_overflow() { ++counters_.receive_overflows; }
  void deliver(Time at, std::uint64_t order, std::uint32_t buffer) {
    waiting_.push_back({at, order, buffer});
    std::push_heap(waiting_.begin(), waiting_.end(), later);
  }
  std::optional<Time> next_event() const {
    if (waiting_.empty()) return std::nullopt;
    return waiting_.front().deliver_at;
  }

 private:
  struct Waiting {
    Time deliver_at;
    std::uint64_t order;
    std::uint32_t buffer;
  };
  static bool later(const Waiting& a, const Waiting& b) {
    return a.deliver_at != b.deliver_at ? a.deliver_at > b.deliver_at : a.order > b.order;
  }

  SimulatedNetwork& network_;
  Endpoint local_;
  PortCounters counters_;
  std::vector<Waiting> waiting_;  // a heap, the earliest in front
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

bool SimulatedNetwork::send(const Endpoint& source, const Endpoint& target,
                            std::span<const std::byte> bytes) {
  LinkModel& model = link(source, target);
  const LinkModel::Fate fate = model.decide(clock_.now(), bytes.size());
  if (partitions_.contains({source, target})) {
    ++model.counters().partitioned;
    return true;  // the sender cannot tell
  }
  const auto port = ports_.find(target);
  if (port == ports_.end()) {
    ++undeliverable_;
    return true;
  }
  for (std::uint32_t i = 0; i < fate.count; ++i) {
    if (port->second->is_full()) {
      port->second->count_overflow();
      continue;
    }
    const std::uint32_t buffer = take_buffer();
    Datagram& copy = *buffers_[buffer];
    copy.peer = source;
    copy.size = static_cast<std::uint16_t>(bytes.size());
    std::memcpy(copy.bytes.data(), bytes.data(), bytes.size());
    if (fate.copies[i].corrupt) {
      copy.size = static_cast<std::uint16_t>(model.corrupt({copy.bytes.data(), copy.size}));
    }
    ++model.counters().delivered;
    port->second->deliver(fate.copies[i].deliver_at, next_order_++, buffer);
  }
  return true;
}

std::uint32_t SimulatedNetwork::take_buffer() {
  if (free_buffers_.empty()) {
    buffers_.push_back(std::make_unique<Datagram>());
    return static_cast<std::uint32_t>(buffers_.size() - 1);
  }
  const std::uint32_t buffer = free_buffers_.back();
  free_buffers_.pop_back();
  return buffer;
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
    const std::optional<Time> event = port->next_event();
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
