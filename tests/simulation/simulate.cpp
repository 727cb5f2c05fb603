// Plays seeds until one fails or all are done: `shoal-simulate --seeds 500 --from 1`. scripts/simulate builds
// and starts it.

#include <cstdio>

#include "shared/config/option_table.hpp"
#include "shared/config/process.hpp"
#include "shared/config/program.hpp"
#include "shared/config/version.hpp"
#include "tests/simulation/simulation.hpp"

extern "C" char** environ;

namespace shoal::simulation {
namespace {

int play(std::uint64_t seeds, std::uint64_t from, double max_loss, bool keep_going, Duration longest) {
  catch_stop_signals();
  const SteadyClock clock;
  const Time begin = clock.now();
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  for (std::uint64_t seed = from; seed < from + seeds && stop_signals() == 0; ++seed, ++done) {
    if (longest.count() > 0 && clock.now() - begin >= longest) break;
    const std::string failure = run_seed(seed, max_loss);
    if (done % 100 == 99) {
      if (longest.count() > 0) {
        std::fprintf(stderr, "%llu seeds, %.0f of %.0f s\n", static_cast<unsigned long long>(done + 1),
                     to_seconds(clock.now() - begin), to_seconds(longest));
      } else {
        std::fprintf(stderr, "%llu of %llu seeds\n", static_cast<unsigned long long>(done + 1),
                     static_cast<unsigned long long>(seeds));
      }
    }
    if (failure.empty()) continue;
    ++failed;
    std::printf(
        "seed %llu failed: %s\n  (%s)\n  again: scripts/simulate --seeds 1 --from %llu --max-loss %g\n",
        static_cast<unsigned long long>(seed), failure.c_str(), describe(plan_of(seed, max_loss)).c_str(),
        static_cast<unsigned long long>(seed), max_loss);
    std::fflush(stdout);
    if (!keep_going) break;
  }
  std::printf("%llu seeds, %llu failed\n", static_cast<unsigned long long>(done),
              static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}

int run_main(int argc, char** argv) {
  std::uint64_t seeds = 100;
  std::uint64_t from = 1;
  double max_loss = 30;
  bool keep_going = false;
  Duration longest{};
  LogLevel log_level = LogLevel::Off;
  OptionTable table(
      {.program = "shoal-simulate",
       .summary = "server and clients in one process, under virtual time and a simulated network",
       .version = kVersion});
  table.section("simulation");
  table.add("seeds", &seeds, {.help = "how many", .min = 1, .max = 1e12});
  table.add("from", &from, {.help = "the first one"});
  table.add("max-loss", &max_loss,
            {.help = "percent of datagrams lost on the worst link", .min = 0, .max = 90});
  table.add("for", &longest,
            {.help = "end after this long, however many seeds are left; 0: when they are done"});
  table.add("keep-going", &keep_going, {.help = "do not stop at the first failure"});
  add_log_level_option(table, &log_level);
  return run_program(table, argc, argv, environ, log_level,
                     [&] { return play(seeds, from, max_loss, keep_going, longest); });
}

}  // namespace
}  // namespace shoal::simulation

int main(int argc, char** argv) {
  return shoal::simulation::run_main(argc, argv);
}
