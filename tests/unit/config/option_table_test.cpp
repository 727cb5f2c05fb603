#include "shared/config/option_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "shared/config/nearest.hpp"

namespace shoal {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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
  std::optional<double> most;
  std::string scenario = "wander";
  Level level = Level::Info;
};

// A program's options with sources that a test fills in.
class Program {
 public:
  Program() : table({.program = "shoal-test", .summary = "a program of tests", .version = "1.2.3"}) {
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
    table.add("most", &config.most, {.help = "a limit", .min = 0});
    table.add("verbose", &config.verbose, {.help = "say more"});
    table.add("scenario", &config.scenario, {.help = "what bots do", .choices = {"wander", "crowd", "idle"}});
    table.add("level", &config.level, {{"debug", Level::Debug}, {"info", Level::Info}, {"warn", Level::Warn}},
              {.help = "least level of the log"});
  }

  Result<ParseOutcome, std::string> parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "shoal-test");
    if (!file.empty()) arguments.insert(arguments.begin() + 1, {"--config", "test.toml"});
    return table.parse(static_cast<int>(arguments.size()), arguments.data(), environment,
                       [this](const std::string& path) -> Result<std::string, std::string> {
                         if (path != "test.toml") return Failure{std::string("No such file or directory")};
                         return file;
                       });
  }
  // The complaint, or "accepted".
  std::string complaint(std::vector<const char*> arguments = {}) {
    const auto outcome = parse(std::move(arguments));
    return outcome ? "accepted" : outcome.error();
  }

  Config config;
  OptionTable table;
  Environment environment;
  std::string file;
};

std::string file_complaint(std::string text) {
  Program program;
  program.file = std::move(text);
  return program.complaint();
}

TEST(OptionTable, KeepsDefaultsWhenNothingIsSaid) {
  Program program;
  const auto outcome = program.parse({});
  ASSERT_TRUE(outcome.ok()) << outcome.error();
  EXPECT_FALSE(outcome->text_to_print.has_value());
  EXPECT_THAT(outcome->warnings, IsEmpty());
  EXPECT_EQ(program.config.port, 7777);
  EXPECT_EQ(program.config.time_out, seconds(10));
}

TEST(OptionTable, CommandLineBeatsEnvironmentBeatsFile) {
  Program program;
  program.file = "[network]\nport = 1001\nloss = 5\ntime_out = 2.5\n";
  program.environment = {{"SHOAL_PORT", "1002"}, {"SHOAL_LOSS", "6.5"}};
  const auto outcome = program.parse({"--port", "1003"});
  ASSERT_TRUE(outcome.ok()) << outcome.error();
  EXPECT_EQ(program.config.port, 1003);
  EXPECT_EQ(program.config.loss, 6.5);
  EXPECT_EQ(program.config.time_out, milliseconds(2500));
}

TEST(OptionTable, ReadsEveryTypeFromTheFile) {
  Program program;
  program.file =
      "name = 'a # sign'\n[network]\nport = 1\ntime_out = 1\nloss = 12\n"
      "[world]\nseed = 9223372036854775807\noffset = -10\ngravity = 0.7\nverbose = true\n"
      "scenario = \"crowd\"\nlevel = \"warn\"\n";
  const auto outcome = program.parse({});
  ASSERT_TRUE(outcome.ok()) << outcome.error();
  EXPECT_EQ(program.config.name, "a # sign");
  EXPECT_EQ(program.config.port, 1);
  EXPECT_EQ(program.config.time_out, seconds(1));
  EXPECT_EQ(program.config.loss, 12.0);
  EXPECT_EQ(program.config.seed, 9223372036854775807u);
  EXPECT_EQ(program.config.offset, -10);
  EXPECT_EQ(program.config.gravity, 0.7f);
  EXPECT_TRUE(program.config.verbose);
  EXPECT_EQ(program.config.scenario, "crowd");
  EXPECT_EQ(program.config.level, Level::Warn);
}

TEST(OptionTable, ReadsEveryTypeFromTheCommandLine) {
  Program program;
  const auto outcome =
      program.parse({"--name", "--", "--port=9", "--time-out", "0.5", "--seed", "18446744073709551615",
                     "--offset", "-7", "--gravity=-1e3", "--verbose", "--level", "debug"});
  ASSERT_TRUE(outcome.ok()) << outcome.error();
  EXPECT_EQ(program.config.port, 9);
  EXPECT_EQ(program.config.time_out, milliseconds(500));
  EXPECT_EQ(program.config.seed, 18446744073709551615u);
  EXPECT_EQ(program.config.offset, -7);
  EXPECT_EQ(program.config.gravity, -1000.0f);
  EXPECT_TRUE(program.config.verbose);
  EXPECT_EQ(program.config.level, Level::Debug);
}

