#include "client/bots/report.hpp"

#include <fmt/format.h>

#include <limits>
#include <vector>

#include "shared/config/json_writer.hpp"

namespace shoal {
namespace {

double milliseconds_of(std::uint64_t us) {
  return static_cast<double>(us) / 1000;
}
double kilobits_of(std::uint64_t bits) {
  return static_cast<double>(bits) / 1000;
}

double bytes_per_entity_update(const SwarmSummary& summary) {
  return summary.entity_updates == 0
             ? 0
             : static_cast<double>(summary.bytes_received) / static_cast<double>(summary.entity_updates);
}

double per_second(std::uint64_t now, std::uint64_t before, Duration between) {
  return between.count() <= 0 ? 0 : static_cast<double>(now - before) / to_seconds(between);
}

// By age from one tick on: index 0 is no age that a delta can have.
std::vector<std::uint64_t> by_age(const SwarmSummary& summary, std::uint64_t AgeBucket::*count) {
  std::vector<std::uint64_t> result;
  for (std::size_t age = 1; age < summary.by_baseline_age.size(); ++age)
    result.push_back(summary.by_baseline_age[age].*count);
  return result;
}

void add_link(JsonWriter& json, std::string_view profile, const LinkFaults& faults) {
  json.begin("link");
  json.add("profile", profile);
  json.add("loss_percent", faults.loss_percent);
  json.add("latency_ms", to_milliseconds(faults.latency));
  json.add("jitter_ms", to_milliseconds(faults.jitter));
  json.add("duplicate_percent", faults.duplicate_percent);
  json.add("reorder_percent", faults.reorder_percent);
  json.add("corrupt_percent", faults.corrupt_percent);
  json.end();
}

std::string mix_of(const Stage& stage) {
  std::string text;
  for (const auto& [scenario, share] : stage.mix)
    text += fmt::format("{}{} {:g}", text.empty() ? "" : ", ", to_string(scenario), share);
  return text;
}

void add_stages(JsonWriter& json, const Stages& stages) {
  std::vector<double> starts, bots;
  std::vector<std::string> mixes;
  Duration start{};
  for (const Stage& stage : stages.all()) {
    starts.push_back(to_seconds(start));
    bots.push_back(stage.bots);
    mixes.push_back(mix_of(stage));
    start += stage.length;
  }
  json.begin("stages");
  json.add("start_seconds", starts);
  json.add("bots", bots);
  json.add("mix", mixes);
  json.end();
}

void add_limits(JsonWriter& json, const std::vector<LimitCheck>& checks) {
  json.begin("limits");
  for (const LimitCheck& check : checks) {
    json.begin(check.option);
    json.add("what", check.what);
    json.add("unit", check.unit);
    json.add("limit", check.limit);
    json.add("value", check.value.value_or(std::numeric_limits<double>::quiet_NaN()));
    json.add("finding", to_string(check.finding));
    json.end();
  }
  json.end();
}

void add_server(JsonWriter& json, const std::optional<ServerReading>& server) {
  const ServerReading reading = server.value_or(ServerReading{});
  json.begin("server_seen");
  json.add("is_known", server.has_value());
  json.add("tick_rate", reading.tick_rate_hz);
  json.add("tick_p50_ms", reading.tick_p50_ms);
  json.add("tick_p99_ms", reading.tick_p99_ms);
  json.add("tick_max_ms", reading.tick_max_ms);
  json.add("overruns", reading.overruns);
  json.end();
}

void add_timeline(JsonWriter& json, const Timeline& timeline) {
  const auto column = [&](double TimelineSample::*member) {
    std::vector<double> values;
    for (const TimelineSample& sample : timeline.samples()) values.push_back(sample.*member);
    return values;
  };
  json.begin("timeline");
  json.add("seconds_per_sample", timeline.seconds_per_sample());
  json.add("at_seconds", column(&TimelineSample::at_seconds));
  json.add("connected", column(&TimelineSample::connected));
  json.add("kbit_per_second_p50", column(&TimelineSample::kbit_p50));
  json.add("kbit_per_second_p99", column(&TimelineSample::kbit_p99));
  json.add("update_age_p50_ms", column(&TimelineSample::age_p50_ms));
  json.add("update_age_p99_ms", column(&TimelineSample::age_p99_ms));
  json.add("entity_updates_per_second", column(&TimelineSample::updates_per_second));
  json.add("events_per_second", column(&TimelineSample::events_per_second));
  json.add("mismatches", column(&TimelineSample::mismatches));
  json.add("resyncs", column(&TimelineSample::resyncs));
  json.add("lost", column(&TimelineSample::lost));
  json.add("refused", column(&TimelineSample::refused));
  json.add("tick_p50_ms", column(&TimelineSample::tick_p50_ms));
  json.add("tick_p99_ms", column(&TimelineSample::tick_p99_ms));
  json.add("overruns", column(&TimelineSample::overruns));
  json.end();
}

}  // namespace

std::string bots_report(const RunRecord& run) {
  const SwarmSummary& summary = run.summary;
  JsonWriter json;
  json.add("version", run.version);
  json.add("started_at", run.started_at);
  json.add("seconds", to_seconds(run.length));
  json.add("passed", run.failures.empty());
  json.add("failures", run.failures);
  add_limits(json, run.checks);
  json.begin("options");
  for (const auto& [name, value] : run.options) json.add(name, value);
  json.end();
  add_link(json, run.link, run.faults);
  add_stages(json, run.stages);
  json.add("requested", summary.requested);
  json.add("connected", summary.connected);
  json.add("sessions", summary.sessions);
  json.add("refused", summary.refused);
  json.add("lost", summary.lost);
  json.add("reconnected", summary.reconnected);
  json.add("blocks_verified", summary.blocks_verified);
  json.add("mismatches", summary.mismatches);
  json.add("resyncs", summary.resyncs);
  json.add("decode_errors", summary.decode_errors);
  json.add("baseline_misses", summary.baseline_misses);
  json.add("chats", summary.chats);
  json.add("events", summary.events);
  json.add("late_events", summary.late_events);
  json.add("announcements", summary.announcements);
  json.add("in_session_at_end", summary.expected);
  json.add("exact_at_end", summary.exact);
  json.add("different_at_end", summary.different);
  json.begin("mirrored_entities");
  json.add("p50", summary.mirrored_entities.quantile(0.5));
  json.add("max", summary.mirrored_entities.max());
  json.end();
  json.begin("update_age_ms");
  json.add("p50", milliseconds_of(summary.update_age_us.quantile(0.5)));
  json.add("p99", milliseconds_of(summary.update_age_us.quantile(0.99)));
  json.end();
  json.begin("round_ms");
  json.add("p99", milliseconds_of(summary.round_us.quantile(0.99)));
  json.add("max", milliseconds_of(summary.round_us.max()));
  json.end();
  json.begin("kbit_per_second");
  json.add("p50", kilobits_of(summary.bits_per_second.quantile(0.5)));
  json.add("p99", kilobits_of(summary.bits_per_second.quantile(0.99)));
  json.end();
  json.add("bytes_per_entity_update", bytes_per_entity_update(summary));
  json.begin("by_baseline_age");
  json.add("blocks", by_age(summary, &AgeBucket::blocks));
  json.add("bytes", by_age(summary, &AgeBucket::bytes));
  json.add("updates", by_age(summary, &AgeBucket::updates));
  json.end();
  add_server(json, run.server);
  add_timeline(json, run.timeline);
  return json.finish();
}

std::string describe(const Progress& progress) {
  if (progress.length.count() == 0) return fmt::format("{:.0f} s", to_seconds(progress.elapsed));
  return fmt::format("{:.0f} of {:.0f} s", to_seconds(std::min(progress.elapsed, progress.length)),
                     to_seconds(progress.length));
}

std::string status_line(const SwarmSummary& summary, const SwarmSummary& before, Duration between,
                        const Progress& progress) {
  return fmt::format(
      "{} · {}/{} connected · {} entities · {:.0f} blocks/s verified · {} mismatches · {:.0f} kbit/s each · "
      "age "
      "p50 {:.0f} "
      "p99 {:.0f} ms",
      describe(progress), summary.connected_now, summary.requested, summary.mirrored_entities.quantile(0.5),
      per_second(summary.blocks_verified, before.blocks_verified, between), summary.mismatches,
      per_second(summary.bytes_received, before.bytes_received, between) * 8 / 1000 /
          std::max(1u, summary.connected_now),
      milliseconds_of(summary.update_age_us.quantile(0.5)),
      milliseconds_of(summary.update_age_us.quantile(0.99)));
}

std::string status_table(const SwarmSummary& summary, const SwarmSummary& before, Duration between,
                         const Progress& progress) {
  std::string table;
  const auto row = [&](std::string_view name, std::string value) {
    table += fmt::format("  {:<20}{:>28}\n", name, value);
  };
  row("time", describe(progress));
  row("connected", fmt::format("{} of {}", summary.connected_now, summary.requested));
  row("sessions", fmt::format("{}", summary.sessions));
  row("refused, lost", fmt::format("{}, {}", summary.refused, summary.lost));
  row("entities mirrored", fmt::format("{}", summary.mirrored_entities.quantile(0.5)));
  row("entity updates",
      fmt::format("{:.0f} /s", per_second(summary.entity_updates, before.entity_updates, between)));
  row("blocks verified",
      fmt::format("{:.0f} /s", per_second(summary.blocks_verified, before.blocks_verified, between)));
  row("mismatches, resyncs", fmt::format("{}, {}", summary.mismatches, summary.resyncs));
  row("bandwidth per bot",
      fmt::format("{:.0f} kbit/s", per_second(summary.bytes_received, before.bytes_received, between) * 8 /
                                       1000 / std::max(1u, summary.connected_now)));
  row("bytes per update", fmt::format("{:.2f}", bytes_per_entity_update(summary)));
  row("update age p50, p99",
      fmt::format("{:.0f}, {:.0f} ms", milliseconds_of(summary.update_age_us.quantile(0.5)),
                  milliseconds_of(summary.update_age_us.quantile(0.99))));
  return table;
}

std::string lateness_warning(const SwarmSummary& summary) {
  // A bot that gets its turn this seldom answers late, whatever the server does.
  constexpr double kLateMs = 100;
  const double late_ms = milliseconds_of(summary.round_us.quantile(0.99));
  if (late_ms < kLateMs) return {};
  return fmt::format(
      "the bots are the bottleneck: each waited up to {:.0f} ms for its turn (p99), so ages and losses here "
      "are not the "
      "server's; start fewer bots, or some of them on another machine",
      late_ms);
}

std::string closing_line(const RunRecord& run) {
  const SwarmSummary& summary = run.summary;
  const std::string proof = summary.compared == 0
                                ? "no mirror was compared"
                                : fmt::format("{} of {} mirrors exact", summary.exact, summary.expected);
  std::string broken;
  for (const LimitCheck& check : run.checks) {
    if (check.finding == Finding::Within) continue;
    broken += fmt::format("{} --{}", broken.empty() ? "; limits broken:" : ",", check.option);
  }
  if (broken.empty() && !run.checks.empty()) broken = "; within all limits";
  return fmt::format(
      "{} of {} connected in {} sessions, {} refused, {} lost; {} blocks verified, {} mismatches; {}{}",
      summary.connected, summary.requested, summary.sessions, summary.refused, summary.lost,
      summary.blocks_verified, summary.mismatches, proof, broken);
}

}  // namespace shoal
