#include "shared/config/process.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>

namespace shoal {
namespace {

std::atomic<int> stop_signal_count{0};
std::atomic<int> terminate_signal_count{0};
std::atomic<bool> reload_is_asked{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

void count_stop_signal(int signal_number) {
  // First: who sees the signal in the sum knows which one it was.
  if (signal_number == SIGTERM) terminate_signal_count.fetch_add(1);
  if (stop_signal_count.fetch_add(1) >= 2) _exit(128 + signal_number);
}

void ask_for_reload(int) {
  reload_is_asked.store(true);
}

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = count_stop_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int stop_signals() {
  return stop_signal_count.load();
}

int terminate_signals() {
  return terminate_signal_count.load();
}

void ignore_broken_pipes() {
  std::signal(SIGPIPE, SIG_IGN);
}

void catch_reload_signal() {
  struct sigaction action {};
  action.sa_handler = ask_for_reload;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGHUP, &action, nullptr);
}

bool take_reload_request() {
  return reload_is_asked.exchange(false);
}

void ignore_file_size_signal() {
  std::signal(SIGXFSZ, SIG_IGN);
}

std::uint64_t rss_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long total = 0;
  unsigned long resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &total, &resident);
  std::fclose(file);
  return read == 2 ? std::uint64_t{resident} * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace shoal
