// What a bot does with its player: one function per scenario, which looks at the mirror like any client and
// gives the next input. docs/scenarios.md describes each scenario for people.
//
// 1. It knows what its mirror shows and nothing else: not the rules' state, not the size of the world.
// 2. The same seed, the same mirror and the same calls give the same inputs.
// Threads: all calls from one thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "shared/base/random.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/game/input.hpp"
#include "shared/game/vector.hpp"

namespace shoal {

enum class Scenario : std::uint8_t {
  Wander,  // walks here and there, looks around, shoots now and then
  Crowd,   // all in one spot, the middle of the world
  Churn,   // wanders; the swarm lets it leave and come back
  Border,  // along and across the edges of the squares of interest
  Fight,   // hunts the nearest body of another team
};

/// Each scenario by its word: for options and files.
inline constexpr std::array<std::pair<std::string_view, Scenario>, 5> kScenarios{{
    {"wander", Scenario::Wander},
    {"crowd", Scenario::Crowd},
    {"churn", Scenario::Churn},
    {"border", Scenario::Border},
    {"fight", Scenario::Fight},
}};
std::string_view to_string(Scenario scenario);
std::optional<Scenario> scenario_of(std::string_view word);

/// Metres: the side of a square of interest unless the server was told otherwise.
inline constexpr float kDefaultSquareSize = 32;

class Behaviour {
 public:
  /// `square_size` in metres is the server's. REQUIRES: square_size > 0.
  Behaviour(Scenario scenario, std::uint64_t seed, float square_size = kDefaultSquareSize);

  Scenario scenario() const { return scenario_; }
  void set_scenario(Scenario scenario);

  /// The input for the next tick, from what the client sees: its mirror and the entity that it steers. Before the
  /// mirror shows that entity (`mirror` null, `controlled` null or not there) every scenario wanders.
  demo::PlayerInput next(const Registry* mirror = nullptr, Entity controlled = kNullEntity);

 private:
  using Vector2 = demo::Vector2;

  void wander();
  void crowd(Vector2 here);
  void border(Vector2 here);
  void fight(const Registry& mirror, Entity self, Vector2 here);
  /// Walks to `goal_`, slower for the last step. False when it is there or the time for it is over.
  bool walk_to_goal(Vector2 here);
  void set_goal(Vector2 goal, std::uint32_t most_ticks);
  void choose_edge(Vector2 here);

  Scenario scenario_;
  Random random_;
  float square_size_;
  demo::PlayerInput current_{};
  std::uint32_t ticks_left_ = 0;
  Vector2 goal_{};

  // Border: the edge is the line x = edge_, or y = edge_, and the player goes along the other coordinate.
  struct Edge {
    bool is_x = true;
    float at = 0;          // metres
    float forward = 1;     // 1 or -1: which way along
    float side = 1;        // 1 or -1: on which side of the line the goal is
    int corner_steps = 0;  // goals that are left around a corner
    Vector2 corner{};
  };
  std::optional<Edge> edge_;

  // Fight.
  Entity target_{};
  float circling_ = 1;  // 1 or -1: which way around the target
};

}  // namespace shoal
