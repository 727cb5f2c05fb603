#include "server/report.hpp"

#include "shared/config/json_writer.hpp"

namespace shoal {

std::string server_report(const Server& server, const ServerConfig& config, const TickMeasures& ticks,
                          const ProcessMeasures& process) {
  const auto milliseconds_of = [&](std::uint64_t us) { return static_cast<double>(us) / 1000; };
  const auto& transport = server.transport_counters();
  const auto& replication = server.replication();
  const auto& counters = server.counters();
  JsonWriter json;
  json.add("tick_rate", config.tick_rate_hz);
  json.add("ticks", ticks.tick_us.count());
  json.add("entities", server.replicated_entities());
  json.begin("tick_ms");
  json.add("p50", milliseconds_of(ticks.tick_us.quantile(0.5)));
  json.add("p99", milliseconds_of(ticks.tick_us.quantile(0.99)));
  json.add("max", milliseconds_of(ticks.tick_us.max()));
  json.end();
  json.begin("recent_tick_ms");
  json.add("p50", milliseconds_of(ticks.recent_us.quantile(0.5)));
  json.add("p99", milliseconds_of(ticks.recent_us.quantile(0.99)));
  json.add("max", milliseconds_of(ticks.recent_us.quantile(1)));
  json.end();
  json.add("overruns", ticks.overruns);
  json.add("cpu_seconds", to_seconds(process.cpu_time));
  json.add("peak_rss_bytes", process.peak_rss_bytes);
  json.add("blocks_encoded", replication.blocks_encoded);
  json.add("blocks_sent", replication.blocks_sent);
  json.add("full_states", replication.full_states);
  json.add("chunks_entered", replication.chunks_entered);
  json.add("lost_full_states", replication.lost_full_states);
  json.add("undeltable", replication.undeltable);
  json.add("baseline_misses", replication.baseline_misses);
  json.add("resyncs", replication.resyncs);
  json.add("bytes_sent", transport.sent_bytes);
  json.add("bytes_received", transport.received_bytes);
  json.add("joined", counters.joined);
  json.add("timed_out", counters.timed_out);
  json.add("bad_updates", counters.bad_updates + replication.bad_resyncs);
  json.add("bad_inputs", counters.bad_inputs);
  json.add("mismatches_reported", counters.mismatches_reported);
  json.add("digests_exact", counters.digests_exact);
  json.add("digests_different", counters.digests_different);
  json.begin("system_ms");
  for (const auto& system : server.schedule().systems()) {
    const double runs = static_cast<double>(system.runs == 0 ? 1 : system.runs);
    json.add(system.name, to_milliseconds(system.total) / runs);
  }
  json.end();
  return json.finish();
}

}  // namespace shoal
