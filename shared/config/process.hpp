// What the mains of shoal ask of the operating system beside options: to be told when to stop and when to read
// their files again, and how much memory the process used. Not for libraries.
#pragma once

#include <cstdint>

namespace shoal {

/// From now on SIGINT and SIGTERM are counted instead of ending the process. A third one ends it at once, for
/// someone whose patience is over.
void catch_stop_signals();
/// How many came so far, of both.
int stop_signals();
/// How many of them were SIGTERM.
int terminate_signals();

/// From now on writing to a connection that its other end has closed gives an error instead of ending the process.
void ignore_broken_pipes();

/// From now on SIGHUP asks to read files again instead of ending the process.
void catch_reload_signal();
/// Whether it came since the last call.
bool take_reload_request();

/// From now on a file that becomes larger than the limit (ulimit -f) gives an error instead of ending the process.
void ignore_file_size_signal();

/// Resident now; 0 where the system does not tell. Reads a file of the kernel.
std::uint64_t rss_bytes();
std::uint64_t peak_rss_bytes();

}  // namespace shoal
