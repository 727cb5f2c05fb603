#include "server/admin/status_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace shoal {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kIndent = 2;

std::string text_of(Entity entity) {
  return fmt::format("{}:{}", entity.index, entity.generation);
}

double rounded(double value) {
  return std::round(value * 1000) / 1000;
}

Json tick_or_null(std::optional<Tick> tick) {
  return tick ? Json(tick->value) : Json(nullptr);
}

std::string_view name_of(Audience audience) {
  switch (audience) {
    case Audience::Everyone:
      return "everyone";
    case Audience::Team:
      return "team";
    case Audience::Owner:
      return "owner";
  }
  return {};
}

std::string text_of(const SquareKey& square) {
  switch (square.kind) {
    case SquareKind::Always:
      return "always";
    case SquareKind::Cell:
      return fmt::format("cell {},{}", square.column(), square.row());
    case SquareKind::Team:
      return fmt::format("team {}", square.a);
    case SquareKind::Owner:
      return fmt::format("owner {}:{}", square.a, square.b);
  }
  return {};
}

Json json_of(const AudienceExplanation& part) {
  Json json;
  json["audience"] = name_of(part.audience);
  json["verdict"] = part.verdict;
  json["chunk"] = part.chunk.value;
  json["slot"] = part.slot;
  json["square"] = text_of(part.square);
  json["distance"] = part.distance ? Json(rounded(*part.distance)) : Json(nullptr);
  json["subscribed"] = part.state.is_subscribed;
  if (!part.state.is_subscribed) return json;
  const ChunkExplanation& state = part.state;
  json["epoch"] = state.epoch.value;
  json["period_ticks"] = state.level.period_ticks();
  json["newest_version"] = tick_or_null(state.current);
  json["sent_version"] = tick_or_null(state.sent);
  json["sent_at_tick"] = tick_or_null(state.sent_at);
  json["acknowledged_version"] = tick_or_null(state.acknowledged);
  json["baseline"] = tick_or_null(state.baseline);
  json["in_flight"] = state.is_in_flight;
  json["waiting"] = state.is_waiting;
  json["age_ticks"] = state.age_ticks;
  json["urgency"] = state.urgency;
  json["overdue"] = state.is_overdue;
  json["next_due_tick"] = tick_or_null(state.next_due);
  return json;
}

}  // namespace

std::string players_json(const ServerStatus& status) {
  Json players = Json::array();
  for (const PlayerStatus& player : *status.players) {
    const SessionStatus& session = player.session;
    Json json;
    json["client"] = session.number.value;
    json["player"] = to_string(session.player);
    json["address"] = to_string(session.peer);
    json["entity"] = session.entity.is_null() ? Json(nullptr) : Json(text_of(session.entity));
    json["joined_seconds_ago"] = rounded(to_seconds(status.made - session.joined_at));
    json["rtt_ms"] = rounded(to_milliseconds(session.rtt));
    json["jitter_ms"] = rounded(to_milliseconds(session.jitter));
    json["loss_percent"] = rounded(player.loss * 100);
    json["sent_kbit_per_second"] = rounded(player.sent_bytes_per_second * 8 / 1000);
    json["received_kbit_per_second"] = rounded(player.received_bytes_per_second * 8 / 1000);
    json["path_kbit_per_second"] = rounded(static_cast<double>(session.may_send_bytes_per_second) * 8 / 1000);
    json["chunks"] = session.chunks;
    json["chunks_missing"] = session.chunks_missing;
    json["longest_wait_ticks"] = session.longest_wait_ticks;
    players.push_back(std::move(json));
  }
  return players.dump(kIndent) + "\n";
}

std::string explanation_json(PlayerNumber client, const EntityExplanation& explanation) {
  Json json;
  json["client"] = client.value;
  json["entity"] = text_of(explanation.entity);
  json["tick"] = explanation.tick.value;
  json["verdict"] = explanation.verdict;
  json["alive"] = explanation.is_alive;
  json["local"] = explanation.is_local;
  json["radius"] = explanation.radius;
  json["parts"] = Json::array();
  for (const AudienceExplanation& part : explanation.audiences) json["parts"].push_back(json_of(part));
  return json.dump(kIndent) + "\n";
}

}  // namespace shoal
