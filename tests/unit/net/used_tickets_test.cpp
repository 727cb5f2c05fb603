#include "shared/net/used_tickets.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace shoal {
namespace {

using Answer = UsedTickets::Answer;

TicketId id(std::uint32_t number) {
  TicketId result{};
  std::memcpy(result.data(), &number, sizeof number);
  return result;
}
const PublicKey kAnn{{1}};
const PublicKey kBob{{2}};

TEST(UsedTickets, AnotherKeyFindsItUsedUntilItExpires) {
  UsedTickets used(10);
  EXPECT_EQ(used.ask(id(1), kAnn, 160, 100), Answer::Good);
  used.note(id(1), kAnn, 160);
  EXPECT_EQ(used.ask(id(1), kBob, 160, 100), Answer::UsedByAnother);
  EXPECT_EQ(used.ask(id(1), kBob, 160, 160), Answer::UsedByAnother) << "its last second";
  EXPECT_EQ(used.size(), 1u);
  EXPECT_EQ(used.ask(id(1), kBob, 160, 161), Answer::Forgotten) << "whoever asks has looked at the time";
  EXPECT_EQ(used.size(), 0u);
}

TEST(UsedTickets, TheSameKeyMayComeAgain) {
  UsedTickets used(10);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(used.ask(id(1), kAnn, 160, 100), Answer::Good);
    used.note(id(1), kAnn, 160);
  }
  EXPECT_EQ(used.size(), 1u);
  EXPECT_EQ(used.ask(id(1), kBob, 160, 100), Answer::UsedByAnother);
}

TEST(UsedTickets, AskingUsesNothingUp) {
  UsedTickets used(10);
  EXPECT_EQ(used.ask(id(1), kAnn, 160, 100), Answer::Good);
  EXPECT_EQ(used.ask(id(1), kBob, 160, 100), Answer::Good);
  EXPECT_EQ(used.size(), 0u);
}

TEST(UsedTickets, TicketThatWasForgottenIsNotGoodAgainWhenTimeOfDayGoesBack) {
  UsedTickets used(10);
  used.note(id(1), kAnn, 160);
  EXPECT_EQ(used.ask(id(2), kAnn, 1060, 1000), Answer::Good) << "somebody set the clock ahead";
  EXPECT_EQ(used.ask(id(1), kBob, 160, 100), Answer::Forgotten) << "and back";
  EXPECT_EQ(used.ask(id(3), kBob, 161, 100), Answer::Good) << "which ends later than any that was forgotten";
}

// T3: a flood of other tickets must not push a used one out.
TEST(UsedTickets, AFloodEvictsNothingAndIsRefusedWhenTheMemoryIsFull) {
  constexpr std::uint32_t kCapacity = 1000;
  UsedTickets used(kCapacity);
  used.note(id(0), kAnn, 160);
  std::uint32_t refused = 0;
  for (std::uint32_t i = 1; i < 5 * kCapacity; ++i) {
    const Answer answer = used.ask(id(i), kBob, 160 + i, 100);
    if (answer == Answer::Good) used.note(id(i), kBob, 160 + i);
    refused += answer == Answer::Full;
  }
  EXPECT_EQ(used.size(), kCapacity);
  EXPECT_EQ(refused, 4 * kCapacity);
  EXPECT_EQ(used.ask(id(0), kBob, 160, 100), Answer::UsedByAnother);
  EXPECT_EQ(used.ask(id(0), kAnn, 160, 100), Answer::Good) << "who is known is not refused for a full memory";
  EXPECT_EQ(used.ask(id(9999), kBob, 230, 161), Answer::Good) << "what expired made room";
}

}  // namespace
}  // namespace shoal
