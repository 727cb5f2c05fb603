// Saves the world of a running server every so often and at the end. The tick's thread copies the world (copy_world), a
// thread of its own makes the image of the copy and writes it (SaveStore).
//
// 1. The tick waits for nothing but the copy, except at the end: there the last save is waited for.
// 2. One save at a time. One that is due while another is being written waits for it, and is counted.
// 3. A save that fails changes nothing in the world or in the folder; the next one tries again.
//
// Thread rule: the tick's thread; status() any.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "server/game.hpp"
#include "server/saves/open_saves.hpp"
#include "server/server.hpp"
#include "server/service/service.hpp"

namespace shoal {

struct SaveStatus {
  Time began{};             // when there was a saver
  std::uint64_t saves = 0;  // that are there for good
  std::uint64_t failures = 0;
  std::uint64_t late = 0;   // waited for the one before
  std::uint64_t bytes = 0;  // of all saves
  std::uint64_t last_bytes = 0;
  Duration last_copy{};          // on the tick's thread
  Duration last_write{};         // image and file, beside the tick
  std::optional<Time> newest{};  // when the world looked like the newest one; none: nothing was saved yet
  Tick newest_tick{};
  bool is_writing = false;
  std::string last_failure;  // of the newest save that was tried; empty: it is there
};

class WorldSaver final : public ServicePart {
 public:
  /// Zero interval: at the end only. References outlive this; the clock is read by two threads.
  WorldSaver(const Server& server, Game& game, Saves& saves, const Clock& clock, Duration interval);
  /// Waits for the save that is being written.
  ~WorldSaver() override;

  const char* name() const override { return "saves"; }
  void after_tick(const TickMoment& moment) override;
  /// The world is saved at once when it drains or is frozen, since what follows may be ended hard; in the end the save is
  /// waited for.
  void on_phase(ServicePhase phase) override;

  SaveStatus status() const;

 private:
  bool is_writing() const;
  std::uint64_t count_late();
  void begin_save();
  void wait();
  void run();
  void write();
  void take_outcome(const Result<SaveStore::Saved, std::string>& outcome, std::size_t bytes, Duration took);
  void tell_failure(const std::string& why);

  const Server& server_;
  Game& game_;
  Saves& saves_;
  const Clock& clock_;
  const Duration interval_;
  // Of the tick's thread.
  std::optional<Time> due_;
  bool waits_ = false;  // what is due, for what is being written
  std::optional<Tick> frozen_tick_;
  // Whose they are says status_.is_writing: then the writer's, else the tick's.
  std::vector<ImageSection> sections_;
  Tick tick_{};
  Time copied_at_{};
  // Of the writer.
  std::string said_;  // the failure that the log has
  Time said_at_{};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  SaveStatus status_;
  bool ends_ = false;
  std::thread writer_;
};

}  // namespace shoal
