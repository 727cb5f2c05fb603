#include "shared/net/link_model.hpp"

#include <algorithm>

namespace shoal {

bool LinkModel::passes_rate_cap(Time now, std::size_t bytes, Time& leaves_at) {
  leaves_at = now;
  if (faults_.bytes_per_second == 0) return true;
  const double rate = static_cast<double>(faults_.bytes_per_second);
  const Time start = std::max(now, rate_busy_until_);
  const double waiting_bytes = to_seconds(start - now) * rate;
  if (waiting_bytes + static_cast<double>(bytes) > static_cast<double>(faults_.queue_bytes)) return false;
  leaves_at = start + from_milliseconds(static_cast<double>(bytes) / rate * 1000);
  rate_busy_until_ = leaves_at;
  return true;
}

LinkModel::Fate LinkModel::decide(Time now, std::size_t bytes, bool capped) {
  ++counters_.offered;
  const bool lost = random_.chance(faults_.loss_percent / 100);
  const bool duplicated = random_.chance(faults_.duplicate_percent / 100);
  struct Draw {
    double jitter;
    bool reordered;
    bool corrupt;
  };
  std::array<Draw, 2> draws;
  for (Draw& draw : draws) {
    draw.jitter = static_cast<double>(random_.uniform(-1.0f, 1.0f));
    draw.reordered = random_.chance(faults_.reorder_percent / 100);
    draw.corrupt = random_.chance(faults_.corrupt_percent / 100);
  }
  Fate fate{};
  if (lost) {
    ++counters_.lost;
    return fate;
  }
  Time leaves_at = now;
  if (capped && !passes_rate_cap(now, bytes, leaves_at)) {
    ++counters_.throttled;
    return fate;
  }
  fate.count = duplicated ? 2 : 1;
  if (duplicated) ++counters_.duplicated;
  for (std::uint32_t i = 0; i < fate.count; ++i) {
    const Duration jitter = from_milliseconds(to_milliseconds(faults_.jitter) * draws[i].jitter);
    Time at = leaves_at + std::max(Duration{0}, faults_.latency + jitter);
    if (draws[i].reordered) {
      ++counters_.reordered;
      at = at + faults_.reorder_delay;
    } else if (capped) {
      at = std::max(at, newest_delivery_);
      newest_delivery_ = at;
    }
    if (draws[i].corrupt) ++counters_.corrupted;
    fate.copies[i] = {at, draws[i].corrupt};
  }
  return fate;
}

std::size_t LinkModel::corrupt(std::span<std::byte> bytes) {
  if (bytes.empty()) return 0;
  const std::uint32_t size = static_cast<std::uint32_t>(bytes.size());
  if (random_.chance(0.2)) return random_.below(size);  // cut short
  const std::uint32_t first_bit = random_.below(size * 8);
  bytes[first_bit / 8] ^= std::byte{1} << (first_bit % 8);
  for (std::uint32_t more = random_.below(8); more > 0; --more) {
    const std::uint32_t bit = random_.below(size * 8);
    if (bit != first_bit) bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  return bytes.size();
}

}  // namespace shoal
