#include "server/fleet/agones_json.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "shared/config/option.hpp"

namespace shoal {
namespace {

using Json = nlohmann::json;

// An empty object when it is not there or is none: all the rest is then missing, too.
const Json& object_at(const Json& parent, const char* name) {
  static const Json kNone = Json::object();
  const auto found = parent.find(name);
  return found != parent.end() && found->is_object() ? *found : kNone;
}

std::string text_at(const Json& parent, const char* name) {
  const auto found = parent.find(name);
  return found != parent.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t integer_at(const Json& parent, const char* name, std::int64_t otherwise) {
  const auto found = parent.find(name);
  if (found == parent.end()) return otherwise;
  if (found->is_number_integer()) return found->get<std::int64_t>();
  const auto parsed = parse_signed(text_at(parent, name), {INT64_MIN, INT64_MAX});
  return parsed ? *parsed : otherwise;
}

}  // namespace

Result<GameServer, std::string> read_game_server(std::string_view json) {
  const Json root = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return Failure{std::string("it is no JSON object")};
  const Json& meta = object_at(root, "object_meta");
  const Json& health = object_at(object_at(root, "spec"), "health");
  GameServer result;
  result.name = text_at(meta, "name");
  result.state = text_at(object_at(root, "status"), "state");
  if (result.state.empty()) return Failure{std::string("it has no status.state")};
  result.is_being_deleted = integer_at(meta, "deletion_timestamp", 0) != 0;
  const auto disabled = health.find("disabled");
  result.wants_health = disabled == health.end() || *disabled != true;
  const std::int64_t period = integer_at(health, "period_seconds", 0);
  if (period > 0 && period <= 3600) result.health_period = seconds(period);
  return result;
}

std::string read_error(std::string_view body) {
  const Json root = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  const std::string message = root.is_object() ? text_at(root, "message") : std::string();
  return in_quotes(message.empty() ? body : message);
}

std::string key_value_body(std::string_view key, std::string_view value) {
  return Json{{"key", key}, {"value", value}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string reserve_body(Duration time) {
  return fmt::format(R"({{"seconds":"{}"}})", std::chrono::ceil<seconds>(time).count());
}

std::string counter_body(std::uint32_t count, std::uint32_t capacity) {
  return fmt::format(R"({{"count":"{}","capacity":"{}"}})", count, capacity);
}

}  // namespace shoal
