// The admin port: what operators and their machines read of a running server, and what they may tell it.
//
// 1. Reading is free for whoever reaches the address; telling needs the token, and a server without one takes no
//    commands.
// 2. Nothing that a client of this port does or leaves undone makes the tick wait: readers read the board, commands wait in
//    a queue that the tick empties when it has time.
// Threads: between_ticks() and the constructor on the tick's thread; requests are answered on threads of their own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/admin/admin_token.hpp"
#include "server/admin/http_server.hpp"
#include "server/admin/status_board.hpp"
#include "server/admin/tick_queue.hpp"
#include "server/explanation.hpp"
#include "server/game_messages.hpp"
#include "shared/base/log.hpp"
#include "shared/net/address_range.hpp"
#include "shared/net/player_id.hpp"

namespace shoal {

/// What the program does when it is told to; called on the tick's thread. What is empty is answered with 501.
struct AdminActions {
  /// False: nobody has that number.
  std::function<bool(PlayerNumber)> kick;
  std::function<void(const AddressRange&)> ban_address;
  std::function<void(const PlayerId&)> ban_player;
  std::function<void(std::string_view)> announce;
  std::function<void()> drain;
  std::function<void(LogLevel)> set_log_level;
  /// As Server::explain.
  std::function<std::optional<EntityExplanation>(PlayerNumber, std::uint32_t, std::optional<std::uint32_t>)>
      explain;
};

struct AdminConfig {
  Endpoint address;
  std::optional<AdminTokenHash> token;
  /// Longer without a tick than so many periods, and than kLeastPatience, is not alive.
  std::uint32_t patience_periods = 10;
  Duration period = milliseconds(33);
};
inline constexpr Duration kLeastPatience = seconds(1);

class AdminPort {
 public:
  /// References outlive the port.
  static Result<std::unique_ptr<AdminPort>, HttpServer::Error> open(const AdminConfig& config,
                                                                    const StatusBoard& board,
                                                                    const Clock& clock, AdminActions actions);
  ~AdminPort();

  /// Does what waits.
  void between_ticks() { queue_.drain(kCommandsPerPause); }
  const Endpoint& local() const { return http_->local(); }

  /// For tests: as if it had come over the network.
  HttpReply answer(const HttpRequest& request);

 private:
  static constexpr std::size_t kCommandsPerPause = 4;

  AdminPort(const AdminConfig& config, const StatusBoard& board, const Clock& clock, AdminActions actions);

  using Page = HttpReply (AdminPort::*)(const HttpRequest&);
  struct Route {
    std::string_view path;
    bool is_command;
    std::string_view what;
    Page page;
  };
  static std::span<const Route> routes();

  HttpReply route(const HttpRequest& request);
  /// None: the request may give commands.
  std::optional<HttpReply> why_not(const HttpRequest& request);
  HttpReply on_tick(TickQueue::Work work);
  bool is_tick_alive() const;

  HttpReply index(const HttpRequest& request);
  HttpReply metrics(const HttpRequest& request);
  HttpReply healthz(const HttpRequest& request);
  HttpReply readyz(const HttpRequest& request);
  HttpReply stats(const HttpRequest& request);
  HttpReply players(const HttpRequest& request);
  HttpReply why(const HttpRequest& request);
  HttpReply kick(const HttpRequest& request);
  HttpReply ban(const HttpRequest& request);
  HttpReply announce(const HttpRequest& request);
  HttpReply drain(const HttpRequest& request);
  HttpReply set_level(const HttpRequest& request);

  AdminConfig config_;
  const StatusBoard& board_;
  const Clock& clock_;
  AdminActions actions_;
  std::optional<AdminGuard> guard_;
  TickQueue queue_;
  std::mutex replies_mutex_;
  std::map<int, std::uint64_t> replies_;  // by status
  std::unique_ptr<HttpServer> http_;      // last: its threads use the others
};

}  // namespace shoal
