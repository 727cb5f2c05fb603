#include "shared/base/time.hpp"

#include <ctime>

namespace shoal {
namespace {

Duration read_clock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return seconds(now.tv_sec) + Duration(now.tv_nsec);
}

}  // namespace

std::int64_t SystemWallClock::unix_seconds() const {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<seconds>(since).count();
}

std::string rfc3339(std::int64_t unix_seconds) {
  const std::time_t moment = unix_seconds;
  std::tm parts{};
  gmtime_r(&moment, &parts);
  char text[sizeof("-2147483648-01-01T00:00:00Z")];
  return std::string(text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts));
}

Time SteadyClock::now() const {
  return {read_clock(CLOCK_MONOTONIC)};
}

Duration process_cpu_time() {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace shoal