TEST(OptionTable, LastOneOfRepeatedOptionWins) {
  Program program;
  ASSERT_EQ(program.complaint({"--port", "5", "--verbose", "--port=6", "--no-verbose"}), "accepted");
  EXPECT_EQ(program.config.port, 6);
  EXPECT_FALSE(program.config.verbose);
  ASSERT_EQ(program.complaint({"--no-verbose", "--verbose"}), "accepted");
  EXPECT_TRUE(program.config.verbose);
  ASSERT_EQ(program.complaint({"--verbose=off"}), "accepted");
  EXPECT_FALSE(program.config.verbose);
}

TEST(OptionTable, FileFaultsNameFileLineColumnKeyAndWhatIsAllowed) {
  EXPECT_EQ(file_complaint("[network]\nport = 70000\n"),
            "test.toml:2:8: network.port: \"70000\" is out of range; allowed: 1 to 65535");
  EXPECT_EQ(
      file_complaint("[network]\nport = \"http\"\n"),
      "test.toml:2:8: network.port: expected a whole number, found a string \"http\"; allowed: 1 to 65535");
  EXPECT_EQ(
      file_complaint("[network]\n  port = 77.5\n"),
      "test.toml:2:10: network.port: expected a whole number, found the number 77.5; allowed: 1 to 65535");
  EXPECT_EQ(file_complaint("[network]\ntime_out = 0.1\n"),
            "test.toml:2:12: network.time_out: \"0.1\" is out of range; allowed: 0.5 to 600");
  EXPECT_EQ(file_complaint("[world]\ngravity = nan\n"),
            "test.toml:2:11: world.gravity: \"nan\" is not a number; allowed: at most 0.7");
  EXPECT_EQ(file_complaint("[world]\nverbose = 1\n"),
            "test.toml:2:11: world.verbose: expected true or false, found the whole number 1; allowed: true "
            "or false");
  EXPECT_EQ(
      file_complaint("[world]\nscenario = \"crowds\"\n"),
      "test.toml:2:12: world.scenario: \"crowds\" is not one of the allowed words; allowed: wander, crowd or "
      "idle; did you mean crowd?");
  EXPECT_EQ(file_complaint("name = [1]\n"), "test.toml:1:8: name: expected a string, found an array");
  EXPECT_EQ(file_complaint("name = 2020-01-01\n"),
            "test.toml:1:8: name: expected a string, found a date or time");
  EXPECT_EQ(file_complaint("[world]\nseed = \"7\"\n"),
            "test.toml:2:8: world.seed: expected a whole number, found a string \"7\"; allowed: 0 to "
            "18446744073709551615");
}

TEST(OptionTable, UnknownFileKeySuggestsTheNearestKnownOne) {
  EXPECT_EQ(file_complaint("[network]\nprot = 1\n"),
            "test.toml:2:1: unknown key network.prot; did you mean network.port?");
  EXPECT_EQ(file_complaint("[network]\ntime-out = 1\n"),
            "test.toml:2:1: unknown key network.time-out; did you mean network.time_out?");
  EXPECT_EQ(file_complaint("port = 1\n"), "test.toml:1:1: unknown key port; did you mean network.port?");
  EXPECT_EQ(file_complaint("[world]\nport = 1\n"),
            "test.toml:2:1: unknown key world.port; did you mean network.port?");
  EXPECT_EQ(file_complaint("[netwrok]\nport = 1\n"),
            "test.toml:1:2: unknown section [netwrok]; did you mean network?");
  EXPECT_EQ(file_complaint("[network]\nsomething_else = 1\n"),
            "test.toml:2:1: unknown key network.something_else");
  EXPECT_EQ(file_complaint("network = 1\n"),
            "test.toml:1:11: network is a section, write [network]; found the whole number 1");
  EXPECT_EQ(file_complaint("[network.deep]\nport = 1\n"), "test.toml:1:10: unknown key network.deep");
}

