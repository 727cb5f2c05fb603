#include "server/fleet/agones_plan.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace shoal {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// A plan and a side-car of few words, under virtual time.
class AgonesPlanTest : public ::testing::Test {
 protected:
  void begin(AgonesPlanConfig config = {}) {
    config.max_players = 64;
    plan_.emplace(std::move(config));
  }

  // All that is asked for during `time`, in steps of 50 ms; what each call came to is `answer_`'s.
  std::vector<std::string> during(Duration time) {
    std::vector<std::string> said;
    for (const Time end = now_ + time; now_ < end; now_ = now_ + milliseconds(50)) {
      for (int calls = 0; const auto request = plan_->next(now_, status_, is_alive_); ++calls) {
        EXPECT_LT(calls, 20) << "it asks for ever: " << request->path;
        if (calls >= 20) break;
        if (request->call != AgonesCall::Look && request->call != AgonesCall::Health)
          said.push_back(request->path + (request->body == "{}" ? "" : request->body));
        if (request->call == AgonesCall::Health) ++healths_;
        plan_->answered(*request, answer_(*request), now_);
      }
    }
    return said;
  }

  HttpAnswer side_car(const AgonesRequest& request) {
    switch (request.call) {
      case AgonesCall::Look:
        return {
            .status = 200,
            .body = fmt::format(R"({{"object_meta":{{"name":"w","deletion_timestamp":"{}"}},)"
                                R"("spec":{{"health":{{"period_seconds":{}}}}},"status":{{"state":"{}"}}}})",
                                deletion_, period_seconds_, state_)};
      case AgonesCall::Ready:
        state_ = "Ready";
        break;
      case AgonesCall::Allocate:
        state_ = "Allocated";
        break;
      case AgonesCall::Reserve:
        state_ = "Reserved";
        break;
      case AgonesCall::Shutdown:
        state_ = "Shutdown";
        break;
      default:
        break;
    }
    return {.status = 200, .body = "{}"};
  }

  void make_ready() {
    status_.has_ticked = true;
    EXPECT_THAT(during(seconds(2)), Contains("/ready"));
  }

  std::optional<AgonesPlan> plan_;
  Time now_{};
  FleetStatus status_;
  bool is_alive_ = true;
  int healths_ = 0;
  std::string state_ = "Scheduled";
  int deletion_ = 0;
  int period_seconds_ = 3;
  std::function<HttpAnswer(const AgonesRequest&)> answer_ = [this](const auto& request) {
    return side_car(request);
  };
};

TEST_F(AgonesPlanTest, ReadyComesAfterTheFirstTickAndOnce) {
  begin({.labels = {{"version", "1"}}, .annotations = {{"server-key", "ab"}}});
  EXPECT_THAT(during(seconds(3)), ElementsAre(R"(/metadata/label{"key":"version","value":"1"})",
                                              R"(/metadata/annotation{"key":"server-key","value":"ab"})",
                                              R"(/v1beta1/counters/players{"count":"0","capacity":"64"})"));
  status_.has_ticked = true;
  EXPECT_THAT(during(seconds(20)), ElementsAre("/ready"));
}

TEST_F(AgonesPlanTest, SideCarThatComesUpLateIsToldEverything) {
  begin();
  status_.has_ticked = true;
  int tries = 0;
  const auto later = answer_;
  answer_ = [&](const auto&) {
    ++tries;
    return HttpAnswer{.error = "refused"};
  };
  during(seconds(10));
  EXPECT_LE(tries, 21) << "twice a second is enough";
  EXPECT_GE(tries, 10);
  answer_ = later;
  EXPECT_THAT(during(seconds(1)), Contains("/ready"));
}

TEST_F(AgonesPlanTest, HealthComesAtHalfThePeriodAndOnlyWhileTheTickIsAlive) {
  begin();
  make_ready();
  healths_ = 0;
  during(seconds(15));
  EXPECT_EQ(healths_, 10);
  is_alive_ = false;
  healths_ = 0;
  during(seconds(15));
  EXPECT_EQ(healths_, 0);
  is_alive_ = true;
  during(milliseconds(50));
  EXPECT_EQ(healths_, 1);
}

TEST_F(AgonesPlanTest, ReadyThatDidNotComeAboutIsSaidAgain) {
  begin();
  status_.has_ticked = true;
  int readies = 0;
  answer_ = [&](const AgonesRequest& request) {
    if (request.call == AgonesCall::Ready && ++readies == 1) return HttpAnswer{.status = 200, .body = "{}"};
    return side_car(request);
  };
  during(seconds(4));
  EXPECT_EQ(readies, 1) << "the cluster may take a moment";
  during(seconds(10));
  EXPECT_EQ(readies, 2);
}

TEST_F(AgonesPlanTest, RefusedReadyIsSaidAgainAndBadLabelsDoNotHoldItUp) {
  begin({.labels = {{"version", "?"}}});
  status_.has_ticked = true;
  int readies = 0;
  answer_ = [&](const AgonesRequest& request) {
    if (request.call == AgonesCall::Label) return HttpAnswer{.status = 400, .body = "{}"};
    if (request.call == AgonesCall::Ready && ++readies < 3) return HttpAnswer{.status = 500, .body = "oh"};
    return side_car(request);
  };
  EXPECT_THAT(during(seconds(10)), Contains("/ready").Times(3));
}

