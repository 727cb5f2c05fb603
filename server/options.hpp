// The options of shoal-server: one table for file, environment, command line and help.
#pragma once

#include <cstdint>
#include <string>

#include "server/joining.hpp"
#include "server/server.hpp"
#include "shared/base/log.hpp"
#include "shared/config/option_table.hpp"

namespace shoal {

/// Whether the server is one of a fleet that Agones runs.
enum class FleetMode : std::uint8_t {
  Off,
  Agones,  // even if its side-car is not to be seen yet
  Auto,    // when the environment says where the side-car is
};

struct FleetOptions {
  FleetMode mode = FleetMode::Auto;
  bool allocate_on_join = false;
  Duration reserve{};
  std::string map{};
};

struct SaveOptions {
  std::string folder{};  // empty: the world is not saved
  Duration interval = seconds(60);
  std::uint32_t keep = 5;
};

struct ServerOptions {
  std::string bind = "0.0.0.0";
  std::uint16_t port = 7777;
  std::string port_file;
  ServerConfig server;
  JoiningOptions joining;
  FleetOptions fleet;
  SaveOptions saves;
  std::uint32_t entities = 5000;
  double client_budget_kbit = 2000;
  double join_budget_kbit = 50'000;
  std::uint64_t seed = 1;
  std::uint32_t threads = 1;  // 0: as many as the machine has processors
  bool print_schedule = false;
  bool health = false;
  Duration seconds{};
  Duration drain_time = kDefaultDrainTime;
  Duration watchdog_limit = kDefaultWatchdogLimit;
  Duration watchdog_abort{};
  std::string report;
  std::string admin = "127.0.0.1:7780";
  std::string admin_port_file;
  std::string admin_token_file;
  LogLevel log_level = LogLevel::Info;
  LogFormat log_format = LogFormat::Text;
};

/// Of an --admin without one.
inline constexpr std::uint16_t kDefaultAdminPort = 7780;

/// Budgets are said in kbit, and kept in bytes; both per second.
inline std::uint64_t bytes_of_kbit(double kbit) {
  return static_cast<std::uint64_t>(kbit * 1000 / 8);
}

/// `options` outlives the table. The identity file in them is the default.
OptionTable server_option_table(ServerOptions& options, std::uint32_t max_entities);

}  // namespace shoal
