// From the schema's names to C++ names, and which of them C++ would not take.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shoal::schemac {

/// "shoal.demo.Health" → {"shoal", "demo", "Health"}.
std::vector<std::string> split_name(std::string_view full_name);
/// "shoal.demo.Health" → "shoal.demo"; empty without a namespace.
std::string namespace_of(std::string_view full_name);
/// "shoal.demo.Health" → "Health".
std::string last_part(std::string_view full_name);
/// "shoal.demo.Health" → "shoal::demo::Health".
std::string cpp_name(std::string_view full_name);

/// Why C++ would not take this identifier; empty when it does.
std::string name_fault(std::string_view identifier);

}  // namespace shoal::schemac
