#include "shared/net/faulty_port.hpp"

#include <algorithm>

namespace shoal {
namespace {

// Taken from the inner port at one go; the rest waits there.
constexpr int kIntakePerPump = 256;

}  // namespace

FaultyPort::FaultyPort(DatagramPort& inner, const Clock& clock, const PathFaults& faults, std::uint64_t seed)
    : inner_(inner),
      clock_(clock),
      outgoing_{LinkModel(mix64(seed), faults.outgoing)},
      incoming_{LinkModel(mix64(~seed), faults.incoming)} {}

void FaultyPort::Direction::offer(Time now, const Endpoint& peer, std::span<const std::byte> bytes) {
  const LinkModel::Fate fate = model.decide(now, bytes.size());
  for (std::uint32_t i = 0; i < fate.count; ++i) {
    Datagram* copy = queue.push(fate.copies[i].deliver_at, peer, bytes);
    if (copy == nullptr) {
      ++model.counters().throttled;
      continue;
    }
    if (fate.copies[i].corrupt) {
      copy->size = static_cast<std::uint16_t>(model.corrupt({copy->bytes.data(), copy->size}));
    }
    ++model.counters().delivered;
  }
}

bool FaultyPort::send(const Endpoint& peer, std::span<const std::byte> bytes) {
  if (bytes.size() > Datagram::kCapacity) return false;
  outgoing_.offer(clock_.now(), peer, bytes);
  return true;
}

bool FaultyPort::receive(Datagram& datagram) {
  pump();
  const Datagram* due = incoming_.queue.pop_due(clock_.now());
  if (due == nullptr) return false;
  copy_datagram(*due, datagram);
  return true;
}

void FaultyPort::pump() {
  const Time now = clock_.now();
  while (const Datagram* due = outgoing_.queue.pop_due(now)) (void)inner_.send(due->peer, due->span());
  inner_.flush();
  for (int i = 0; i < kIntakePerPump && inner_.receive(arriving_); ++i) {
    incoming_.offer(now, arriving_.peer, arriving_.span());
  }
}

std::optional<Time> FaultyPort::next_event() const {
  const auto out = outgoing_.queue.next_due();
  const auto in = incoming_.queue.next_due();
  if (!out || !in) return out ? out : in;
  return std::min(*out, *in);
}

void FaultyPort::set_faults(const PathFaults& faults) {
  outgoing_.model.set_faults(faults.outgoing);
  incoming_.model.set_faults(faults.incoming);
}

}  // namespace shoal
