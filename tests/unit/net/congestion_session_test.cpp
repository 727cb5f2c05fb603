// What a session sends follows what its path carries: the congestion response is in charge of the budget.
#include "tests/unit/net/net_fixture.hpp"

namespace shoal {
namespace {

class NarrowSessionTest : public NetTest {
 protected:
  struct Stretch {
    std::uint64_t bytes_per_second = 0;
    Duration longest_pause{};
  };
  /// A frame of about a kilobyte each millisecond, as far as the budget lets it.
  Stretch play(Duration duration) {
    const SessionId session = server->handler.joined[0];
    Stretch result;
    std::uint64_t bytes = 0;
    Time last = clock.now();
    run(duration, [&] {
      if (!server->transport.may_send(session)) return;
      if (!server->send_frame(session, ++tick_, 1000)) return;
      bytes += 1000;
      result.longest_pause = std::max<Duration>(result.longest_pause, clock.now() - last);
      last = clock.now();
    });
    result.longest_pause = std::max<Duration>(result.longest_pause, clock.now() - last);
    result.bytes_per_second = bytes * 1000 / static_cast<std::uint64_t>(duration / milliseconds{1});
    return result;
  }
  void set_path(std::uint64_t bytes_per_second) {
    network.set_default_link(
        {.latency = milliseconds{20}, .bytes_per_second = bytes_per_second, .queue_bytes = 16 * 1024});
  }

  std::uint32_t tick_ = 0;
};

/// The parameter: bytes per second that the server allows a session, 0 without a limit.
class CongestionSessionTest : public NarrowSessionTest,
                              public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(CongestionSessionTest, FramesFollowWhatThePathCarriesAndComeBack) {
  set_path(0);
  start_server({.bytes_per_second = GetParam()});
  add_client(1).transport.connect();
  run(milliseconds{200});
  ASSERT_EQ(server->handler.joined.size(), 1u);
  const Stretch before = play(seconds{60});
  EXPECT_GT(before.bytes_per_second, 400'000u);

  set_path(100'000);
  const Stretch worse = play(seconds{10});
  EXPECT_LT(worse.longest_pause, seconds{1}) << "nothing of the good times is owed";
  const Stretch narrow = play(seconds{20});
  EXPECT_GT(narrow.bytes_per_second, 60'000u);
  EXPECT_LT(narrow.bytes_per_second, 150'000u) << "of 1,000,000 that it would like";
  EXPECT_LT(narrow.longest_pause, seconds{1});

  set_path(0);
  play(seconds{30});
  const Stretch after = play(seconds{5});
  EXPECT_GT(after.bytes_per_second, before.bytes_per_second * 9 / 10) << "and back";
}

INSTANTIATE_TEST_SUITE_P(Rates, CongestionSessionTest, ::testing::Values(0, 500'000),
                         [](const auto& rate) { return rate.param == 0 ? "WithoutALimit" : "Limited"; });

TEST_F(NarrowSessionTest, FloorIsKeptOnAPathThatLosesNearlyEverything) {
  start_server({.time_out = seconds{60}, .bytes_per_second = 500'000});
  add_client(1).transport.connect();
  run(milliseconds{200});
  play(seconds{5});
  network.set_links_to(client_endpoint(1), {.loss_percent = 90});
  play(seconds{30});
  EXPECT_GE(play(seconds{30}).bytes_per_second, kLeastBytesPerSecond * 3 / 4) << "less headers";
  EXPECT_TRUE(server->transport.is_open(server->handler.joined[0]));
}

}  // namespace
}  // namespace shoal
