#include "server/saves/world_saver.hpp"

#include "shared/base/log.hpp"
#include "shared/ecs/world_copy.hpp"

namespace shoal {
namespace {

/// Saves that follow each other faster are told to who asks for them (--log-level debug).
constexpr Duration kTalkative = seconds(10);
/// A failure that goes on is told again after this long.
constexpr Duration kReminder = seconds(60);

}  // namespace

WorldSaver::WorldSaver(const Server& server, Game& game, Saves& saves, const Clock& clock, Duration interval)
    : server_(server), game_(game), saves_(saves), clock_(clock), interval_(interval) {
  // The twin's memory comes now, not in the tick of the first save.
  copy_world(server.registry(), *saves.twin);
  status_.began = clock.now();
  writer_ = std::thread([this] { run(); });
}

WorldSaver::~WorldSaver() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  writer_.join();
}

SaveStatus WorldSaver::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

bool WorldSaver::is_writing() const {
  const std::lock_guard lock(mutex_);
  return status_.is_writing;
}

std::uint64_t WorldSaver::count_late() {
  const std::lock_guard lock(mutex_);
  return ++status_.late;
}

void WorldSaver::after_tick(const TickMoment& moment) {
  if (interval_.count() == 0 || server_.is_frozen()) return;
  if (!due_) due_ = moment.began + interval_;
  if (moment.began < *due_) return;
  if (is_writing()) {
    if (waits_) return;
    waits_ = true;
    if (count_late() == 1) {
      log_warn(
          "a save is due while the one before is still being written: it waits; the disk is slower than "
          "--save-interval");
    }
    return;
  }
  waits_ = false;
  due_ = moment.began + interval_;
  begin_save();
}

void WorldSaver::on_phase(ServicePhase phase) {
  if (phase == ServicePhase::Comparing) frozen_tick_ = server_.tick();
  if (phase == ServicePhase::Draining || phase == ServicePhase::Comparing) {
    if (!is_writing()) begin_save();
  } else if (phase == ServicePhase::Ended) {
    wait();
    const SaveStatus now = status();
    // Only a frozen world is known to be what it was: in another one messages write between two ticks, too.
    const bool is_saved =
        now.newest && now.last_failure.empty() && frozen_tick_ && now.newest_tick >= *frozen_tick_;
    if (!is_saved) {
      begin_save();
      wait();
    }
    if (const SaveStatus end = status(); end.last_failure.empty())
      log_info("the world is saved as of tick {}", end.newest_tick.value);
  }
}

// REQUIRES: nothing is being written.
void WorldSaver::begin_save() {
  const Time began = clock_.now();
  copy_world(server_.registry(), *saves_.twin);
  game_.prepare_save(*saves_.twin);
  sections_ = game_.save_sections(server_.registry());
  tick_ = server_.tick();
  sections_.push_back(encode_server_section(
      {saves_.program, tick_, server_.newest_player().value, server_.players_to_save()}));
  copied_at_ = began;
  {
    const std::lock_guard lock(mutex_);
    status_.last_copy = clock_.now() - began;
    status_.is_writing = true;
  }
  changed_.notify_all();
}

void WorldSaver::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !status_.is_writing; });
}

// --- the writer's thread -------------------------------------------------------------------------------------

void WorldSaver::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return status_.is_writing || ends_; });
    if (!status_.is_writing) return;
    lock.unlock();
    write();
    lock.lock();
    status_.is_writing = false;
    changed_.notify_all();
  }
}

void WorldSaver::write() {
  const Time began = clock_.now();
  const auto image = save_image(*saves_.twin, saves_.types, sections_);
  if (!image) return take_outcome(Failure{image.error().text}, 0, {});
  const auto outcome = saves_.store.save(*image);
  take_outcome(outcome, image->size(), clock_.now() - began);
}

void WorldSaver::take_outcome(const Result<SaveStore::Saved, std::string>& outcome, std::size_t bytes,
                              Duration took) {
  // The log may have to wait for whoever reads it, and the tick waits for this lock: never both.
  std::unique_lock lock(mutex_);
  if (!outcome) {
    ++status_.failures;
    status_.last_failure = outcome.error();
    lock.unlock();
    return tell_failure(outcome.error());
  }
  const bool is_news = status_.saves == 0 || !said_.empty() || interval_ >= kTalkative;
  ++status_.saves;
  status_.bytes += bytes;
  status_.last_bytes = bytes;
  status_.last_write = took;
  status_.newest = copied_at_;
  status_.newest_tick = tick_;
  status_.last_failure.clear();
  const Duration copy = status_.last_copy;
  lock.unlock();
  said_.clear();
  log(is_news ? LogLevel::Info : LogLevel::Debug,
      "saved tick {} as {}: {} bytes, {:.1f} ms of the tick, {:.0f} ms beside it", tick_.value, outcome->name,
      bytes, to_milliseconds(copy), to_milliseconds(took));
  if (!outcome->complaint.empty()) log_warn("{}", outcome->complaint);
}

void WorldSaver::tell_failure(const std::string& why) {
  const Time now = clock_.now();
  if (said_ == why && now - said_at_ < kReminder) return;
  said_ = why;
  said_at_ = now;
  log_error("the world of tick {} was not saved: {}; the world goes on, and the next save tries again",
            tick_.value, why);
}

}  // namespace shoal
