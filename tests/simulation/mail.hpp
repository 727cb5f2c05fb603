// Random messages between the server and the clients of a simulation, on both channels: letters, questions with answers,
// events about any entity. Each side's books say what it sent and what came; what cannot be right is a failure, which the
// checker `messages` tells.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "client/client.hpp"
#include "server/game_messages.hpp"
#include "server/server.hpp"
#include "shared/base/random.hpp"

namespace shoal::simulation {

class Mail {
 public:
  explicit Mail(std::uint64_t seed) : random_(Random::keyed(seed, 0x3A11)), secret_(random_.next()) {}

  // ------------------------------------------------------------------------------------------ the server's side

  /// Before the handlers of a server that begins.
  void begin_server() { ++server_number_; }
  void set_server(const Server* server) { server_ = server; }
  void register_server(GameMessages& messages);
  void write_from_server(const Registry& registry, GameMessages& messages);

  // ----------------------------------------------------------------------------------------- the clients' side
  // A client by its number, its session by how many it has begun.

  /// `clock`: the client's own.
  void register_client(std::size_t number, Client& client, const Clock& clock);
  void begin_session(std::size_t number) { ++clients_[number].sessions; }
  void write_from_client(std::size_t number);

  const std::string& failure() const { return failure_; }
  /// Of all sessions that both sides still have: what was queued has come. Nothing new may be written meanwhile.
  bool is_delivered() const { return undelivered().empty(); }
  /// What is missing, in words; empty when nothing is.
  std::string undelivered() const;
  /// What holds at each moment of a client.
  void check_bounds(std::size_t number);
  std::uint64_t events_heard() const { return events_heard_; }
  std::uint64_t late_events() const { return late_events_; }

 private:
  // Of one end of a session.
  struct Books {
    std::array<std::uint32_t, kMessageChannels> written{};  // letters
    std::uint32_t events_written = 0;
    // What came; `writer` is known with the first letter.
    std::optional<std::uint64_t> writer;
    std::uint32_t next_ordered = 0;
    std::set<std::uint32_t> unordered;
    std::set<std::uint32_t> events;
    std::unordered_map<std::uint64_t, std::uint32_t> newest_event;  // ordered ones, by entity
  };
  struct Correspondent {
    Client* client = nullptr;
    const Clock* clock = nullptr;
    std::uint32_t sessions = 0;
    std::uint32_t questions = 0;
    std::set<std::uint32_t> open_questions;
  };

  std::uint64_t id_of(std::size_t client) const;
  std::uint64_t id_of(SessionId session) const;
  void take_letter(std::uint64_t reader, std::uint64_t writer, MessageChannel channel, std::uint32_t number);
  void take_news(std::size_t number, const EventInfo& event, MessageChannel channel, std::uint32_t news);
  bool shows_state_of(const Mirror& mirror, Entity entity, Tick tick) const;
  template <class Send>
  void write_letter(std::uint64_t writer, Send send);
  void write_event(const Registry& registry, GameMessages& messages);
  std::uint32_t any_length();
  MessageChannel any_channel() {
    return random_.chance(0.5) ? MessageChannel::Ordered : MessageChannel::Unordered;
  }
  void fail(std::string what) {
    if (failure_.empty()) failure_ = std::move(what);
  }

  Random random_;
  std::uint64_t secret_;
  const Server* server_ = nullptr;
  std::uint64_t server_number_ = 0;
  std::map<std::size_t, Correspondent> clients_;
  std::map<std::uint64_t, Books> books_;              // by session of a side
  std::map<std::uint64_t, std::uint64_t> reader_of_;  // by writer
  std::map<std::uint32_t, std::uint64_t> news_of_;    // server's number by news
  std::uint32_t news_ = 0;
  std::uint64_t events_heard_ = 0;
  std::uint64_t late_events_ = 0;
  std::string failure_;
};

}  // namespace shoal::simulation
