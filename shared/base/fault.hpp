// Faults on purpose, for tests only: a build with SHOAL_ENABLE_FAULTS can break the code at named places, so
// that each test and checker is seen to fail. In every other build `fault` is false at compile time.
#pragma once

#include <string_view>

namespace shoal {

#ifdef SHOAL_ENABLE_FAULTS
/// True when the fault of this name is on: by SHOAL_FAULT=name in the environment (several with commas) or by
/// set_faults. Names are kebab-case and listed in docs/faults.md.
bool fault(std::string_view name);
/// Faults beside those of the environment, in place of those of the call before: a test that breaks the code on
/// purpose, or ends doing so, does not mend what scripts/mutations broke. Not while other threads run.
void set_faults(std::string_view comma_separated_names);
#else
constexpr bool fault(std::string_view) {
  return false;
}
#endif

}  // namespace shoal
