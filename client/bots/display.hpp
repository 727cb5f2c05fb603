// Shows the swarm while it runs: a table in place where someone looks at a terminal, else a line every few seconds.
#pragma once

#include <unistd.h>

#include "client/bots/report.hpp"
#include "shared/base/log.hpp"
#include "shared/base/time.hpp"

namespace shoal {

class Display {
 public:
  /// `length` 0: the run has no end of its own. A terminal is standard error,
  /// unless machines read the log.
  Display(Time started, Duration length,
          bool is_terminal = isatty(STDERR_FILENO) != 0 && log_format() == LogFormat::Text)
      : started_(started), length_(length), last_(started), is_terminal_(is_terminal) {}

  /// Call it about once a second.
  void refresh(Time now, const SwarmSummary& summary);

 private:
  Time started_;
  Duration length_;
  Time last_;
  bool is_terminal_;
  SwarmSummary before_;
  int lines_ = 0;
};

}  // namespace shoal
