// Server::explain, apart from the rest of the server: it only reads.
#include <algorithm>

#include "server/explanation.hpp"
#include "server/server.hpp"
#include "shared/ecs/local.hpp"

namespace shoal {
namespace {

std::string_view verdict_of(const ChunkExplanation& state) {
  if (!state.is_waiting && state.acknowledged == state.current) return "the client has the newest state";
  if (!state.is_waiting) return "the newest state is under way";
  if (state.is_overdue) return "a newer state is overdue: it finds no room in the client's budget";
  if (!state.baseline && state.sent) return "the first state is under way, and is waited for";
  if (!state.baseline) return "the first state waits for the budget of full states";
  return "a newer state waits until the chunk is due";
}

std::string_view why_unseen(const SquareKey& square, const Viewer& viewer) {
  switch (square.kind) {
    case SquareKind::Always:
      return "not sent: the client has not been looked at since it joined";
    case SquareKind::Cell:
      return "not sent: out of interest, its square is further away than the radius";
    case SquareKind::Team:
      return viewer.team ? "not sent: it is of another team"
                         : "not sent: it is of a team, and the player of none";
    case SquareKind::Owner:
      return "not sent: it is for its owner, which is another player";
  }
  return {};
}

}  // namespace

std::optional<EntityExplanation> Server::explain(PlayerNumber number, std::uint32_t index,
                                                 std::optional<std::uint32_t> generation) const {
  const Session* session = find(session_of(number));
  if (session == nullptr) return std::nullopt;
  EntityExplanation result;
  result.tick = tick_;
  result.radius = config_.interest.radius;
  result.entity = generation ? Entity{index, *generation} : registry_.entity_at(index);
  if (result.entity.is_null()) result.entity.index = index;
  result.is_alive = registry_.alive(result.entity);
  if (!result.is_alive) {
    result.verdict = "not sent: no such entity is alive";
    return result;
  }
  result.is_local = registry_.all_of<Local>(result.entity);
  if (result.is_local) {
    result.verdict = "not sent: it is marked Local, which is never replicated";
    return result;
  }
  const Viewer viewer = viewer_of(*session);
  for (unsigned i = 0; i < kAudiences; ++i) {
    const auto audience = static_cast<Audience>(i);
    const ChangeTracker::Binding binding = tracker_->binding(result.entity, audience);
    if (!binding.is_bound()) continue;
    AudienceExplanation& part = result.audiences.emplace_back();
    part.audience = audience;
    part.is_bound = true;
    part.chunk = chunks_[binding.chunk].id();
    part.slot = binding.slot;
    part.square = chunks_.square_of(binding.chunk);
    if (part.square.kind == SquareKind::Cell)
      part.distance =
          distance_to_cell(session->view->interest().centre(), part.square, config_.interest.square_size);
    part.state = session->view->explain(part.chunk, tick_);
    part.verdict = part.state.is_subscribed ? verdict_of(part.state) : why_unseen(part.square, viewer);
  }
  if (result.audiences.empty()) {
    result.verdict =
        "not sent: it was born in this tick, or has only components for a team or an owner that it has not";
    return result;
  }
  const auto sent = std::find_if(result.audiences.begin(), result.audiences.end(),
                                 [](const auto& part) { return part.state.is_subscribed; });
  result.verdict = sent != result.audiences.end() ? sent->verdict : result.audiences.front().verdict;
  return result;
}

}  // namespace shoal
