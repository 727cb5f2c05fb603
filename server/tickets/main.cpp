// shoal-ticket: makes a matchmaker's key, and tickets with it, by hand. A matchmaker links shared/net/ticket.hpp, or
// writes the bytes that are drawn there itself.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/log.hpp"
#include "shared/config/program.hpp"
#include "shared/config/version.hpp"
#include "shared/net/handshake.hpp"
#include "shared/net/key_file.hpp"
#include "shared/net/ticket.hpp"

extern "C" char** environ;

namespace shoal {
namespace {

constexpr const char* kUsage =
    R"(shoal-ticket: keys and tickets of a matchmaker, for servers with --join ticket

Usage: shoal-ticket COMMAND [options]

  keygen --out FILE                           draw a secret key, keep it in a new file, print its public key
  public --key FILE                           print the public key of a file
  mint --key FILE --player NAME --audience A  print a ticket for one player and one server
  show TICKET                                 print what a ticket says; with --issuer KEY whether it is genuine

The public key is for shoal-server --ticket-issuer; A is its --audience or, when it has none, its server key.
shoal-ticket COMMAND --help tells the options of each. The code is shared/net/ticket.hpp.
)";

struct Options {
  std::string key;
  std::string out;
  std::string player;
  std::string audience;
  std::int64_t valid_seconds = 60;
  std::string issuer;
  LogLevel log_level = LogLevel::Info;
};

void print(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
}

int fail(std::string_view why) {
  log_error("{}", why);
  return 2;
}

int keygen(const Options& options) {
  if (options.out.empty()) return fail("keygen needs --out FILE: where the secret key is kept");
  SystemEntropy entropy;
  const auto key = make_key_file(options.out, kTicketSigningKey, entropy);
  if (!key) return fail(key.error());
  print(to_string(SignatureKey(*key).public_key()));
  return 0;
}

int print_public(const Options& options) {
  if (options.key.empty()) return fail("public needs --key FILE: made by shoal-ticket keygen");
  const auto key = read_key_file(options.key, kTicketSigningKey);
  if (!key) return fail(key.error());
  print(to_string(SignatureKey(*key).public_key()));
  return 0;
}

int mint(const Options& options) {
  if (options.key.empty()) return fail("mint needs --key FILE: made by shoal-ticket keygen");
  for (const auto& [name, value] :
       {std::pair("--player", &options.player), {"--audience", &options.audience}}) {
    if (value->empty() || value->size() > kMaxTicketNameBytes)
      return fail(fmt::format("mint needs {} NAME, of 1 to {} bytes", name, kMaxTicketNameBytes));
  }
  const auto key = read_key_file(options.key, kTicketSigningKey);
  if (!key) return fail(key.error());
  SystemEntropy entropy;
  print(to_text(mint_ticket(SignatureKey(*key), options.player, options.audience,
                            SystemWallClock().unix_seconds(), options.valid_seconds, entropy)));
  return 0;
}

// 0: it may be used now, as far as can be told without the server.
int show(const Options& options, std::string_view text) {
  if (text.empty()) return fail("show needs the ticket: shoal-ticket show TICKET");
  const auto bytes = ticket_from_text(text);
  const auto ticket = bytes ? read_ticket(*bytes) : std::nullopt;
  if (!ticket) return fail("that is no ticket, or a part of one is missing");
  const std::int64_t now = SystemWallClock().unix_seconds();
  const bool is_in_time = ticket->issued_unix <= now && now <= ticket->expires_unix;
  std::string id;
  for (const std::uint8_t byte : ticket->id) id += fmt::format("{:02x}", byte);
  print(fmt::format("player     {}", printable(ticket->player)));
  print(fmt::format("audience   {}", printable(ticket->audience)));
  print(fmt::format("id         {}", id));
  print(fmt::format("issued     {} ({} s ago)", ticket->issued_unix, now - ticket->issued_unix));
  print(fmt::format("expires    {} ({})", ticket->expires_unix,
                    now <= ticket->expires_unix ? fmt::format("in {} s", ticket->expires_unix - now)
                                                : fmt::format("{} s ago", now - ticket->expires_unix)));
  print(fmt::format("time       {}", is_in_time ? "good" : "not good now"));
  bool is_genuine = true;
  if (options.issuer.empty()) {
    print("signature  not looked at: say whose it should be with --issuer");
  } else {
    const auto issuer = parse_public_key(options.issuer);
    if (!issuer) return fail("--issuer: a public key is 64 hexadecimal digits");
    is_genuine = open_ticket(*bytes, *issuer).ok();
    print(fmt::format("signature  {}",
                      is_genuine ? "good" : "not good: another key signed it, or it was changed"));
  }
  return is_in_time && is_genuine ? 0 : 1;
}

OptionTable table_of(std::string_view command, std::string summary, Options& options) {
  OptionTable table({.program = fmt::format("shoal-ticket {}", command),
                     .summary = std::move(summary),
                     .version = kVersion});
  if (command == "keygen") table.add("out", &options.out, {.help = "new file for the secret key"});
  if (command == "mint" || command == "public")
    table.add("key", &options.key, {.help = "file with the matchmaker's secret key"});
  if (command == "mint") {
    table.add("player", &options.player, {.help = "the matchmaker's name for the player, always the same"});
    table.add("audience", &options.audience,
              {.help = "the server's --audience or, when it has none, its public key"});
    table.add("valid", &options.valid_seconds,
              {.help = "how many seconds it may be used, from now on", .min = 1, .max = 31'536'000});
  }
  if (command == "show")
    table.add("issuer", &options.issuer, {.help = "public key that should have signed it"});
  add_log_level_option(table, &options.log_level);
  return table;
}

int run_main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "--help" || command == "-h" || command == "help")
    return std::fputs(kUsage, stdout) < 0 ? 1 : 0;
  if (command == "--version") return print(fmt::format("shoal-ticket {}", kVersion)), 0;
  std::vector<const char*> arguments(argv, argv + argc);
  if (argc > 1) arguments.erase(arguments.begin() + 1);  // the command
  std::string summary;
  std::string shown;
  if (command == "keygen") summary = "draws a matchmaker's secret key and prints the public one";
  if (command == "public") summary = "prints the public key of a matchmaker's secret one";
  if (command == "mint") summary = "prints a ticket for one player and one server";
  if (command == "show") {
    summary = "prints what the ticket TICKET, the word behind show, says; 0 if it may be used now";
    if (argc > 2 && argv[2][0] != '-') {
      shown = argv[2];
      arguments.erase(arguments.begin() + 1);
    }
  }
  if (summary.empty()) {
    std::fputs(kUsage, stderr);
    if (!command.empty())
      std::fputs(fmt::format("\nthere is no command {}\n", printable(command)).c_str(), stderr);
    return 2;
  }
  Options options;
  OptionTable table = table_of(command, summary, options);
  return run_program(table, static_cast<int>(arguments.size()), arguments.data(), environ, options.log_level,
                     [&] {
                       if (command == "keygen") return keygen(options);
                       if (command == "public") return print_public(options);
                       if (command == "mint") return mint(options);
                       return show(options, shown);
                     });
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  return shoal::run_main(argc, argv);
}
