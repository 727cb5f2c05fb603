#include "shared/net/admission.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/net/hex.hpp"

namespace shoal {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kStart = 1'800'000'000;
const Endpoint kPeer = Endpoint::ipv4(203, 0, 113, 1, 5000);

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionConfig open_to_all() { return {}; }
  AdmissionConfig with_password(std::string password = "sesame") {
    return {.mode = JoinMode::Password, .password = std::move(password)};
  }
  AdmissionConfig with_tickets() {
    return {.mode = JoinMode::Ticket, .ticket_issuer = issuer.public_key(), .audience = "arena-1"};
  }
  /// As a start of the server; a second one is a restart.
  Admission& start(AdmissionConfig config) {
    admission = std::make_unique<Admission>(std::move(config), identity, wall_clock);
    wall_clock.set(wall_clock.unix_seconds() + 1);  // tickets of the second of the start are not taken
    return *admission;
  }
  std::vector<std::byte> ticket(std::string_view player = "ann", std::string_view audience = "arena-1",
                                std::int64_t valid_seconds = 60) {
    return mint_ticket(issuer, player, audience, wall_clock.unix_seconds(), valid_seconds, entropy);
  }
  Result<Admitted, RefuseBody> judge(CredentialKind kind, std::span<const std::byte> credentials,
                                     const PublicKey& key) {
    return admission->judge({kind, credentials, key});
  }
  RefuseReason reason(CredentialKind kind, std::span<const std::byte> credentials, const PublicKey& key) {
    const auto answer = judge(kind, credentials, key);
    EXPECT_FALSE(answer.ok()) << "it was admitted";
    return answer.ok() ? RefuseReason::Unspecified : answer.error().reason;
  }
  Admitted join(CredentialKind kind, std::span<const std::byte> credentials, const PublicKey& key) {
    auto answer = judge(kind, credentials, key);
    EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : to_string(answer.error().reason));
    if (answer.ok()) admission->admit(*answer, kPeer, now);
    return answer.ok() ? *answer : Admitted{};
  }

  SeededEntropy entropy{1};
  ManualWallClock wall_clock{kStart - 1};  // kStart after the first start
  Time now{seconds{1000}};
  AgreementKey identity = AgreementKey::make(entropy);
  SignatureKey issuer = SignatureKey::make(entropy);
  PublicKey ann{{1}};
  PublicKey bob{{2}};
  std::unique_ptr<Admission> admission;
};

TEST_F(AdmissionTest, OpenAdmitsEveryoneAsThePlayerOfTheirKey) {
  start(open_to_all());
  const auto nonsense = from_hex("00112233");
  for (const CredentialKind kind :
       {CredentialKind::None, CredentialKind::Password, CredentialKind::Ticket, CredentialKind::Resume}) {
    const auto answer = judge(kind, nonsense, ann);
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer->player, player_of_key(ann));
    EXPECT_EQ(answer->name, "");
    EXPECT_FALSE(answer->ticket);
  }
  EXPECT_NE(player_of_key(ann), player_of_key(bob));
}

TEST_F(AdmissionTest, PasswordAdmitsWhoKnowsIt) {
  start(with_password());
  EXPECT_EQ(join(CredentialKind::Password, bytes_of("sesame"), ann).player, player_of_key(ann));
  for (const char* wrong : {"", "s", "sesam", "sesamE", "sesame ", "esames"})
    EXPECT_EQ(reason(CredentialKind::Password, bytes_of(wrong), ann), RefuseReason::WrongPassword) << wrong;
  EXPECT_EQ(reason(CredentialKind::Password, bytes_of(std::string_view("sesame\0", 7)), ann),
            RefuseReason::WrongPassword);
}

TEST_F(AdmissionTest, PasswordModeRefusesEveryOtherKindOfCredentials) {
  start(with_password());
  EXPECT_EQ(reason(CredentialKind::None, bytes_of("sesame"), ann), RefuseReason::WrongPassword);
  EXPECT_EQ(reason(CredentialKind::Ticket, bytes_of("sesame"), ann), RefuseReason::WrongPassword);
  EXPECT_EQ(reason(CredentialKind::Ticket, ticket(), ann), RefuseReason::WrongPassword);
  EXPECT_EQ(reason(CredentialKind::Resume, bytes_of("sesame"), ann), RefuseReason::TicketExpired);
  const auto answer = judge(CredentialKind::None, {}, ann);
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().detail, HasSubstr("none was given"));
}

