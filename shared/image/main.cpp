// shoal-image: prints what an image of a world holds, without the game that made it.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "shared/config/program.hpp"
#include "shared/config/version.hpp"
#include "shared/image/image_statistics.hpp"
#include "shared/image/json.hpp"

extern "C" char** environ;

namespace shoal {
namespace {

enum class Print { Statistics, Json };

struct Options {
  std::string image;
  Print print = Print::Statistics;
  LogLevel log_level = LogLevel::Info;
};

int print_image(const Options& options) {
  std::ifstream file(options.image, std::ios::binary);
  if (!file) {
    log_error("cannot read the image \"{}\": name it with --image FILE", options.image);
    return 2;
  }
  const std::vector<char> letters{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto bytes = std::as_bytes(std::span(letters));
  const auto text = options.print == Print::Json ? json_of_image(bytes) : image_statistics(bytes);
  if (!text.ok()) {
    log_error("{}: {}", options.image, text.error().text);
    return 1;
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  using namespace shoal;
  Options options;
  OptionTable table({.program = "shoal-image",
                     .summary = "prints what a saved world holds, without the game that made it",
                     .version = kVersion});
  table.add("image", &options.image, {.help = "the file"});
  table.add("print", &options.print, {{"statistics", Print::Statistics}, {"json", Print::Json}},
            {.help = "a table of its components, or everything as JSON"});
  add_log_level_option(table, &options.log_level);
  return run_program(table, argc, argv, environ, options.log_level, [&] { return print_image(options); });
}
