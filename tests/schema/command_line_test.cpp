// shoal-schemac as builds call it: exit codes and messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using ::testing::HasSubstr;

struct Outcome {
  int exit_code = -1;
  std::string output;  // standard output and standard error
};

Outcome schemac(const std::string& arguments) {
  Outcome outcome;
  std::FILE* pipe = ::popen((std::string(SHOAL_TEST_SCHEMAC) + " " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 512> line{};
  while (std::fgets(line.data(), static_cast<int>(line.size()), pipe) != nullptr)
    outcome.output += line.data();
  outcome.exit_code = WEXITSTATUS(::pclose(pipe));
  return outcome;
}

TEST(Schemac, HelpNamesEveryOption) {
  const Outcome help = schemac("--help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* option : {"--schema", "--output", "--stem", "--root", "--depfile"}) {
    EXPECT_THAT(help.output, HasSubstr(option));
  }
}
TEST(Schemac, WrongCallIsRefusedWithTheWayToHelp) {
  EXPECT_THAT(schemac("--colour red").output, HasSubstr("unknown option --colour (see --help)"));
  EXPECT_THAT(schemac("--schema").output, HasSubstr("--schema needs a value"));
  EXPECT_THAT(schemac("--stem a").output, HasSubstr("--schema, --output and --stem are needed"));
  EXPECT_EQ(schemac("--stem a").exit_code, 2);
}
TEST(Schemac, FileThatIsMissingOrNoBinarySchemaIsNamed) {
  const Outcome missing = schemac("--schema /nowhere.bfbs --output /tmp --stem a");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.output, HasSubstr("cannot read /nowhere.bfbs"));
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "shoal_not_a_schema.bfbs";
  std::ofstream(file) << "no schema at all, only words";
  EXPECT_THAT(schemac("--schema " + file.string() + " --output /tmp --stem a").output,
              HasSubstr("not a binary schema: make one with `flatc -b --schema`"));
  // The right mark in the right place, and nothing sound behind it.
  std::ofstream(file) << std::string("\xFF\xFF\xFF\x7F") << "BFBS" << std::string(64, '\x7F');
  EXPECT_THAT(schemac("--schema " + file.string() + " --output /tmp --stem a").output,
              HasSubstr("a broken binary schema"));
  std::filesystem::remove(file);
}

}  // namespace
