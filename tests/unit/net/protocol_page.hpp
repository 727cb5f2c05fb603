// docs/protocol.md as the tests read it.
#pragma once

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace shoal {

inline std::string document() {
  const std::string here = __FILE__;
  const std::string root = here.substr(0, here.rfind("tests/unit/net/"));
  std::ifstream file(root + "docs/protocol.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The bytes between "```hex <name>" and "```".
inline std::vector<std::byte> example(const std::string& name) {
  const std::string text = document();
  const std::string fence = "```hex " + name + "\n";
  const std::size_t start = text.find(fence);
  if (start == std::string::npos) return {};
  const std::size_t first = start + fence.size();
  std::istringstream digits(text.substr(first, text.find("```", first) - first));
  std::vector<std::byte> bytes;
  for (unsigned value = 0; digits >> std::hex >> value;) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

}  // namespace shoal
