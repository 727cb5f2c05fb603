// "Did you mean …": the known word that is nearest to a mistyped one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

/// Edits (insert, delete, replace, swap of neighbours) that lead from one word to the other; case and the
/// difference between '-' and '_' count nothing. Optimal string alignment distance, O(|a| · |b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest of `known` when it is near enough to be meant (a third of its length), else an empty string.
/// The first one wins a tie.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace shoal
