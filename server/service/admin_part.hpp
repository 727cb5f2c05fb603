// The admin port beside the tick: gives it what each tick came to, and lets it do its commands between two.
// server/admin knows no Service; this is the seam.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "server/admin/admin_port.hpp"
#include "server/admin/status_collector.hpp"
#include "server/options.hpp"
#include "server/service/service.hpp"
#include "shared/base/result.hpp"

namespace shoal {

class AdminPart final : public ServicePart {
 public:
  /// Opens the port that the options name; `is_named`: the operator did. Null: there is to be none, or the default
  /// address is in use; the log says so. The error names the remedy. References outlive the part.
  static Result<std::unique_ptr<AdminPart>, std::string> open(const ServerOptions& options, bool is_named,
                                                              const Server& server, const Service& service,
                                                              const UdpPort& port, const Clock& clock,
                                                              AdminActions actions);

  /// Asked by the tick's thread when it makes a status.
  void show_saves(std::function<SaveFigures()> figures) { collector_.set_saves(std::move(figures)); }
  void after_tick(const TickMoment& moment) override { collector_.after_tick(moment.took); }
  void between_ticks(Time /*now*/) override { port_->between_ticks(); }
  void on_phase(ServicePhase phase) override;

 private:
  AdminPart(const ServerLimits& limits, const Server& server, const Service& service, const UdpPort& port,
            const Clock& clock);

  StatusBoard board_;
  StatusCollector collector_;
  std::unique_ptr<AdminPort> port_;
};

}  // namespace shoal
