#include "server/service/health_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "shared/net/handshake.hpp"
#include "shared/net/packet_header.hpp"
#include "shared/net/udp_port.hpp"

namespace shoal {
namespace {

using ::testing::HasSubstr;

constexpr Duration kShort = milliseconds(300);

// Somebody on a port who answers each datagram in a way of its own, on a thread of its own.
class Somebody {
 public:
  using Answer = std::function<std::vector<std::byte>(std::span<const std::byte> asked)>;

  explicit Somebody(Answer answer)
      : port_(std::move(UdpPort::open({.local = Endpoint::ipv4(127, 0, 0, 1, 0)}).value())),
        thread_([this, answer](auto stop) {
          Datagram datagram;
          while (!stop.stop_requested()) {
            port_->wait(milliseconds(10));
            while (port_->receive(datagram)) {
              ++heard_;
              const auto bytes = answer(datagram.span());
              if (bytes.empty()) continue;
              port_->send(datagram.peer, bytes);
              port_->flush();
            }
          }
        }) {}

  Endpoint where() const { return port_->local(); }
  int heard() const { return heard_; }

 private:
  std::unique_ptr<UdpPort> port_;
  std::atomic<int> heard_{0};
  std::jthread thread_;
};

std::uint64_t nonce_of(std::span<const std::byte> asked) {
  PacketHeader header;
  EXPECT_FALSE(read_header(asked, header));
  return header.connection;
}

std::vector<std::byte> refusal(std::uint64_t nonce, RefuseReason reason) {
  HandshakeWriter writer;
  OutgoingDatagram datagram;
  writer.refuse(nonce, {reason, {}}, datagram);
  return {datagram.span().begin(), datagram.span().end()};
}

class HealthProbe : public ::testing::Test {
 protected:
  std::optional<std::string> ask(const Somebody& somebody, Duration time = kShort) {
    return why_unhealthy(somebody.where(), clock_, entropy_, time);
  }

  SteadyClock clock_;
  SeededEntropy entropy_{1};
};

TEST_F(HealthProbe, RefusalIsASignOfLife) {
  Somebody server([](auto asked) { return refusal(nonce_of(asked), RefuseReason::ShuttingDown); });
  EXPECT_EQ(ask(server), std::nullopt);
}

TEST_F(HealthProbe, HelloIsRepeatedWhenOneIsLost) {
  std::atomic<int> heard{0};
  Somebody server([&](auto asked) {
    if (++heard == 1) return std::vector<std::byte>();
    return refusal(nonce_of(asked), RefuseReason::ShuttingDown);
  });
  EXPECT_EQ(ask(server, seconds(30)), std::nullopt);
  EXPECT_GT(heard, 1);
}

TEST_F(HealthProbe, AnswerToSomebodyElseIsNone) {
  Somebody server([](auto asked) { return refusal(nonce_of(asked) + 1, RefuseReason::ShuttingDown); });
  EXPECT_THAT(ask(server).value_or("healthy"), HasSubstr("no server of shoal"));
}

TEST_F(HealthProbe, AnotherServiceIsNotTakenForAServer) {
  Somebody echo([](auto asked) { return std::vector<std::byte>(asked.begin(), asked.end()); });
  EXPECT_THAT(ask(echo).value_or("healthy"), HasSubstr("no server of shoal"));
}

TEST_F(HealthProbe, SilenceIsUnhealthy) {
  Somebody stuck([](auto) { return std::vector<std::byte>(); });
  EXPECT_THAT(ask(stuck).value_or("healthy"), HasSubstr("no answer from 127.0.0.1"));
  EXPECT_GT(stuck.heard(), 0);
}

TEST_F(HealthProbe, NobodyOnThePortIsSaidAtOnce) {
  const Endpoint free = UdpPort::open({.local = Endpoint::ipv4(127, 0, 0, 1, 0)}).value()->local();
  const auto why_not = why_unhealthy(free, clock_, entropy_, seconds(30));
  EXPECT_THAT(why_not.value_or("healthy"), HasSubstr("nobody listens on 127.0.0.1"));
}

TEST(HealthProbeTarget, EveryAddressIsAskedOverTheLoopback) {
  EXPECT_EQ(*health_probe_target("0.0.0.0", 7777, ""), Endpoint::ipv4(127, 0, 0, 1, 7777));
  EXPECT_EQ(*health_probe_target("::", 7777, ""), Endpoint::ipv4(127, 0, 0, 1, 7777));
  EXPECT_EQ(*health_probe_target("10.1.2.3", 7777, ""), Endpoint::ipv4(10, 1, 2, 3, 7777));
  EXPECT_EQ(*health_probe_target("::1", 7777, ""), *parse_endpoint("::1", 7777));
}

TEST(HealthProbeTarget, ChosenPortComesFromThePortFile) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "health_probe_port";
  const auto with = [&](const char* text) {
    std::ofstream(path) << text;
    return health_probe_target("0.0.0.0", 0, path.string());
  };
  EXPECT_EQ(*with("4321\n"), Endpoint::ipv4(127, 0, 0, 1, 4321));
  for (const char* text : {"", "0\n", "70000\n", "port\n"})
    EXPECT_THAT(with(text).error(), HasSubstr("is no port")) << text;
  std::filesystem::remove(path);
  EXPECT_THAT(health_probe_target("::", 0, path.string()).error(), HasSubstr("has the server started?"));
  EXPECT_THAT(health_probe_target("::", 0, "").error(), HasSubstr("--port-file"));
  EXPECT_THAT(health_probe_target("localhost", 1, "").error(), HasSubstr("--bind localhost"));
}

}  // namespace
}  // namespace shoal