TEST(OptionTable, BrokenTomlNamesThePlace) {
  EXPECT_THAT(file_complaint("[network]\nport = \n"), AllOf(HasSubstr("test.toml:2:8: this is not TOML: ")));
  EXPECT_THAT(file_complaint("[network\n"), HasSubstr("test.toml:1:"));
  EXPECT_THAT(file_complaint("[network]\nport = 1\nport = 2\n"), HasSubstr("test.toml:3:"));
  EXPECT_THAT(file_complaint("name = \"\xff\xfe\"\n"), HasSubstr("test.toml:1:"));
  EXPECT_THAT(file_complaint(std::string("na\0me = 1\n", 10)), HasSubstr("test.toml:1:"));
  EXPECT_THAT(file_complaint("name = " + std::string(100000, '[')), HasSubstr("this is not TOML"));
  EXPECT_THAT(file_complaint("[world]\nseed = 99999999999999999999\n"), HasSubstr("test.toml:2:"));
}

TEST(OptionTable, EveryFaultOfAllSourcesIsReportedFileFirstFromTopToBottom) {
  Program program;
  program.file = "[world]\noffset = 11\n[network]\nport = 0\n";
  program.environment = {{"SHOAL_LOSS", "101"}};
  EXPECT_EQ(program.complaint({"--level", "loud"}),
            "test.toml:2:10: world.offset: \"11\" is out of range; allowed: -10 to 10\n"
            "test.toml:4:8: network.port: \"0\" is out of range; allowed: 1 to 65535\n"
            "environment SHOAL_LOSS: \"101\" is out of range; allowed: 0 to 100\n"
            "--level: \"loud\" is not one of the allowed words; allowed: debug, info or warn");
}

TEST(OptionTable, FaultInWeakerSourceCountsThoughAStrongerOneOverridesIt) {
  Program program;
  program.environment = {{"SHOAL_PORT", "x"}};
  EXPECT_THAT(program.complaint({"--port", "5"}),
              HasSubstr("environment SHOAL_PORT: \"x\" is not a whole number"));
}

TEST(OptionTable, FailedParseChangesNoTarget) {
  Program program;
  program.file = "name = \"changed\"\n[world]\nseed = 5\n";
  EXPECT_NE(program.complaint({"--time-out", "1", "--port", "0"}), "accepted");
  EXPECT_EQ(program.config.name, "sea");
  EXPECT_EQ(program.config.seed, 1u);
  EXPECT_EQ(program.config.time_out, seconds(10));
}

TEST(OptionTable, UnreadableFileIsNamedWithTheReason) {
  Program program;
  EXPECT_EQ(program.complaint({"--config", "missing.toml"}),
            "missing.toml: cannot read the configuration file: No such file or directory");
  program.environment = {{"SHOAL_CONFIG", "gone.toml"}};
  EXPECT_EQ(program.complaint(), "gone.toml: cannot read the configuration file: No such file or directory");
}

TEST(OptionTable, CommandLineFaultsAreNamed) {
  Program program;
  EXPECT_EQ(program.complaint({"--prot", "5"}), "unknown option \"--prot\"; did you mean --port?");
  EXPECT_EQ(program.complaint({"--time_out=5"}), "unknown option \"--time_out\"; did you mean --time-out?");
  EXPECT_EQ(program.complaint({"-x"}), "unknown option \"-x\"");
  EXPECT_EQ(program.complaint({"7777"}), "unexpected argument \"7777\"; options begin with --");
  EXPECT_EQ(program.complaint({"--port", "--verbose"}),
            "--port needs a value, found the option --verbose; allowed: 1 to 65535");
  EXPECT_EQ(program.complaint({"--port"}), "--port needs a value; allowed: 1 to 65535");
  EXPECT_EQ(program.complaint({"--port="}), "--port needs a value; allowed: 1 to 65535");
  EXPECT_EQ(program.complaint({"--config"}), "--config needs a value");
  EXPECT_EQ(program.complaint({"--port", ""}), "--port: \"\" is not a whole number; allowed: 1 to 65535");
  EXPECT_EQ(program.complaint({"--port", "-1"}), "--port: \"-1\" is out of range; allowed: 1 to 65535");
  EXPECT_EQ(program.complaint({"--port", "0x10"}),
            "--port: \"0x10\" is not a whole number; allowed: 1 to 65535");
  EXPECT_EQ(program.complaint({"--port", "99999999999999999999999"}),
            "--port: \"99999999999999999999999\" is out of range; allowed: 1 to 65535");
  EXPECT_EQ(program.complaint({"--verbose=maybe"}),
            "--verbose: \"maybe\" is neither true nor false; allowed: true or false");
  EXPECT_EQ(program.complaint({"--no-verbose=false"}), "--no-verbose takes no value");
  EXPECT_EQ(program.complaint({"--port", "5\n6"}),
            "--port: \"5\\x0a6\" is not a whole number; allowed: 1 to 65535");
  EXPECT_THAT(program.complaint({"--port", std::string(5000, '7').c_str()}),
              testing::SizeIs(testing::Lt(400u)));
}

