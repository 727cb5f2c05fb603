// What decides who may join: tickets, resume tickets, ban lists and ranges, and the bodies of a handshake once they are
// opened. Whatever is read must be read back the same, and what was changed must not pass.
//
// An input: what it is (see `Part`), then its bytes.
#include "shared/net/admission.hpp"
#include "shared/net/ticket.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace shoal::fuzz {
namespace {

enum class Part : std::uint8_t { Ticket, TicketText, Resume, BanList, Range, Handshake, Claim };
constexpr std::uint32_t kParts = 7;
constexpr std::int64_t kNow = 1'800'000'000;

const SignatureKey& issuer() {
  static const SignatureKey key{Secret{}};
  return key;
}

std::vector<std::byte> signed_ticket(std::string_view player, std::string_view audience) {
  return mint_ticket(issuer(),
                     Ticket{{1, 2, 3}, kNow, kNow + 60, std::string(player), std::string(audience)});
}

void try_ticket(std::span<const std::byte> bytes) {
  const auto read = read_ticket(bytes);
  const auto opened = open_ticket(bytes, issuer().public_key());
  SHOAL_ASSERT(read || !opened, "what opens can be read");
  if (!opened) return;
  // Only the issuer signs, so this is the seed's ticket or one made from it by nothing.
  SHOAL_ASSERT(mint_ticket(issuer(), *opened) == std::vector(bytes.begin(), bytes.end()),
               "a ticket has one form, and a signature that holds");
}

void try_handshake(std::span<const std::byte> bytes) {
  BodyBuffer buffer;
  const auto body = bytes.first(std::min(bytes.size(), buffer.bytes.size()));
  std::copy(body.begin(), body.end(), buffer.bytes.begin());
  const std::span<const std::byte> aligned(buffer.bytes.data(), body.size());
  (void)read_hello(aligned);
  (void)read_challenge(aligned);
  if (const auto response = read_response(aligned)) {
    SHOAL_ASSERT(response->credentials.size() <= kMaxCredentialBytes, "credentials are bounded");
    for (const SchemaEntry& entry : read_response_components(aligned))
      SHOAL_ASSERT(entry.name.size() <= kMaxDetailBytes, "names are bounded");
  }
  if (const auto accept = read_accept(aligned))
    SHOAL_ASSERT(accept->resume_ticket.size() <= kMaxCredentialBytes, "resume tickets are bounded");
  if (const auto refuse = read_refuse(aligned)) {
    SHOAL_ASSERT(refuse->detail.size() <= kMaxDetailBytes, "details are bounded");
    for (const char c : refuse->detail) SHOAL_ASSERT(static_cast<unsigned char>(c) >= 0x20, "and printable");
  }
}

// Any credentials of any kind, to a server of any mode: nobody gets in by chance.
void try_claim(FuzzInput& input) {
  ManualWallClock clock(kNow - 1);
  AdmissionConfig config;
  config.mode = static_cast<JoinMode>(1 + input.below(2));
  config.password = "the word";
  config.ticket_issuer = issuer().public_key();
  config.audience = "eu-1";
  Admission admission(config, AgreementKey(Secret{}), clock);
  clock.set(kNow);
  const auto kind = static_cast<CredentialKind>(input.below(4));
  const auto credentials = input.rest();
  const auto admitted = admission.judge({kind, credentials, PublicKey{{7}}});
  if (!admitted) return;
  const auto word = std::as_bytes(std::span(config.password));
  const bool knows_it = std::equal(credentials.begin(), credentials.end(), word.begin(), word.end());
  SHOAL_ASSERT((config.mode == JoinMode::Password && kind == CredentialKind::Password && knows_it) ||
                   (config.mode == JoinMode::Ticket && kind == CredentialKind::Ticket &&
                    open_ticket(credentials, issuer().public_key()).ok()),
               "only the right credentials admit");
}

void run(FuzzInput input) {
  const auto part = static_cast<Part>(input.below(kParts));
  if (part == Part::Claim) return try_claim(input);
  const auto bytes = input.rest();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  switch (part) {
    case Part::Ticket:
      return try_ticket(bytes);
    case Part::TicketText: {
      const auto ticket = ticket_from_text(text);
      if (!ticket) return;
      try_ticket(*ticket);
      SHOAL_ASSERT(ticket_from_text(to_text(*ticket)) == ticket, "the text form comes back");
      return;
    }
    case Part::Resume: {
      const ResumeTicketMint mint(Secret{}, Digest256{});
      SHOAL_ASSERT(!mint.open(bytes), "only the server makes resume tickets");
      return;
    }
    case Part::BanList: {
      const auto list = parse_ban_list(text);
      if (list) SHOAL_ASSERT(list->size() <= text.size(), "an entry has a line");
      return;
    }
    case Part::Range: {
      const auto range = parse_address_range(text);
      if (!range) return;
      SHOAL_ASSERT(range->prefix_bits <= 128, "a prefix fits an address");
      SHOAL_ASSERT(range->contains({range->address, 1}), "a range holds its own address");
      return;
    }
    case Part::Handshake:
      return try_handshake(bytes);
    case Part::Claim:
      return;
  }
}

SeedWriter part(Part which) {
  return SeedWriter().byte(static_cast<unsigned>(which));
}

}  // namespace

std::vector<Seed> seeds() {
  const auto ticket = signed_ticket("ann", "eu-1");
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(
      protocol::CreateRefuse(builder, protocol::RefuseReason::Banned, builder.CreateString("why")));
  const auto refuse = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return {
      {"ticket", part(Part::Ticket).bytes(ticket).written()},
      {"ticket_text", part(Part::TicketText).text(to_text(ticket)).written()},
      {"resume", part(Part::Resume).bytes(ticket).written()},
      {"bans",
       part(Part::BanList)
           .text("203.0.113.7\n198.51.100.0/24 # why\nplayer 0123456789abcdef0123456789abcdef\n\nfc00::/7\n")
           .written()},
      {"range", part(Part::Range).text("2001:db8::/33").written()},
      {"refuse", part(Part::Handshake).bytes(refuse).written()},
      {"claim_password", part(Part::Claim).byte(0).byte(1).text("the word").written()},
      {"claim_ticket", part(Part::Claim).byte(1).byte(2).bytes(ticket).written()},
  };
}

}  // namespace shoal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  shoal::fuzz::run(shoal::fuzz::FuzzInput(bytes, size));
  return 0;
}
