#include "client/bots/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "shared/base/assert.hpp"
#include "shared/config/nearest.hpp"
#include "shared/config/option.hpp"
#include "shared/config/toml_document.hpp"

namespace shoal {
namespace {

constexpr double kMaxStageSeconds = 1e6;
constexpr std::string_view kForm =
    "write [[stage]], with seconds = 20, bots = 50 and mix = { wander = 1 } below it";

std::vector<std::string> scenario_words() {
  std::vector<std::string> words;
  for (const auto& [word, scenario] : kScenarios) words.emplace_back(word);
  return words;
}

std::string meant(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? std::string() : fmt::format("; did you mean {}?", near);
}

std::optional<double> number_of(const TomlValue& value) {
  if (const auto* whole = value.get_if<std::int64_t>()) return static_cast<double>(*whole);
  if (const auto* number = value.get_if<double>(); number != nullptr && std::isfinite(*number))
    return *number;
  return std::nullopt;
}

class StagesReader {
 public:
  explicit StagesReader(const std::string& path) : path_(path) {}

  Result<Stages, std::string> read(const TomlTable& root) {
    const TomlEntry* stages = nullptr;
    for (const auto& entry : root) {
      if (entry.key == "stage") {
        stages = &entry;
      } else {
        complain(entry.place,
                 fmt::format("unknown key {}{}; {}", entry.key, meant(entry.key, {"stage"}), kForm));
      }
    }
    const auto* tables = stages != nullptr ? stages->value.get_if<TomlArray>() : nullptr;
    if (stages != nullptr && tables == nullptr) {
      complain(stages->place, fmt::format("stage: expected a list of tables, found {}; {}",
                                          stages->value.describe(), kForm));
    } else if (tables == nullptr || tables->empty()) {
      if (complaints_.empty()) complain({1, 1}, fmt::format("there is no stage; {}", kForm));
    } else {
      for (const auto& table : *tables) read_stage(table, &table == &tables->back());
      const bool nobody = std::all_of(result_.begin(), result_.end(), [](auto& s) { return s.bots == 0; });
      if (complaints_.empty() && nobody)
        complain(stages->place, "no stage has a bot; give at least one of them bots = 1 or more");
    }
    if (complaints_.empty()) return Stages(std::move(result_));
    return Failure{fmt::format("{}", fmt::join(complaints_, "\n"))};
  }

 private:
  void read_stage(const TomlValue& value, bool is_last) {
    const auto* table = value.get_if<TomlTable>();
    if (table == nullptr) {
      complain(value.place, fmt::format("stage: expected a table, found {}; {}", value.describe(), kForm));
      return;
    }
    Stage stage;
    std::optional<std::uint32_t> bots;
    const std::size_t complaints_before = complaints_.size();
    for (const auto& [key, place, entry] : *table) {
      if (key == "seconds") {
        read_seconds(entry, stage);
      } else if (key == "bots") {
        bots = read_bots(entry);
      } else if (key == "mix") {
        read_mix(entry, stage);
      } else {
        complain(place, fmt::format("unknown key {}{}; a stage has seconds, bots and mix", key,
                                    meant(key, {"seconds", "bots", "mix"})));
      }
    }
    if (complaints_.size() == complaints_before) complete(value.place, stage, bots, is_last);
    result_.push_back(std::move(stage));
  }

  // What a stage does not say is as before.
  void complete(TomlPlace place, Stage& stage, std::optional<std::uint32_t> bots, bool is_last) {
    if (stage.length.count() == 0 && !is_last)
      complain(place, "seconds is missing or 0; only the last stage may go on without an end");
    if (!bots && result_.empty()) complain(place, "bots is missing; the first stage says how many there are");
    stage.bots = bots.value_or(result_.empty() ? 0 : result_.back().bots);
    if (!stage.mix.empty()) return;
    if (result_.empty()) {
      stage.mix = {{Scenario::Wander, 1.0}};
    } else {
      stage.mix = result_.back().mix;
    }
  }