TEST(OptionTable, EnvironmentFaultsAreNamed) {
  Program program;
  program.environment = {{"SHOAL_PORT", ""}, {"SHOAL_VERBOSE", "maybe"}};
  EXPECT_EQ(program.complaint(),
            "environment SHOAL_PORT: \"\" is not a whole number; allowed: 1 to 65535\n"
            "environment SHOAL_VERBOSE: \"maybe\" is neither true nor false; allowed: true or false");
}

TEST(OptionTable, MistypedEnvironmentVariableIsAWarningBecauseItMayBeAnotherPrograms) {
  Program program;
  program.environment = {{"SHOAL_PROT", "5"}, {"SHOAL_SOMETHING_ELSE", "5"}};
  const auto outcome = program.parse({});
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(outcome->warnings,
              ElementsAre("environment SHOAL_PROT is not an option; did you mean SHOAL_PORT?"));
}

TEST(OptionTable, HelpShowsEveryOptionWithDefaultEnvironmentNameRangeAndHelp) {
  Program program;
  const auto outcome = program.parse({"--help", "--nonsense"});
  ASSERT_TRUE(outcome.ok()) << "help is shown whatever else is said";
  ASSERT_TRUE(outcome->text_to_print.has_value());
  const std::string& text = *outcome->text_to_print;
  for (const Option& option : program.table.options()) {
    EXPECT_THAT(text, HasSubstr(option.flag()));
    EXPECT_THAT(text, HasSubstr(option.environment()));
    EXPECT_THAT(text, HasSubstr(option.rules.help));
    EXPECT_THAT(text, HasSubstr("default " + option.default_text));
  }
  EXPECT_THAT(text, HasSubstr("default 7777; 1 to 65535; SHOAL_PORT"));
  EXPECT_THAT(text, HasSubstr("default wander; wander, crowd or idle; SHOAL_SCENARIO"));
  EXPECT_THAT(text, HasSubstr("--config FILE"));
  EXPECT_EQ(program.parse({"-h"})->text_to_print, text);
}

TEST(OptionTable, HelpShowsTheDefaultsEvenAfterTheyWereOverridden) {
  Program program;
  ASSERT_EQ(program.complaint({"--port", "5"}), "accepted");
  EXPECT_THAT(program.table.help(), HasSubstr("default 7777;"));
}

TEST(OptionTable, VersionIsPrinted) {
  Program program;
  EXPECT_EQ(program.parse({"--version"})->text_to_print, "shoal-test 1.2.3\n");
}

TEST(OptionTable, PrintedConfigurationNamesTheSourceOfEachValue) {
  Program program;
  program.file = "[network]\nport = 1001\n";
  program.environment = {{"SHOAL_LOSS", "6.5"}};
  const auto outcome = program.parse({"--offset", "4", "--print-config"});
  ASSERT_TRUE(outcome.ok()) << outcome.error();
  EXPECT_THAT(*outcome->text_to_print, HasSubstr("name = \"sea\"  # default\n"));
  EXPECT_THAT(*outcome->text_to_print, HasSubstr("[network]\nport = 1001  # file test.toml:2:8\n"));
  EXPECT_THAT(*outcome->text_to_print, HasSubstr("loss = 6.5  # environment SHOAL_LOSS\n"));
  EXPECT_THAT(*outcome->text_to_print, HasSubstr("offset = 4  # command line --offset\n"));
}

