// Players and explanations as JSON, nlohmann-json behind it in one file.
//
// Thread rule: from any thread.
#pragma once

#include <string>

#include "server/admin/status.hpp"
#include "server/explanation.hpp"

namespace shoal {

std::string players_json(const ServerStatus& status);
std::string explanation_json(PlayerNumber client, const EntityExplanation& explanation);

}  // namespace shoal
