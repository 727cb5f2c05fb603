#include "server/report.hpp"

#include "shared/config/json_writer.hpp"

namespace shoal {

ServerMeasures measure(const Server& server, std::uint32_t tick_rate_hz, const TickMeasures& ticks,
                       std::size_t entities) {
  ServerMeasures result;
  result.tick_rate_hz = tick_rate_hz;
  result.ticks = ticks.tick_us.count();
  result.tick_us_p50 = ticks.tick_us.quantile(0.5);
  result.tick_us_p99 = ticks.tick_us.quantile(0.99);
  result.tick_us_max = ticks.tick_us.max();
  result.recent_tick_us_p50 = ticks.recent_us.quantile(0.5);
  result.recent_tick_us_p99 = ticks.recent_us.quantile(0.99);
  result.recent_tick_us_max = ticks.recent_us.quantile(1);
  result.overruns = ticks.overruns;
  result.entities = entities;
  result.replication = server.replication();
  result.counters = server.counters();
  result.transport = server.transport_counters();
  for (const auto& system : server.schedule().systems())
    result.systems.push_back({system.name, system.runs, system.total});
  return result;
}

std::string server_report(const ServerMeasures& measures, const ProcessMeasures& process) {
  const auto milliseconds_of = [&](std::uint64_t us) { return static_cast<double>(us) / 1000; };
  const auto& transport = measures.transport;
  const auto& replication = measures.replication;
  const auto& counters = measures.counters;
  JsonWriter json;
  json.add("tick_rate", measures.tick_rate_hz);
  json.add("ticks", measures.ticks);
  json.add("entities", measures.entities);
  json.begin("tick_ms");
  json.add("p50", milliseconds_of(measures.tick_us_p50));
  json.add("p99", milliseconds_of(measures.tick_us_p99));
  json.add("max", milliseconds_of(measures.tick_us_max));
  json.end();
  json.begin("recent_tick_ms");
  json.add("p50", milliseconds_of(measures.recent_tick_us_p50));
  json.add("p99", milliseconds_of(measures.recent_tick_us_p99));
  json.add("max", milliseconds_of(measures.recent_tick_us_max));
  json.end();
  json.add("overruns", measures.overruns);
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
  for (const auto& system : measures.systems) {
    const double runs = static_cast<double>(system.runs == 0 ? 1 : system.runs);
    json.add(system.name, to_milliseconds(system.total) / runs);
  }
  json.end();
  return json.finish();
}

}  // namespace shoal