TEST_F(AgonesPlanTest, PlayersAreCountedWhenTheyChange) {
  begin();
  make_ready();
  status_.players = 3;
  EXPECT_THAT(during(seconds(1)), ElementsAre(R"(/v1beta1/counters/players{"count":"3","capacity":"64"})"));
  EXPECT_THAT(during(seconds(5)), IsEmpty());
  // Many who come at once are few calls.
  std::size_t calls = 0;
  for (int i = 0; i < 20; ++i) {
    ++status_.players;
    calls += during(milliseconds(50)).size();
  }
  EXPECT_LE(calls, 5u);
  EXPECT_THAT(during(seconds(1)), Contains(R"(/v1beta1/counters/players{"count":"23","capacity":"64"})"));
}

TEST_F(AgonesPlanTest, SideCarWithoutCountersIsLeftInPeace) {
  begin();
  int counts = 0;
  answer_ = [&](const AgonesRequest& request) {
    if (request.call != AgonesCall::Count) return side_car(request);
    ++counts;
    return HttpAnswer{.status = 404, .body = R"({"message":"counter not found: players"})"};
  };
  make_ready();
  for (int i = 0; i < 50; ++i) {
    ++status_.players;
    during(seconds(1));
  }
  EXPECT_EQ(counts, 1);
}

TEST_F(AgonesPlanTest, FirstPlayerAllocatesAReadyServerIfToldTo) {
  for (const bool told : {true, false}) {
    SCOPED_TRACE(told);
    state_ = "Scheduled";
    status_ = {};
    begin({.allocate_on_join = told});
    make_ready();
    status_.players = 1;
    EXPECT_THAT(during(seconds(20)), Contains("/allocate").Times(told ? 1 : 0));
    status_.players = 2;
    EXPECT_THAT(during(seconds(20)), Not(Contains("/allocate")));
  }
}

TEST_F(AgonesPlanTest, LastPlayerThatLeavesReservesAnAllocatedServer) {
  begin({.reserve = seconds(30)});
  make_ready();
  state_ = "Allocated";  // by the fleet
  EXPECT_THAT(during(seconds(5)), IsEmpty()) << "it waits for its players";
  status_.players = 2;
  during(seconds(2));
  status_.players = 0;
  EXPECT_THAT(during(seconds(2)), Contains(R"(/reserve{"seconds":"30"})").Times(1));
  state_ = "Ready";  // as the side-car does after that time
  EXPECT_THAT(during(seconds(10)), IsEmpty());
}

TEST_F(AgonesPlanTest, WhoComesToAReservedServerAllocatesIt) {
  begin({.reserve = seconds(30)});
  make_ready();
  state_ = "Reserved";
  during(seconds(2));
  status_.players = 1;
  EXPECT_THAT(during(seconds(10)), Contains("/allocate").Times(1));
}

TEST_F(AgonesPlanTest, EmptyAllocatedServerStaysSoUnlessToldOtherwise) {
  begin();
  make_ready();
  state_ = "Allocated";
  status_.players = 2;
  during(seconds(2));
  status_.players = 0;
  EXPECT_THAT(during(seconds(20)), Not(Contains(::testing::StartsWith("/reserve"))));
}

TEST_F(AgonesPlanTest, EndFromOutsideIsNoticed) {
  for (const bool deleted : {true, false}) {
    SCOPED_TRACE(deleted);
    state_ = "Scheduled";
    deletion_ = 0;
    status_ = {};
    begin();
    make_ready();
    EXPECT_FALSE(plan_->wants_end());
    (deleted ? static_cast<void>(deletion_ = 1531795395) : static_cast<void>(state_ = "Shutdown"));
    during(seconds(2));
    EXPECT_TRUE(plan_->wants_end());
  }
}

TEST_F(AgonesPlanTest, ShutdownIsSaidUntilItIsHeardAndNothingAfterIt) {
  begin({.allocate_on_join = true});
  make_ready();
  status_.is_over = true;
  status_.players = 3;
  const auto later = answer_;
  answer_ = [](const auto&) { return HttpAnswer{.error = "gone"}; };
  during(seconds(3));
  EXPECT_FALSE(plan_->has_shut_down());
  answer_ = later;
  EXPECT_THAT(during(seconds(10)), ElementsAre("/shutdown"));
  EXPECT_TRUE(plan_->has_shut_down());
  EXPECT_FALSE(plan_->wants_end()) << "its own wish";
}

TEST_F(AgonesPlanTest, SideCarThatForgotIsToldAgain) {
  begin({.labels = {{"version", "1"}}});
  make_ready();
  during(seconds(10));
  state_ = "Scheduled";  // it began anew
  const auto said = during(seconds(10));
  EXPECT_THAT(said, Contains("/ready").Times(1));
  EXPECT_THAT(said, Contains(R"(/metadata/label{"key":"version","value":"1"})").Times(1));
  EXPECT_THAT(said, Contains(R"(/v1beta1/counters/players{"count":"0","capacity":"64"})").Times(1));
}

}  // namespace
}  // namespace shoal
