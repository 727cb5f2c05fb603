#include "shared/base/fault.hpp"

#ifdef SHOAL_ENABLE_FAULTS
#include <cstdlib>
#include <string>

namespace shoal {
namespace {

const std::string& faults_of_the_environment() {
  static const std::string names = [] {
    const char* value = std::getenv("SHOAL_FAULT");
    return std::string(value ? value : "");
  }();
  return names;
}

std::string& faults_set() {
  static std::string names;
  return names;
}

bool names_it(std::string_view comma_separated, std::string_view name) {
  while (!comma_separated.empty()) {
    const auto comma = comma_separated.find(',');
    if (comma_separated.substr(0, comma) == name) return true;
    if (comma == std::string_view::npos) return false;
    comma_separated.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

bool fault(std::string_view name) {
  return names_it(faults_of_the_environment(), name) || names_it(faults_set(), name);
}

void set_faults(std::string_view comma_separated_names) {
  faults_set() = comma_separated_names;
}

}  // namespace shoal
#endif
