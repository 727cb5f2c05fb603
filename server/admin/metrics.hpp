// A status as metrics in Prometheus' text form. Which there are and what each means: docs/operations.md, which a test
// compares with this.
//
// Thread rule: from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "server/admin/status.hpp"
#include "shared/base/time.hpp"

namespace shoal {

/// What is asked of the system, or counted by the admin port itself, at the moment of the scrape.
struct ScrapeMoment {
  Duration cpu_time{};
  std::uint64_t rss_bytes = 0;
  std::uint64_t peak_rss_bytes = 0;
  Duration since_last_tick{};
  bool is_ready = false;
  std::map<int, std::uint64_t> admin_replies;  // by HTTP status
  std::uint64_t admin_token_failures = 0;
};

std::string metrics_text(const ServerStatus& status, const ScrapeMoment& moment);

}  // namespace shoal
