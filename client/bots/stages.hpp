// The stages of a run: how many bots play, from when to when, and what they do. Read from a TOML file;
// docs/scenarios.md describes it for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/bots/behaviour.hpp"
#include "shared/base/result.hpp"
#include "shared/base/time.hpp"

namespace shoal {

inline constexpr std::uint32_t kMaxBots = 4096;

struct Stage {
  /// Zero: this stage has no end. Only the last one may.
  Duration length{};
  /// At the end of the stage; from the number before, it goes there evenly. A stage without an end has them at once.
  std::uint32_t bots = 0;
  /// Each scenario with its share, above 0. Not empty.
  std::vector<std::pair<Scenario, double>> mix;
};

class Stages {
 public:
  /// None: there are no stages.
  Stages() = default;
  /// REQUIRES: what read_stages checks.
  explicit Stages(std::vector<Stage> stages) : stages_(std::move(stages)) {}

  bool empty() const { return stages_.empty(); }
  const std::vector<Stage>& all() const { return stages_; }
  /// The most bots that any stage has.
  std::uint32_t most_bots() const;
  /// Of all stages together; zero when the last one has no end.
  Duration length() const;

  struct Moment {
    std::size_t stage = 0;
    std::uint32_t bots = 0;  // rounded up on the way up, down on the way down
  };
  /// What holds this long after the start. After the last stage its end holds. REQUIRES: not empty.
  Moment at(Duration elapsed) const;

 private:
  std::vector<Stage> stages_;
};

/// The scenario of each bot by its number, such that the first n bots, for each n, come as near to the shares as whole
/// bots can. REQUIRES: `mix` is not empty, its shares are above 0.
std::vector<Scenario> deal(const std::vector<std::pair<Scenario, double>>& mix, std::uint32_t bots);

/// `path` is for the error, which has one complaint a line: file, line, column, what is wrong, what is allowed.
Result<Stages, std::string> read_stages(std::string_view text, const std::string& path);

}  // namespace shoal
