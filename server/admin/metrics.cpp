#include "server/admin/metrics.hpp"

#include <fmt/format.h>
#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "shared/config/version.hpp"

namespace shoal {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

// "client left" becomes client_left.
std::string as_label(std::string_view words) {
  std::string label(words);
  std::replace(label.begin(), label.end(), ' ', '_');
  return label;
}

double share_of_bytes(std::uint64_t bits) {
  return static_cast<double>(bits) / 8;
}

/// Families in the order of their making. A value belongs to the family that was begun last.
class Families {
 public:
  Families& counter(std::string name, std::string help) {
    return begin(std::move(name), std::move(help), MetricType::Counter);
  }
  Families& gauge(std::string name, std::string help) {
    return begin(std::move(name), std::move(help), MetricType::Gauge);
  }
  Families& histogram(std::string name, std::string help) {
    return begin(std::move(name), std::move(help), MetricType::Histogram);
  }
  template <class Number>
  Families& add(Number value, Labels labels = {}) {
    ClientMetric& metric = metric_with(std::move(labels));
    const auto number = static_cast<double>(value);
    (families_.back().type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = number;
    return *this;
  }
  Families& add(const BucketHistogram& histogram, Labels labels = {}) {
    ClientMetric::Histogram& target = metric_with(std::move(labels)).histogram;
    target.sample_count = histogram.count();
    target.sample_sum = histogram.sum();
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < histogram.bounds().size(); ++i)
      target.bucket.push_back({below += histogram.counts()[i], histogram.bounds()[i]});
    return *this;
  }
  std::vector<MetricFamily> take() { return std::move(families_); }

 private:
  Families& begin(std::string name, std::string help, MetricType type) {
    families_.push_back({"shoal_" + std::move(name), std::move(help), type, {}});
    return *this;
  }
  ClientMetric& metric_with(Labels labels) {
    ClientMetric& metric = families_.back().metric.emplace_back();
    metric.label = std::move(labels);
    return metric;
  }

