#include "farm.hpp"

namespace farm {

void graze(Sheep& sheep) {
  if (sheep.wool < 10) ++sheep.wool;
}

}  // namespace farm