TEST(OptionTable, PrintedConfigurationReadBackGivesTheSameValues) {
  Program program;
  const auto printed = program.parse(
      {"--print-config", "--name", "a\"b\\c\n#d é", "--seed", "18446744073709551615", "--gravity", "0.1",
       "--loss", "33.333333333333336", "--time-out", "0.623456789", "--verbose", "--level", "warn"});
  ASSERT_TRUE(printed.ok()) << printed.error();
  EXPECT_THAT(*printed->text_to_print, HasSubstr("most = \"none\"  # default\n"));
  Program again;
  again.file = *printed->text_to_print;
  ASSERT_EQ(again.complaint(), "accepted");
  EXPECT_EQ(again.config.name, "a\"b\\c\n#d é");
  EXPECT_EQ(again.config.seed, 18446744073709551615u);
  EXPECT_EQ(again.config.gravity, 0.1f);
  EXPECT_EQ(again.config.loss, 33.333333333333336);
  EXPECT_EQ(again.config.time_out, Duration(623456789));
  EXPECT_TRUE(again.config.verbose);
  EXPECT_EQ(again.config.level, Level::Warn);
}

TEST(OptionTable, NumberThatMayBeNoneTakesBothFromEverySource) {
  Program program;
  ASSERT_EQ(program.complaint({"--most", "0"}), "accepted");
  EXPECT_EQ(program.config.most, 0.0);
  ASSERT_EQ(program.complaint({"--most", "none"}), "accepted");
  EXPECT_EQ(program.config.most, std::nullopt);
  program.file = "[world]\nmost = 2.5\n";
  ASSERT_EQ(program.complaint({}), "accepted");
  EXPECT_EQ(program.config.most, 2.5);
  program.file = "[world]\nmost = \"none\"\n";
  ASSERT_EQ(program.complaint({}), "accepted");
  EXPECT_EQ(program.config.most, std::nullopt);
  EXPECT_THAT(program.complaint({"--most", "-1"}), HasSubstr("at least 0, or none"));
  EXPECT_THAT(program.complaint({"--most", "nobody"}), HasSubstr("at least 0, or none"));
  program.file = "[world]\nmost = \"2\"\n";
  EXPECT_THAT(program.complaint({}), HasSubstr("expected"));
}

TEST(OptionTable, RangeBoundsThemselvesAreAllowed) {
  Program program;
  EXPECT_EQ(program.complaint({"--gravity", "0.7"}), "accepted");
  EXPECT_EQ(program.complaint({"--port", "65535"}), "accepted");
  EXPECT_EQ(program.complaint({"--port", "1"}), "accepted");
  EXPECT_EQ(program.complaint({"--offset", "+10"}), "accepted");
  EXPECT_NE(program.complaint({"--gravity", "0.70001"}), "accepted");
}

TEST(OptionTable, EnvironmentBlockGivesOnlyItsOwnVariables) {
  const char* block[] = {"PATH=/bin", "SHOAL_PORT=5", "SHOAL_NAME=a=b", "SHOAL_BARE", nullptr};
  EXPECT_EQ(environment_from(block), (Environment{{"SHOAL_PORT", "5"}, {"SHOAL_NAME", "a=b"}}));
  EXPECT_THAT(environment_from(nullptr), IsEmpty());
}

TEST(OptionTable, ThrowingFileReaderDoesNotLetTheExceptionOut) {
  Program program;
  const char* arguments[] = {"shoal-test", "--config", "x"};
  const auto outcome =
      program.table.parse(3, arguments, {}, [](const std::string&) -> Result<std::string, std::string> {
        throw std::runtime_error("the disk is gone");
      });
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error(), HasSubstr("the disk is gone"));
}

TEST(OptionTableDeathTest, MistakesOfTheProgrammerAreNamed) {
  int number = 5;
  OptionTable table({.program = "p", .summary = "s", .version = "1"});
  table.add("number", &number, {.help = "a number"});
  EXPECT_DEATH(table.add("number", &number, {.help = "again"}), "there already");
  EXPECT_DEATH(table.add("help", &number, {.help = "mine"}), "belong to every program");
  EXPECT_DEATH(table.add("Tick", &number, {.help = "bad name"}), "lower-case");
  EXPECT_DEATH(table.add("small", &number, {.help = "default outside", .max = 4}), "obeys its own rules");
  EXPECT_DEATH(table.add("silent", &number, {.help = ""}), "what it is for");
}

TEST(Nearest, CountsSwapsAndIgnoresCaseAndDashes) {
  EXPECT_EQ(edit_distance("port", "prot"), 1u);
  EXPECT_EQ(edit_distance("tick-rate", "TICK_RATE"), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(nearest("prot", {"port", "host"}), "port");
  EXPECT_EQ(nearest("zebra", {"port", "host"}), "");
  EXPECT_EQ(nearest(std::string(10000, 'p'), {"port"}), "");
}

}  // namespace
}  // namespace shoal
