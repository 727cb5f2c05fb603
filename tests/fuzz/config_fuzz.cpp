// The option table: any text as configuration file, environment and arguments. What fails changes nothing and says
// why; what is taken prints as a file that gives the same values again.
//
// An input: the file's text; behind zero bytes, alternately an argument and the value of a variable.
#include <cmath>
#include <optional>

#include "shared/base/assert.hpp"
#include "shared/config/option_table.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace shoal::fuzz {
namespace {

enum class Level { Debug, Info, Warn };

struct Config {
  std::string name = "sea";
  std::uint16_t port = 7777;
  std::int32_t offset = -3;
  std::uint64_t seed = 1;
  float gravity = 0.5f;
  double loss = 0;
  bool verbose = false;
  Duration time_out = seconds(10);
  std::string scenario = "wander";
  Level level = Level::Info;

  friend bool operator==(const Config&, const Config&) = default;
};

OptionTable table_of(Config& config) {
  OptionTable table({.program = "shoal-fuzz", .summary = "options of every type", .version = "1.2.3"});
  table.add("name", &config.name, {.help = "what the world is called"});
  table.section("network");
  table.add("port", &config.port, {.help = "UDP port", .min = 1, .max = 65535});
  table.add("time-out", &config.time_out, {.help = "silence that ends a session", .min = 0.5, .max = 600});
  table.add("loss", &config.loss,
            {.help = "share of packets that vanish", .min = 0, .max = 100, .unit = "%"});
  table.section("world");
  table.add("seed", &config.seed, {.help = "the same seed gives the same world"});
  table.add("offset", &config.offset, {.help = "an offset", .min = -10, .max = 10});
  table.add("gravity", &config.gravity, {.help = "pull", .max = 0.7});
  table.add("verbose", &config.verbose, {.help = "say more"});
  table.add("scenario", &config.scenario, {.help = "what bots do", .choices = {"wander", "crowd", "idle"}});
  table.add("level", &config.level, {{"debug", Level::Debug}, {"info", Level::Info}, {"warn", Level::Warn}},
            {.help = "least level of the log"});
  return table;
}

constexpr const char* kVariables[] = {"SHOAL_NAME", "SHOAL_PORT",     "SHOAL_TIME_OUT", "SHOAL_SEED",
                                      "SHOAL_LOSS", "SHOAL_SCENARIO", "SHOAL_GRAVITY",  "SHOAL_PROT"};

struct Sources {
  std::string file;
  std::vector<std::string> arguments;
  Environment environment;
};

Sources sources_of(std::span<const std::byte> bytes) {
  Sources sources;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::size_t begin = 0;
  for (std::size_t piece = 0; begin <= text.size(); ++piece) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    if (piece == 0) {
      sources.file = part;
    } else if (piece % 2 == 1) {
      sources.arguments.emplace_back(part);
    } else {
      sources.environment.emplace(kVariables[(piece / 2) % std::size(kVariables)], part);
    }
  }
  return sources;
}

Result<ParseOutcome, std::string> parse(OptionTable& table, const Sources& sources) {
  std::vector<const char*> arguments = {"shoal-fuzz", "--config", "fuzz.toml"};
  for (const std::string& argument : sources.arguments) arguments.push_back(argument.c_str());
  return table.parse(static_cast<int>(arguments.size()), arguments.data(), sources.environment,
                     [&](const std::string& path) -> Result<std::string, std::string> {
                       if (path != "fuzz.toml") return Failure{std::string("No such file or directory")};
                       return sources.file;
                     });
}

void run(std::span<const std::byte> bytes) {
  const Sources sources = sources_of(bytes);
  Config config;
  OptionTable table = table_of(config);
  const auto outcome = parse(table, sources);
  if (!outcome.ok()) {
    SHOAL_ASSERT(!outcome.error().empty(), "a failed parse says why");
    SHOAL_ASSERT(config == Config{}, "a failed parse leaves the targets as they were");
    return;
  }
  SHOAL_ASSERT(config.port >= 1 && config.offset >= -10 && config.offset <= 10 && config.gravity <= 0.7f,
               "what is taken lies in its range");
  SHOAL_ASSERT(std::isfinite(config.gravity) && config.loss >= 0 && config.loss <= 100,
               "numbers are numbers");
  SHOAL_ASSERT(config.time_out >= milliseconds(500) && config.time_out <= seconds(600),
               "durations keep their range");

  Config again;
  OptionTable table_again = table_of(again);
  const auto outcome_again = parse(table_again, {table.config_as_toml(), {}, {}});
  SHOAL_ASSERT(outcome_again.ok(), "the printed configuration is one");
  SHOAL_ASSERT(again == config, "the printed configuration has the same values");
}

}  // namespace

std::vector<Seed> seeds() {
  const auto text = [](std::string_view text_of_seed) { return SeedWriter().text(text_of_seed).written(); };
  using namespace std::string_view_literals;
  return {
      {"complete.toml",
       text("name = \"bay\"\n\n[network]\nport = 7000\ntime_out = 2.5\nloss = 1\n\n[world]\nseed = "
            "\"18446744073709551615\"\noffset = -2\ngravity = 0.25\nverbose = true\nscenario = "
            "\"crowd\"\nlevel = \"warn\"\n")},
      {"wrong.toml",
       text("[netwrok]\nport = 1\n[network]\nprot = 70000\nport = \"x\"\nloss = nan\n[world]\nseed = -1\n")},
      {"forms.toml",
       text("name = '''a\nb'''\nnetwork.port = 0x1F\nworld = { offset = +1, seed = 1_000 }\n# \u00e9\n")},
      {"arguments", text("[world]\nverbose = false\n\0--port=99\0bay\0--verbose\0"
                         "5\0--seed\0"
                         "1e3\0"
                         "7\0crowd"sv)},
      {"environment", text("\0--loss=5\0a\"\\\n\0--name=\xC3\xA9\0"
                           "70\0--print-config\0"
                           "0.5"sv)},
  };
}

}  // namespace shoal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  shoal::fuzz::run(std::as_bytes(std::span(bytes, size)));
  return 0;
}
