#include "shared/net/resume_ticket.hpp"

#include <gtest/gtest.h>

#include "shared/net/handshake.hpp"
#include "shared/net/ticket.hpp"

namespace shoal {
namespace {

class ResumeTicketTest : public ::testing::Test {
 protected:
  SeededEntropy entropy{1};
  Secret identity = Secret::random(entropy);
  ResumeTicketMint mint{identity, Digest256{1}};
  ResumeTicket ticket{PlayerId{{1, 2, 3}}, PublicKey{{4, 5, 6}}, "ann", 1'800'000'000};
};

TEST_F(ResumeTicketTest, OpensForWhoMadeIt) {
  for (const std::string& name : {std::string(), std::string("ann"), std::string(kMaxTicketNameBytes, 'n')}) {
    ticket.name = name;
    const auto bytes = mint.make(ticket, entropy);
    EXPECT_LE(bytes.size(), kMaxCredentialBytes);
    const auto opened = ResumeTicketMint(identity, Digest256{1}).open(bytes);
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->player, ticket.player);
    EXPECT_EQ(opened->player_key, ticket.player_key);
    EXPECT_EQ(opened->name, name);
    EXPECT_EQ(opened->expires_unix, ticket.expires_unix);
  }
}

TEST_F(ResumeTicketTest, AnotherIdentityOrAdmissionDoesNotOpenIt) {
  const auto bytes = mint.make(ticket, entropy);
  EXPECT_FALSE(ResumeTicketMint(identity, Digest256{2}).open(bytes));
  EXPECT_FALSE(ResumeTicketMint(Secret::random(entropy), Digest256{1}).open(bytes));
}

TEST_F(ResumeTicketTest, EveryFlippedBitAndEveryTruncationIsRefused) {
  auto bytes = mint.make(ticket, entropy);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto changed = bytes;
    changed[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    EXPECT_FALSE(mint.open(changed)) << bit;
  }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(mint.open(std::span(bytes).first(size))) << size;
  bytes.push_back({});
  EXPECT_FALSE(mint.open(bytes));
}

TEST_F(ResumeTicketTest, ShowsNothingAndNoTwoAreAlike) {
  const auto bytes = mint.make(ticket, entropy);
  EXPECT_NE(bytes, mint.make(ticket, entropy));
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_EQ(text.find("ann"), std::string::npos);
}

}  // namespace
}  // namespace shoal
