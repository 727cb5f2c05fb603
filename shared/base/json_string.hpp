// Text from anywhere as a JSON string: for reports and for the log.
#pragma once

#include <string>
#include <string_view>

namespace shoal {

/// Appends `value` with its quotes. Any bytes: each byte that is not part of UTF-8 becomes U+FFFD, what steers a
/// terminal (Character::Kind::Steering) is escaped, so the result is always one valid string on one line.
void append_json_string(std::string& text, std::string_view value);

}  // namespace shoal