  void read_seconds(const TomlValue& value, Stage& stage) {
    const auto number = number_of(value);
    if (!number || *number < 0 || *number > kMaxStageSeconds) {
      complain(value.place, fmt::format("seconds: expected a number from 0 to {}, found {}",
                                        to_text(kMaxStageSeconds), value.describe()));
      return;
    }
    stage.length = duration_from_seconds(*number);
  }

  std::optional<std::uint32_t> read_bots(const TomlValue& value) {
    const auto* whole = value.get_if<std::int64_t>();
    if (whole == nullptr || *whole < 0 || *whole > kMaxBots) {
      complain(value.place, fmt::format("bots: expected a whole number from 0 to {}, found {}", kMaxBots,
                                        value.describe()));
      return std::nullopt;
    }
    return static_cast<std::uint32_t>(*whole);
  }

  void read_mix(const TomlValue& value, Stage& stage) {
    const auto* table = value.get_if<TomlTable>();
    if (table == nullptr) {
      complain(value.place, fmt::format("mix: expected a table such as {{ crowd = 3, fight = 1 }}, found {}",
                                        value.describe()));
      return;
    }
    for (const auto& [word, place, share] : *table) {
      const auto scenario = scenario_of(word);
      const auto number = number_of(share);
      if (!scenario) {
        complain(place, fmt::format("unknown scenario {}{}; there are {}", word,
                                    meant(word, scenario_words()), join_words(scenario_words())));
      } else if (!number || *number <= 0) {
        complain(share.place,
                 fmt::format("mix.{}: expected a number above 0, found {}; leave out what nobody shall do",
                             word, share.describe()));
      } else {
        stage.mix.emplace_back(*scenario, *number);
      }
    }
    if (table->empty())
      complain(value.place, "mix is empty; name a scenario, or leave mix out to go on as before");
  }

  void complain(TomlPlace place, std::string_view what) {
    complaints_.push_back(fmt::format("{}: {}", place_text(path_, place), what));
  }

  const std::string& path_;
  std::vector<Stage> result_;
  std::vector<std::string> complaints_;
};

}  // namespace

std::uint32_t Stages::most_bots() const {
  std::uint32_t most = 0;
  for (const auto& stage : stages_) most = std::max(most, stage.bots);
  return most;
}

Duration Stages::length() const {
  if (stages_.empty() || stages_.back().length.count() == 0) return {};
  Duration sum{};
  for (const auto& stage : stages_) sum += stage.length;
  return sum;
}

Stages::Moment Stages::at(Duration elapsed) const {
  SHOAL_ASSERT(!stages_.empty(), "without a stage there is no moment");
  std::uint32_t before = 0;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    if (elapsed < stage.length) {
      const double part = to_seconds(elapsed) / to_seconds(stage.length);
      const double bots = before + (static_cast<double>(stage.bots) - before) * part;
      return {i, static_cast<std::uint32_t>(stage.bots > before ? std::ceil(bots) : std::floor(bots))};
    }
    elapsed -= stage.length;
    before = stage.bots;
  }
  return {stages_.size() - 1, before};
}

std::vector<Scenario> deal(const std::vector<std::pair<Scenario, double>>& mix, std::uint32_t bots) {
  double total = 0;
  for (const auto& [scenario, share] : mix) total += share;
  std::vector<std::uint32_t> dealt(mix.size());
  std::vector<Scenario> result;
  result.reserve(bots);
  while (result.size() < bots) {
    // To whom most is owed; the first one wins a tie.
    std::size_t next = 0;
    double most_owed = -1;
    for (std::size_t i = 0; i < mix.size(); ++i) {
      const double owed = mix[i].second / total * static_cast<double>(result.size() + 1) - dealt[i];
      if (owed <= most_owed) continue;
      most_owed = owed;
      next = i;
    }
    ++dealt[next];
    result.push_back(mix[next].first);
  }
  return result;
}

Result<Stages, std::string> read_stages(std::string_view text, const std::string& path) {
  const auto document = parse_toml(text, path);
  if (!document.ok()) return Failure{document.error()};
  return StagesReader(path).read(*document);
}

}  // namespace shoal
