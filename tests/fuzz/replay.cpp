// main of a fuzz target where libFuzzer is not: replays inputs, and mutations of them that come from a fixed seed, so
// that every build and compiler runs every target.
//
//   fuzz_<name> [--mutations N] [--seed S] FILE|FOLDER…   replays them, and N mutations of all together
//   fuzz_<name> --write-seeds FOLDER                      writes the target's own seeds there
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "shared/base/random.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace shoal::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::size_t kMaxInputBytes = 4096;
constexpr const char* kUsage =
    "usage: fuzz_<name> [--mutations N] [--seed S] FILE|FOLDER…\n"
    "       fuzz_<name> --write-seeds FOLDER\n";

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool write_file(const std::filesystem::path& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return file.good();
}

// A byte sequence like the others: bits flipped, pieces left out, doubled, or taken from another input.
Bytes mutated(const std::vector<Bytes>& corpus, Random& random) {
  const auto pick = [&]() -> const Bytes& {
    return corpus[random.below(static_cast<std::uint32_t>(corpus.size()))];
  };
  Bytes bytes = pick();
  const auto place = [&] { return random.below(static_cast<std::uint32_t>(bytes.size()) + 1); };
  for (std::uint32_t edits = 1 + random.below(6); edits > 0; --edits) {
    const std::uint32_t at = place();
    const auto here = bytes.begin() + at;
    switch (random.below(6)) {
      case 0:
        if (here != bytes.end()) *here ^= static_cast<std::uint8_t>(1u << random.below(8));
        break;
      case 1:
        if (here != bytes.end()) *here = static_cast<std::uint8_t>(random.next());
        break;
      case 2:
        bytes.erase(here, here + random.below(static_cast<std::uint32_t>(bytes.end() - here) + 1) / 4);
        break;
      case 3:
        bytes.insert(here, 1 + random.below(8), static_cast<std::uint8_t>(random.next()));
        break;
      case 4: {
        const Bytes& other = pick();
        const std::uint32_t from = random.below(static_cast<std::uint32_t>(other.size()) + 1);
        const std::uint32_t count = random.below(static_cast<std::uint32_t>(other.size()) - from + 1);
        bytes.insert(here, other.begin() + from, other.begin() + from + count);
        break;
      }
      case 5:  // a number at one of its ends
        for (std::uint32_t i = at; i < bytes.size() && i < at + 4; ++i)
          bytes[i] = random.chance(0.5) ? 0xFF : 0;
        break;
    }
  }
  if (bytes.size() > kMaxInputBytes) bytes.resize(kMaxInputBytes);
  return bytes;
}

std::vector<std::filesystem::path> files_below(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// What is being run, for when it ends the program.
Bytes current;

void save_current(int) {
  const char* const name = "replay-crash";
  write_file(name, current);
  std::fprintf(stderr, "the input is in ./%s (%zu bytes): replay it by giving it as the argument\n", name,
               current.size());
}

void run(const Bytes& bytes) {
  current = bytes;
  // At its exact size, so that a sanitizer sees each byte read too many.
  (void)LLVMFuzzerTestOneInput(current.data(), current.size());
}

int main_of_replay(std::span<char*> arguments) {
  std::uint32_t mutations = 0;
  std::uint64_t seed = 1;
  std::vector<Bytes> corpus;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const bool has_value = i + 1 < arguments.size();
    if (argument == "--help") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    if (argument == "--mutations" && has_value) {
      mutations = static_cast<std::uint32_t>(std::strtoul(arguments[++i], nullptr, 10));
    } else if (argument == "--seed" && has_value) {
      seed = std::strtoull(arguments[++i], nullptr, 10);
    } else if (argument == "--write-seeds" && has_value) {
      const std::filesystem::path folder = arguments[++i];
      std::filesystem::create_directories(folder);
      for (const Seed& each : seeds()) {
        if (!write_file(folder / each.name, each.bytes)) return 1;
      }
      return 0;
    } else if (argument.starts_with("--") || !std::filesystem::exists(argument)) {
      std::fprintf(stderr, "no such option or file: %s\n%s", arguments[i], kUsage);
      return 2;
    } else {
      for (const auto& file : files_below(argument)) corpus.push_back(read_file(file));
    }
  }
  if (corpus.empty()) {
    std::fputs("no inputs\n", stderr);
    return 2;
  }
  std::signal(SIGABRT, save_current);
  for (const Bytes& bytes : corpus) run(bytes);
  Random random(seed);
  for (std::uint32_t i = 0; i < mutations; ++i) run(mutated(corpus, random));
  std::printf("%zu inputs and %u mutations\n", corpus.size(), mutations);
  return 0;
}

}  // namespace
}  // namespace shoal::fuzz

int main(int argument_count, char** arguments) {
  return shoal::fuzz::main_of_replay(
      std::span(arguments, static_cast<std::size_t>(argument_count)).subspan(1));
}
