#include "shared/net/ticket.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <limits>

#include "tests/unit/net/hex.hpp"

namespace shoal {
namespace {

class TicketTest : public ::testing::Test {
 protected:
  std::vector<std::byte> mint(std::string player = "ann", std::string audience = "arena-1") {
    return mint_ticket(issuer, player, audience, 1'800'000'000, 60, entropy);
  }
  TicketError error(std::span<const std::byte> bytes) {
    const auto ticket = open_ticket(bytes, issuer.public_key());
    EXPECT_FALSE(ticket.ok());
    return ticket.ok() ? TicketError{255} : ticket.error();
  }

  SeededEntropy entropy{1};
  SignatureKey issuer = SignatureKey::make(entropy);
};

TEST_F(TicketTest, SaysWhatItWasMintedWith) {
  const auto ticket = open_ticket(mint(), issuer.public_key());
  ASSERT_TRUE(ticket.ok());
  EXPECT_EQ(ticket->player, "ann");
  EXPECT_EQ(ticket->audience, "arena-1");
  EXPECT_EQ(ticket->issued_unix, 1'800'000'000);
  EXPECT_EQ(ticket->expires_unix, 1'800'000'060);
  EXPECT_NE(ticket->id, open_ticket(mint(), issuer.public_key())->id) << "two tickets never share an id";
}

TEST_F(TicketTest, LiesAsTheDrawingSays) {
  Ticket ticket;
  ticket.id[0] = 0xA1;
  ticket.issued_unix = 0x0102030405060708;
  ticket.expires_unix = -2;
  ticket.player = "ann";
  ticket.audience = "x";
  const std::string digits = to_hex(mint_ticket(issuer, ticket));
  EXPECT_EQ(digits.substr(0, digits.size() - 128),
            "53485431"
            "a1000000000000000000000000000000"
            "0807060504030201"
            "feffffffffffffff"
            "03616e6e"
            "0178");
}

TEST_F(TicketTest, EveryFlippedBitIsRefused) {
  const auto bytes = mint();
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto changed = bytes;
    changed[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    EXPECT_FALSE(open_ticket(changed, issuer.public_key()).ok()) << bit;
  }
}

TEST_F(TicketTest, EveryTruncationAndEveryExtensionIsMalformed) {
  auto bytes = mint();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(error(std::span(bytes).first(size)), TicketError::Malformed) << size;
  bytes.push_back({});
  EXPECT_EQ(error(bytes), TicketError::Malformed);
}

TEST_F(TicketTest, AnotherIssuersIsRefusedAndCanBeRead) {
  const SignatureKey other = SignatureKey::make(entropy);
  const auto bytes = mint_ticket(other, "ann", "arena-1", 1, 1, entropy);
  EXPECT_EQ(error(bytes), TicketError::WrongIssuer);
  ASSERT_TRUE(read_ticket(bytes));
  EXPECT_EQ(read_ticket(bytes)->player, "ann");
}

TEST_F(TicketTest, SignatureOfTheSameBytesForAnotherUseIsRefused) {
  auto bytes = mint();
  const Signature plain = issuer.sign(std::span(bytes).first(bytes.size() - sizeof(Signature)));
  std::copy_n(std::as_bytes(std::span(plain.bytes)).begin(), sizeof plain, bytes.end() - sizeof plain);
  EXPECT_EQ(error(bytes), TicketError::WrongIssuer);
}

TEST_F(TicketTest, NamesHaveOneTo64Bytes) {
  const std::string longest(kMaxTicketNameBytes, 'n');
  const auto ticket = open_ticket(mint(longest, longest), issuer.public_key());
  ASSERT_TRUE(ticket.ok());
  EXPECT_EQ(ticket->player, longest);
  EXPECT_EQ(ticket->audience, longest);
  EXPECT_DEATH(mint(""), "1 to 64 bytes");
  EXPECT_DEATH(mint("ann", ""), "1 to 64 bytes");
  EXPECT_DEATH(mint(longest + "n"), "1 to 64 bytes");
}

// What a matchmaker of somebody else's might sign.
TEST_F(TicketTest, SignedNamesOfNoneOr65BytesAreMalformed) {
  for (const std::size_t length : {std::size_t{0}, kMaxTicketNameBytes + 1, std::size_t{255}}) {
    for (const bool is_player : {true, false}) {
      const auto whole = mint();
      std::vector<std::byte> bytes(whole.begin(), whole.begin() + 36);
      for (const bool this_one : {is_player, !is_player}) {
        const std::size_t size = this_one ? length : 3;
        bytes.push_back(static_cast<std::byte>(size));
        bytes.resize(bytes.size() + size, std::byte{'n'});
      }
      const Digest256 digest = Hasher("shoal ticket").add(bytes).finish();
      const Signature signature = issuer.sign(std::as_bytes(std::span(digest)));
      const auto raw = std::as_bytes(std::span(signature.bytes));
      bytes.insert(bytes.end(), raw.begin(), raw.end());
      EXPECT_EQ(error(bytes), TicketError::Malformed) << length;
    }
  }
}

TEST_F(TicketTest, TextFormIsReadAsItIsWritten) {
  for (const std::size_t length : {1u, 2u, 3u, 64u}) {
    const auto bytes = mint(std::string(length, '\xFF'), std::string(length, 'a'));
    const std::string text = to_text(bytes);
    EXPECT_EQ(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
              std::string::npos);
    EXPECT_EQ(ticket_from_text(text), bytes);
  }
}

TEST_F(TicketTest, AnythingElseIsNoText) {
  const std::string text = to_text(mint());
  EXPECT_FALSE(ticket_from_text(text + "="));
  EXPECT_FALSE(ticket_from_text(text.substr(1) + "+"));
  EXPECT_FALSE(ticket_from_text(" " + text));
  EXPECT_FALSE(ticket_from_text(text + "\n"));
  EXPECT_FALSE(ticket_from_text(std::string(2000, 'A'))) << "longer than any ticket";
}

}  // namespace
}  // namespace shoal