  std::vector<MetricFamily> families_;
};

void add_ticks(Families& all, const ServerStatus& status) {
  all.histogram("tick_duration_seconds",
                "Duration of one tick: inputs, systems, changes, views, frames. Its buckets are fractions of "
                "the period")
      .add(status.tick_seconds);
  all.gauge("tick_period_seconds", "Time that a tick has").add(to_seconds(status.limits.period()));
  // Of both there are more than of the one: TickMeasures counts them together.
  all.counter("tick_overruns_total", "Ticks that took longer than their period")
      .add(status.measures.overruns - status.skipped_ticks);
  all.counter("ticks_skipped_total", "Ticks that never ran, since the server was too far behind")
      .add(status.skipped_ticks);
  all.counter("tick_stalls_total", "Times that the tick did not go on for the watchdog's time")
      .add(status.stalls);
  all.histogram("phase_duration_seconds", "Duration of one part of a tick");
  for (std::size_t i = 0; i < status.phase_seconds.size(); ++i)
    all.add(status.phase_seconds[i], {{"phase", std::string(kTickPhaseNames[i])}});
  all.histogram("system_duration_seconds",
                "Work of one system of the game in one tick, added up over the threads that did it");
  for (const SystemStatus& system : status.systems)
    all.add(system.seconds, {{"system", std::string(system.name)}});
}

void add_players(Families& all, const ServerStatus& status, const ScrapeMoment& moment) {
  const TransportCounters& transport = status.measures.transport;
  all.gauge("ready", "1 while the server takes players: it runs, its tick is alive, it is not full")
      .add(moment.is_ready);
  all.gauge("players", "Players that are connected now").add(status.player_count);
  all.gauge("players_limit", "Players at once, at most").add(status.limits.max_players);
  all.gauge("players_absent", "Players whose session broke off and whose entities wait for them")
      .add(status.absent_players);
  all.counter("players_joined_total", "Sessions that were opened").add(transport.joined);
  all.counter("players_returned_total", "Of those, players who found their entity waiting")
      .add(status.measures.counters.returned);
  all.counter("players_left_total", "Sessions that ended, by reason");
  // The others are only known at clients.
  for (std::size_t i = 0; i <= static_cast<std::size_t>(CloseReason::ServerRestart); ++i)
    all.add(transport.left[i], {{"reason", as_label(to_string(static_cast<CloseReason>(i)))}});
  all.counter("handshakes_refused_total", "Attempts to join that were refused, by reason");
  for (std::size_t i = 0; i < kRefuseReasons; ++i)
    all.add(transport.refused[i], {{"reason", as_label(to_string(static_cast<RefuseReason>(i)))}});
  all.counter("public_key_operations_total",
              "Agreements on keys and signatures that handshakes cost: only who showed an address of their "
              "own causes any")
      .add(transport.public_key_operations);
  all.histogram("client_sent_bytes_per_second",
                "UDP payload sent to one client in the last second. Each client counts once a second")
      .add(status.client_bytes_per_second);
  all.histogram("client_round_trip_seconds",
                "Smoothed round trip to one client. Each client counts once a second")
      .add(status.client_rtt_seconds);
  all.histogram("client_jitter_seconds",
                "Mean deviation of the round trip to one client. Each client counts once a second")
      .add(status.client_jitter_seconds);
  all.histogram("client_loss_ratio",
                "Packets to one client that were lost in the last second, as a share. Each client counts "
                "once a second")
      .add(status.client_loss);
  all.histogram("client_wait_seconds",
                "How long the change that waits longest for room to one client has been overdue. Each client "
                "counts once "
                "a second")
      .add(status.client_wait_seconds);
  all.gauge("client_budget_bytes_per_second", "Most that may be sent to one client; 0: no limit")
      .add(status.limits.client_bytes_per_second);
  all.gauge("join_budget_bytes_per_second",
            "Most that may be sent to all clients together for what they see for the first time; 0: no limit")
      .add(status.limits.full_state_bytes_per_second);
}

void add_world(Families& all, const ServerStatus& status) {
  all.gauge("replicated_entities", "Entities that clients may see").add(status.measures.entities);
  all.gauge("entities", "Entities that have the component");
  for (const PoolStatus& pool : status.pools)
    all.add(pool.entities, {{"component", std::string(pool.component)}});
  all.gauge("pool_memory_bytes", "Memory of the component's pool, used or not");
  for (const PoolStatus& pool : status.pools)
    all.add(pool.memory_bytes, {{"component", std::string(pool.component)}});
  all.gauge("chunks", "Chunks of up to 64 entities").add(status.chunks);
  all.gauge("squares", "Squares that have chunks").add(status.squares);
  all.gauge("chunk_memory_bytes", "Memory of the columns of all chunks and their versions")
      .add(status.chunk_memory_bytes);
  all.gauge("message_memory_bytes", "Memory of the message channels of all sessions")
      .add(status.message_memory_bytes);
}

void add_traffic(Families& all, const ServerStatus& status) {
  const TransportCounters& transport = status.measures.transport;
  const auto add_all = [&](auto member) {
    for (std::size_t i = 0; i < kTrafficKinds; ++i) {
      const std::string kind = as_label(to_string(static_cast<TrafficKind>(i)));
      all.add(transport.received_by_kind[i].*member, {{"direction", "received"}, {"kind", kind}});
      if (static_cast<TrafficKind>(i) == TrafficKind::Bad) continue;
      all.add(transport.sent_by_kind[i].*member, {{"direction", "sent"}, {"kind", kind}});
    }
  };
  all.counter("network_bytes_total", "UDP payload by direction and by what it is about");
  add_all(&Traffic::bytes);
  all.counter("network_packets_total", "Datagrams by direction and by what they are about");
  add_all(&Traffic::datagrams);
  all.counter("packets_acknowledged_total", "Packets of frames and messages that arrived")
      .add(transport.acknowledged);
  all.counter("packets_lost_total", "Packets of frames and messages that were given up for lost")
      .add(transport.lost);
  all.counter("message_units_resent_total", "Units of 64 bytes of messages that were sent again")
      .add(status.resent_message_units);
  all.counter("send_failures_total", "Datagrams that the system did not take").add(status.port.send_failures);
  all.counter("receive_overflows_total", "Datagrams that arrived while the server's own queue was full")
      .add(status.port.receive_overflows);
  all.counter("session_moves_total", "Sessions that went on from another address").add(transport.moved);
  all.counter("bad_packets_total", "Datagrams that were dropped, by reason");
  // A server never asks for a key.
  for (std::size_t i = 0; i < static_cast<std::size_t>(BadDatagram::BadServerKey); ++i)
    all.add(transport.bad[i], {{"reason", as_label(to_string(static_cast<BadDatagram>(i)))}});
}

void add_replication(Families& all, const ServerStatus& status) {
  const ReplicationCounters& replication = status.measures.replication;
  const ServerCounters& counters = status.measures.counters;
  all.counter("blocks_encoded_total", "Blocks that had to be encoded").add(replication.blocks_encoded);
  all.counter("blocks_sent_total", "Blocks that left in datagrams").add(replication.blocks_sent);
  all.counter("encoded_bytes_total",
              "Bytes of encoded blocks by component; _bindings is which entities stand in a chunk");
  for (std::size_t i = 0; i < status.component_bits.size(); ++i)
    all.add(share_of_bytes(status.component_bits[i]),
            {{"component", std::string(status.component_names[i])}});
  all.add(share_of_bytes(status.binding_bits), {{"component", "_bindings"}});
  all.counter("full_states_total", "Blocks without a baseline that left").add(replication.full_states);
  all.counter("full_states_lost_total", "Full states that were sent again, since the first one was lost")
      .add(replication.lost_full_states);
  all.counter("chunks_entered_total", "Chunks that came into a client's interest: each needs a full state")
      .add(replication.chunks_entered);
  all.counter("baseline_misses_total", "Full states since a client's baseline was not kept any more")
      .add(replication.baseline_misses);
  all.counter("undeltable_blocks_total", "Full states since no difference would have fitted")
      .add(replication.undeltable);
  all.counter("resyncs_total", "Full states that clients asked for").add(replication.resyncs);
  all.counter("mismatches_reported_total",
              "Blocks that clients decoded to something else than the server has")
      .add(counters.mismatches_reported);
  all.counter("mismatched_sessions_total", "Sessions that reported such a block")
      .add(counters.mismatched_sessions);
  all.counter("digests_compared_total", "Mirrors that were compared with the frozen world, by what came out");
  all.add(counters.digests_exact, {{"result", "exact"}})
      .add(counters.digests_different, {{"result", "different"}});
  all.counter("bad_updates_total", "Updates of clients with counts, ids or enumerators that no client sends")
      .add(counters.bad_updates + replication.bad_resyncs);
  all.counter("bad_inputs_total", "Inputs that are none of this game").add(counters.bad_inputs);
  all.counter("events_refused_total", "Events that found no room in a session's queue")
      .add(counters.events_refused);
  all.counter("relays_refused_total", "Messages of clients to others beyond what each may say")
      .add(counters.relays_refused);
}

void add_saves(Families& all, const SaveFigures& saves) {
  all.counter("saves_total", "Saves of the world that are there for good").add(saves.saves);
  all.counter("save_failures_total", "Saves of the world that failed").add(saves.failures);
  all.counter("saves_late_total", "Saves that were due while the one before was still being written")
      .add(saves.late);
  all.counter("saved_bytes_total", "Bytes of all saves").add(saves.bytes);
  all.gauge("save_bytes", "Bytes of the newest save").add(saves.newest_bytes);
  all.gauge("save_copy_seconds", "Time that the newest save took from its tick")
      .add(to_seconds(saves.newest_copy));
  all.gauge("save_write_seconds", "Time that the newest save took beside the tick")
      .add(to_seconds(saves.newest_write));
  all.gauge(
         "save_age_seconds",
         "Time since the world was as in the newest save, or since the start if there is none: what a crash "
         "would lose")
      .add(to_seconds(saves.age));
  all.gauge("save_interval_seconds", "Time from save to save; 0: in the end only")
      .add(to_seconds(saves.interval));
}

void add_process(Families& all, const ScrapeMoment& moment) {
  all.counter("process_cpu_seconds_total", "Processor time of the process, all threads")
      .add(to_seconds(moment.cpu_time));
  all.gauge("process_resident_memory_bytes", "Resident memory of the process").add(moment.rss_bytes);
  all.gauge("process_peak_resident_memory_bytes", "Most memory that the process ever had resident")
      .add(moment.peak_rss_bytes);
  all.gauge("last_tick_age_seconds", "Time since the last tick ended")
      .add(to_seconds(moment.since_last_tick));
  all.counter("admin_requests_total", "Requests to the admin port, by the status of their replies");
  for (const auto& [code, count] : moment.admin_replies) all.add(count, {{"code", std::to_string(code)}});
  all.counter("admin_token_failures_total", "Requests to the admin port with a wrong token")
      .add(moment.admin_token_failures);
  all.gauge("build_info", "1; what runs").add(1, {{"version", kVersion}});
}

class StatusMetrics final : public prometheus::Collectable {
 public:
  StatusMetrics(const ServerStatus& status, const ScrapeMoment& moment) : status_(status), moment_(moment) {}
  std::vector<MetricFamily> Collect() const override {
    Families all;
    add_ticks(all, status_);
    add_players(all, status_, moment_);
    add_world(all, status_);
    add_traffic(all, status_);
    add_replication(all, status_);
    if (status_.saves) add_saves(all, *status_.saves);
    add_process(all, moment_);
    return all.take();
  }

 private:
  const ServerStatus& status_;
  const ScrapeMoment& moment_;
};

}  // namespace

std::string metrics_text(const ServerStatus& status, const ScrapeMoment& moment) {
  return prometheus::TextSerializer().Serialize(StatusMetrics(status, moment).Collect());
}

}  // namespace shoal
