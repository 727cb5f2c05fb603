// The rules of the farm.
#pragma once

#include "schemas/farm.hpp"

namespace farm {

/// One bite of grass: wool grows up to 10.
void graze(Sheep& sheep);

}  // namespace farm