TEST_F(AdmissionTest, TicketAdmitsThePlayerItNames) {
  start(with_tickets());
  const Admitted admitted = join(CredentialKind::Ticket, ticket(), ann);
  EXPECT_EQ(admitted.player, player_of_ticket("ann"));
  EXPECT_EQ(admitted.name, "ann");
  EXPECT_EQ(join(CredentialKind::Ticket, ticket(), bob).player, admitted.player) << "with a new key, too";
  EXPECT_NE(join(CredentialKind::Ticket, ticket("bob"), bob).player, admitted.player);
}

TEST_F(AdmissionTest, TicketModeRefusesEveryOtherKindOfCredentials) {
  start(with_tickets());
  EXPECT_EQ(reason(CredentialKind::None, {}, ann), RefuseReason::TicketRequired);
  EXPECT_EQ(reason(CredentialKind::Password, ticket(), ann), RefuseReason::TicketRequired);
  EXPECT_EQ(reason(CredentialKind::Resume, ticket(), ann), RefuseReason::TicketExpired);
}

TEST_F(AdmissionTest, TicketThatIsNoneOrOfAnotherIssuerIsForged) {
  start(with_tickets());
  EXPECT_EQ(reason(CredentialKind::Ticket, {}, ann), RefuseReason::TicketForged);
  EXPECT_EQ(reason(CredentialKind::Ticket, bytes_of("SHT1"), ann), RefuseReason::TicketForged);
  const auto others = mint_ticket(SignatureKey::make(entropy), "ann", "arena-1", kStart, 60, entropy);
  EXPECT_EQ(reason(CredentialKind::Ticket, others, ann), RefuseReason::TicketForged);
}

TEST_F(AdmissionTest, TicketForAnotherServerIsForeign) {
  start(with_tickets());
  EXPECT_EQ(reason(CredentialKind::Ticket, ticket("ann", "arena-2"), ann), RefuseReason::TicketForeign);
  EXPECT_EQ(reason(CredentialKind::Ticket, ticket("ann", "arena-10"), ann), RefuseReason::TicketForeign);
  const auto answer = judge(CredentialKind::Ticket, ticket("ann", "a\nb"), ann);
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().detail, HasSubstr("'a?b'")) << "fit for a log line";
}

TEST_F(AdmissionTest, WithoutAudienceTicketsAreForTheServersKey) {
  AdmissionConfig config = with_tickets();
  config.audience.clear();
  start(config);
  join(CredentialKind::Ticket, ticket("ann", to_string(identity.public_key())), ann);
  EXPECT_EQ(reason(CredentialKind::Ticket, ticket("ann", "arena-1"), ann), RefuseReason::TicketForeign);
}

TEST_F(AdmissionTest, TicketIsGoodToItsLastSecondAndFiveForClocksThatDiffer) {
  start(with_tickets());
  const auto shown = ticket("ann", "arena-1", 60);
  wall_clock.set(kStart + 65);
  EXPECT_TRUE(judge(CredentialKind::Ticket, shown, ann).ok());
  wall_clock.set(kStart + 66);
  EXPECT_EQ(reason(CredentialKind::Ticket, shown, ann), RefuseReason::TicketExpired);
}

TEST_F(AdmissionTest, TicketOfAMatchmakerWhoseClockIsAheadIsGoodWhenItsTimeHasCome) {
  start(with_tickets());
  const auto shown = mint_ticket(issuer, "ann", "arena-1", kStart + 30, 60, entropy);
  const auto answer = judge(CredentialKind::Ticket, shown, ann);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().reason, RefuseReason::Busy) << "for which clients try again by themselves";
  EXPECT_THAT(answer.error().detail, HasSubstr("clock is 30 s ahead"));
  wall_clock.set(kStart + 30);
  EXPECT_TRUE(judge(CredentialKind::Ticket, shown, ann).ok());
}

// T3: a restart forgets who used which ticket.
TEST_F(AdmissionTest, UsedTicketIsNotGoodAgainAfterARestart) {
  start(with_tickets());
  const auto shown = ticket();
  join(CredentialKind::Ticket, shown, ann);
  start(with_tickets());  // in the second in which the ticket was issued and used
  const auto answer = judge(CredentialKind::Ticket, shown, bob);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().reason, RefuseReason::TicketExpired);
  EXPECT_THAT(answer.error().detail, HasSubstr("start"));
  wall_clock.set(kStart + 10);
  start(with_tickets());
  EXPECT_EQ(reason(CredentialKind::Ticket, shown, bob), RefuseReason::TicketExpired);
  EXPECT_TRUE(judge(CredentialKind::Ticket, ticket(), bob).ok()) << "a new one is good";
}

