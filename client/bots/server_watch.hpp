// What the server says of itself while the bots play: its admin port, asked once a second over HTTP.
//
// 1. The swarm never waits for it: questions are asked on a thread of its own.
// 2. An answer that is none (no HTTP, no JSON, fields missing) is an error with its reason, and changes nothing of the
//    newest reading.
// Threads: ask() from one thread at a time, latest() from any.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "shared/base/result.hpp"
#include "shared/base/time.hpp"

namespace shoal {

inline constexpr std::uint16_t kDefaultAdminPort = 7780;

/// Of /stats.json: since the server's start, where nothing else is said.
struct ServerReading {
  double tick_rate_hz = 0;
  double recent_tick_p50_ms = 0;  // of the newest ticks
  double recent_tick_p99_ms = 0;
  double tick_p50_ms = 0;
  double tick_p99_ms = 0;
  double tick_max_ms = 0;
  std::uint64_t overruns = 0;
  Time at{};  // when it was asked for
};

/// "HOST:PORT", "HOST" or a URL as the URL of the admin port without a path; the error says what is wrong with it.
Result<std::string, std::string> admin_url(std::string_view text);

/// The numbers in the text of /stats.json, `at` left out.
Result<ServerReading, std::string> read_stats(const std::string& text);

class ServerWatch {
 public:
  /// `url` is of admin_url. `clock` is safe from several threads and outlives the watch.
  ServerWatch(std::string url, const Clock& clock) : url_(std::move(url)), clock_(clock) {}
  ~ServerWatch();
  ServerWatch(const ServerWatch&) = delete;
  ServerWatch& operator=(const ServerWatch&) = delete;

  /// Asks now and waits for the answer, for at most about two seconds.
  Result<ServerReading, std::string> ask();
  /// From now on it is asked once a second.
  void start();
  /// The newest answer; none before the first.
  std::optional<ServerReading> latest() const;
  const std::string& url() const { return url_; }

 private:
  void run();

  std::string url_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<ServerReading> latest_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace shoal
