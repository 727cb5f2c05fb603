// What one direction of a network path does to datagrams: lose, double, hold back, reorder, corrupt,
// throttle. The simulated network has one model per pair of ports, a FaultyPort has one per direction. Faults
// are drawn from the seed alone, so a run comes back.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "shared/base/random.hpp"
#include "shared/base/time.hpp"

namespace shoal {

/// One way; give both directions theirs.
struct LinkFaults {
  double loss_percent = 0;
  double duplicate_percent = 0;
  double reorder_percent =
      0;  // held back by `reorder_delay`, so that later ones pass; jitter alone keeps order
  double corrupt_percent = 0;  // some bits flipped, or cut short
  Duration latency{};
  Duration jitter{};  // latency ± jitter, uniform
  Duration reorder_delay{milliseconds{30}};
  std::uint64_t bytes_per_second = 0;     // 0: no cap
  std::uint64_t queue_bytes = 64 * 1024;  // waiting at the cap; what comes on top is lost

  friend bool operator==(const LinkFaults&, const LinkFaults&) = default;
};

struct LinkCounters {
  std::uint64_t offered = 0;
  std::uint64_t delivered = 0;  // copies
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t throttled = 0;    // lost at the rate cap
  std::uint64_t partitioned = 0;  // lost to a partition
};

class LinkModel {
 public:
  struct Copy {
    Time deliver_at;
    bool corrupt;
  };
  struct Fate {
    std::array<Copy, 2> copies;
    std::uint32_t count = 0;  // 0: lost
  };

  explicit LinkModel(std::uint64_t seed, LinkFaults faults = {}) : faults_(faults), random_(seed) {}

  void set_faults(const LinkFaults& faults) { faults_ = faults; }
  const LinkFaults& faults() const { return faults_; }
  LinkCounters& counters() { return counters_; }
  const LinkCounters& counters() const { return counters_; }

  /// Decides over one datagram that is offered now. Each call draws the same number of random values whatever
  /// the faults are, so that changing one fault does not move the others. What is not `capped` comes another way: it takes
  /// no room at the rate cap, waits for none, and keeps no order.
  Fate decide(Time now, std::size_t bytes, bool capped = true);
  /// Damages the bytes; returns how many are left of them. At least one bit differs or one byte is missing.
  std::size_t corrupt(std::span<std::byte> bytes);

 private:
  bool passes_rate_cap(Time now, std::size_t bytes, Time& leaves_at);

  LinkFaults faults_;
  LinkCounters counters_;
  Random random_;
  Time rate_busy_until_{};
  Time newest_delivery_{};
};

}  // namespace shoal
