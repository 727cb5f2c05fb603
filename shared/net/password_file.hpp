// A password in the first line of a file: on a command line everybody on the machine could read it.
#pragma once

#include <string>

#include "shared/base/result.hpp"

namespace shoal {

struct FilePassword {
  std::string password;  // 1 to kMaxCredentialBytes bytes, without the end of the line
  /// Others than the owner may read the file. No fault by itself: containers mount secrets so.
  bool others_may_read = false;
};

/// The file may be a pipe, as of a password manager. The error says what is wrong and what to do; it never quotes.
Result<FilePassword, std::string> read_password_file(const std::string& path);

}  // namespace shoal
