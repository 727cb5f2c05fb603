// What the swarm was like in each second of a run, for plots: rates and quantiles of that second alone.
//
// 1. Bounded: when kMaxSamples are there, each two neighbours become one, and from then on a sample covers twice the
//    time. Of the two the worse p99, the mean of p50 and of rates, the later of counts stays.
// 2. Counts only grow: they are totals since the start.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "client/bots/server_watch.hpp"
#include "client/bots/swarm.hpp"

namespace shoal {

/// Numbers that are not known are NaN.
struct TimelineSample {
  double at_seconds = 0;  // the end of the time that it covers, since the start of the run
  double connected = 0;
  double kbit_p50 = 0, kbit_p99 = 0;      // kbit/s over bots that were in session all the time
  double age_p50_ms = 0, age_p99_ms = 0;  // NaN when no update came
  double updates_per_second = 0;          // of entities, all bots
  double events_per_second = 0;           // that bots heard of
  double mismatches = 0, resyncs = 0, lost = 0, refused = 0;  // totals
  double tick_p50_ms = 0, tick_p99_ms = 0;                    // of the server's newest ticks
  double overruns = 0;                                        // total
};

class Timeline {
 public:
  static constexpr std::size_t kMaxSamples = 1200;

  void add(const TimelineSample& sample);
  const std::vector<TimelineSample>& samples() const { return samples_; }
  /// How many seconds one sample covers.
  std::size_t seconds_per_sample() const { return seconds_per_sample_; }

 private:
  std::vector<TimelineSample> samples_;
  std::optional<TimelineSample> half_;  // waits until its sample is complete
  std::size_t merged_ = 0;              // how many are in it
  std::size_t seconds_per_sample_ = 1;
};

/// Looks at a swarm once a second.
class TimelineRecorder {
 public:
  /// The references outlive the recorder.
  TimelineRecorder(const Clock& clock, Swarm& swarm)
      : clock_(clock), swarm_(swarm), started_(clock.now()), last_(started_) {}

  bool is_due() const { return clock_.now() - last_ >= seconds(1); }
  /// Adds a sample of the time since the one before, and returns the swarm's summary of now.
  const SwarmSummary& take(const std::optional<ServerReading>& server);
  const Timeline& timeline() const { return timeline_; }
  Time started() const { return started_; }

 private:
  struct BotBefore {
    bool was_connected = false;
    std::uint64_t received_bytes = 0;
  };
  Histogram bandwidth(double between_seconds);

  const Clock& clock_;
  Swarm& swarm_;
  Time started_;
  Time last_;
  SwarmSummary before_;
  std::vector<BotBefore> bots_;
  Timeline timeline_;
};

}  // namespace shoal
