#include "client/bots/options.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shoal {
namespace {

// The options after parsing and settling.
BotOptions options_of(std::vector<const char*> arguments, const std::string& file = {}) {
  BotOptions options;
  OptionTable table = bot_option_table(options);
  arguments.insert(arguments.begin(), "shoal-bots");
  if (!file.empty()) arguments.insert(arguments.end(), {"--config", "bots.toml"});
  const auto outcome =
      table.parse(static_cast<int>(arguments.size()), arguments.data(), {},
                  [&](const std::string&) -> Result<std::string, std::string> { return file; });
  EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error());
  settle_link(table, options);
  return options;
}

TEST(BotOptions, LinkProfileGivesAllFigures) {
  for (const NamedLink& link : kLinkProfiles) {
    const std::string word(link.word);
    EXPECT_EQ(options_of({"--link", word.c_str()}).swarm.faults, link.faults) << word;
  }
}

TEST(BotOptions, SingleOptionsReplaceFiguresOfTheProfileFromEverySource) {
  const LinkFaults faults =
      options_of({"--link", "bad-hotel", "--loss", "0", "--latency", "10"}, "[link]\njitter = 7\n")
          .swarm.faults;
  EXPECT_EQ(faults.loss_percent, 0);
  EXPECT_EQ(faults.latency, milliseconds(10));
  EXPECT_EQ(faults.jitter, milliseconds(7));
  EXPECT_EQ(faults.duplicate_percent, 1) << "the profile's";
  EXPECT_EQ(faults.corrupt_percent, 0.2) << "the profile's";
}

TEST(BotOptions, WithoutAProfileSingleOptionsHold) {
  const LinkFaults faults = options_of({"--loss", "5", "--jitter", "2"}).swarm.faults;
  EXPECT_EQ(faults, (LinkFaults{.loss_percent = 5, .jitter = milliseconds(2)}));
}

}  // namespace
}  // namespace shoal