// At the bounds of what the bytes can say; a sanitizer looks at the sums.
TEST_F(AdmissionTest, TicketMayBeGoodForEver) {
  start(with_tickets());
  Ticket for_ever{{1}, kStart, std::numeric_limits<std::int64_t>::max(), "ann", "arena-1"};
  const auto shown = mint_ticket(issuer, for_ever);
  join(CredentialKind::Ticket, shown, ann);
  wall_clock.set(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(reason(CredentialKind::Ticket, shown, bob), RefuseReason::TicketUsed);
  Ticket never{{2}, kStart, std::numeric_limits<std::int64_t>::min(), "ann", "arena-1"};
  EXPECT_EQ(reason(CredentialKind::Ticket, mint_ticket(issuer, never), ann), RefuseReason::TicketExpired);
}

TEST_F(AdmissionTest, TicketAdmitsOneKeyOnly) {
  start(with_tickets());
  const auto shown = ticket();
  ASSERT_TRUE(judge(CredentialKind::Ticket, shown, bob).ok());
  join(CredentialKind::Ticket, shown, ann);
  EXPECT_EQ(reason(CredentialKind::Ticket, shown, bob), RefuseReason::TicketUsed)
      << "the judgement used nothing up";
  EXPECT_EQ(join(CredentialKind::Ticket, shown, ann).player, player_of_ticket("ann")) << "an Accept was lost";
  wall_clock.set(kStart + 65);
  EXPECT_EQ(reason(CredentialKind::Ticket, shown, bob), RefuseReason::TicketUsed) << "as long as it is good";
}

TEST_F(AdmissionTest, UsedTicketIsNotGoodAgainWhenTheClockJumpsAheadAndBack) {
  start(with_tickets());
  const auto used = ticket();
  join(CredentialKind::Ticket, used, ann);
  wall_clock.set(kStart + 10'000);
  join(CredentialKind::Ticket, ticket("carl"), PublicKey{{3}});
  wall_clock.set(kStart);
  EXPECT_EQ(reason(CredentialKind::Ticket, used, bob), RefuseReason::TicketExpired);
  join(CredentialKind::Ticket, ticket("dora", "arena-1", 61), PublicKey{{4}});
}

TEST_F(AdmissionTest, FullMemoryOfTicketsIsBusyUntilOneExpires) {
  AdmissionConfig config = with_tickets();
  config.max_used_tickets = 2;
  start(config);
  join(CredentialKind::Ticket, ticket("ann", "arena-1", 60), ann);
  join(CredentialKind::Ticket, ticket("bob", "arena-1", 100), bob);
  EXPECT_EQ(reason(CredentialKind::Ticket, ticket("cid", "arena-1", 100), PublicKey{{3}}),
            RefuseReason::Busy);
  wall_clock.set(kStart + 66);
  EXPECT_TRUE(judge(CredentialKind::Ticket, ticket("cid"), PublicKey{{3}}).ok());
}

TEST_F(AdmissionTest, ResumesInEachMode) {
  for (const AdmissionConfig& config : {open_to_all(), with_password(), with_tickets()}) {
    start(config);
    const auto credentials =
        config.mode == JoinMode::Ticket
            ? ticket()
            : std::vector<std::byte>(bytes_of("sesame").begin(), bytes_of("sesame").end());
    const auto kind = config.mode == JoinMode::Ticket ? CredentialKind::Ticket : CredentialKind::Password;
    const Admitted first = join(kind, credentials, ann);
    const auto note = admission->resume_ticket(first, entropy);
    EXPECT_LE(note.size(), kMaxCredentialBytes);
    start(config);  // the same identity, nothing else is kept
    const Admitted again = join(CredentialKind::Resume, note, ann);
    EXPECT_EQ(again.player, first.player);
    EXPECT_EQ(again.name, first.name);
    EXPECT_FALSE(again.ticket) << "nothing is used up";
  }
}

TEST_F(AdmissionTest, ResumeTicketIsGoodForItsKeyAndItsTimeOnly) {
  start(with_password());
  const auto note =
      admission->resume_ticket(join(CredentialKind::Password, bytes_of("sesame"), ann), entropy);
  EXPECT_EQ(reason(CredentialKind::Resume, note, bob), RefuseReason::TicketExpired);
  wall_clock.set(kStart + 24 * 3600);
  EXPECT_TRUE(judge(CredentialKind::Resume, note, ann).ok());
  wall_clock.set(kStart + 24 * 3600 + 1);
  EXPECT_EQ(reason(CredentialKind::Resume, note, ann), RefuseReason::TicketExpired);
}

TEST_F(AdmissionTest, ResumeTicketOfAnotherKeyIsNobodyInOpenMode) {
  start(open_to_all());
  const auto note = admission->resume_ticket(join(CredentialKind::None, {}, ann), entropy);
  EXPECT_EQ(join(CredentialKind::Resume, note, bob).player, player_of_key(bob))
      << "a player, but not the one";
}

TEST_F(AdmissionTest, NewPasswordModeIssuerOrIdentityEndsResumeTickets) {
  start(with_password());
  const auto note =
      admission->resume_ticket(join(CredentialKind::Password, bytes_of("sesame"), ann), entropy);
  start(with_password("sesame2"));
  EXPECT_EQ(reason(CredentialKind::Resume, note, ann), RefuseReason::TicketExpired);
  start(with_tickets());
  EXPECT_EQ(reason(CredentialKind::Resume, note, ann), RefuseReason::TicketExpired);
  start(with_password());
  EXPECT_TRUE(judge(CredentialKind::Resume, note, ann).ok());
  identity = AgreementKey::make(entropy);
  start(with_password());
  EXPECT_EQ(reason(CredentialKind::Resume, note, ann), RefuseReason::TicketExpired);

  start(with_tickets());
  const auto of_ticket = admission->resume_ticket(join(CredentialKind::Ticket, ticket(), ann), entropy);
  issuer = SignatureKey::make(entropy);
  start(with_tickets());
  EXPECT_EQ(reason(CredentialKind::Resume, of_ticket, ann), RefuseReason::TicketExpired);
}

TEST_F(AdmissionTest, ResumeTicketOfAnotherAudienceIsNotTakenThoughTheServersShareAKey) {
  start(with_tickets());
  const auto note = admission->resume_ticket(join(CredentialKind::Ticket, ticket(), ann), entropy);
  AdmissionConfig other = with_tickets();
  other.audience = "arena-2";
  start(other);
  EXPECT_EQ(reason(CredentialKind::Resume, note, ann), RefuseReason::TicketExpired);
  start(with_tickets());
  EXPECT_EQ(join(CredentialKind::Resume, note, ann).player, player_of_ticket("ann"));
}

TEST_F(AdmissionTest, BannedAddressStopsAtTheDoorAndBannedPlayerWhateverTheyShow) {
  start(with_tickets());
  const Admitted ann_admitted = join(CredentialKind::Ticket, ticket(), ann);
  const auto note = admission->resume_ticket(ann_admitted, entropy);
  admission->set_bans(parse_ban_list("198.51.100.0/24\nplayer " + to_string(ann_admitted.player)).value());
  EXPECT_FALSE(admission->stop_at_the_door(kPeer, now));
  const auto stopped = admission->stop_at_the_door(Endpoint::ipv4(198, 51, 100, 7, 1), now);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->reason, RefuseReason::Banned);
  EXPECT_EQ(reason(CredentialKind::Ticket, ticket(), bob), RefuseReason::Banned);
  EXPECT_EQ(reason(CredentialKind::Resume, note, ann), RefuseReason::Banned);
  EXPECT_TRUE(judge(CredentialKind::Ticket, ticket("bob"), bob).ok());
}

TEST_F(AdmissionTest, TooManyHandshakesOfAnAddressAreBusy) {
  AdmissionConfig config;
  config.limits = {.handshakes_per_second = 2, .handshake_burst = 3};
  start(config);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(admission->stop_at_the_door(kPeer, now));
  const auto stopped = admission->stop_at_the_door(kPeer, now);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->reason, RefuseReason::Busy);
  EXPECT_FALSE(admission->stop_at_the_door(kPeer, now + milliseconds{500}));
}

TEST_F(AdmissionTest, SessionsOfAnAddressAreCountedUntilTheyEnd) {
  AdmissionConfig config;
  config.limits.max_sessions = 1;
  start(config);
  EXPECT_TRUE(admission->has_room(kPeer, std::nullopt));
  join(CredentialKind::None, {}, ann);
  EXPECT_FALSE(admission->has_room(kPeer, std::nullopt));
  EXPECT_FALSE(admission->has_room(kPeer, Endpoint::ipv4(203, 0, 113, 2, 1)));
  EXPECT_TRUE(admission->has_room(kPeer, Endpoint::ipv4(203, 0, 113, 1, 1))) << "that one ends for this one";
  admission->left(kPeer);
  EXPECT_TRUE(admission->has_room(kPeer, std::nullopt));
}

}  // namespace
}  // namespace shoal
