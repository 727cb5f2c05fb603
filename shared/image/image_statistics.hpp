// What an image holds, as text for people, without the game that made it. JSON of all of it: json_of_image
// (shared/image/json.hpp). The text may change from version to version.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "shared/image/image.hpp"

namespace shoal {

/// A table with a line per component and a last line for the whole, and the sections with their sizes.
Result<std::string, ImageError> image_statistics(std::span<const std::byte> image);

}  // namespace shoal
