#include "shared/base/fault.hpp"

#ifdef SHOAL_ENABLE_FAULTS
#include <cstdlib>
#include <string>

namespace shoal {
namespace {

std::string& active_faults() {
  static std::string names = [] {
    const char* value = std::getenv("SHOAL_FAULT");
    return std::string(value ? value : "");
  }();
  return names;
}

}  // namespace

bool fault(std::string_view name) {
  std::string_view rest = active_faults();
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    if (rest.substr(0, comma) == name) return true;
    if (comma == std::string_view::npos) return false;
    rest.remove_prefix(comma + 1);
  }
  return false;
}

void set_faults(std::string_view comma_separated_names) {
  active_faults() = comma_separated_names;
}

}  // namespace shoal
#endif
