#include "server/admin/http_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "tests/unit/admin/tcp_client.hpp"

namespace shoal {
namespace {

using test::TcpClient;
using testing::HasSubstr;
using testing::StartsWith;

class HttpServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto started =
        HttpServer::start(Endpoint::ipv4(127, 0, 0, 1, 0), clock, [this](const HttpRequest& request) {
          ++handled;
          last_body_bytes = request.body.size();
          if (request.path == "/throw") throw std::runtime_error("on purpose");
          if (request.path == "/large") return HttpReply{200, std::string(16u << 20, 'x')};
          return text_reply(200,
                            request.method + " " + request.path + " ? " + request.query + " " + request.body);
        });
    ASSERT_TRUE(started) << started.error().why;
    server = std::move(*started);
    port = server->local().port;
  }
  SteadyClock clock;
  std::unique_ptr<HttpServer> server;
  std::uint16_t port = 0;
  std::atomic<int> handled{0};
  std::atomic<std::size_t> last_body_bytes{0};
};

TEST_F(HttpServerTest, RequestArrivesAndItsReplyIsWhole) {
  EXPECT_NE(port, 0);
  const std::string reply = test::get(port, "/a%20b?c=%20");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(reply, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(reply, HasSubstr("\r\n\r\nGET /a b ? c=%20 \n"));
}

TEST_F(HttpServerTest, BodyArrives) {
  TcpClient client(port);
  client.say("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_THAT(client.hear(), HasSubstr("POST /x ?  hello\n"));
}

TEST_F(HttpServerTest, BodyThatEndsTooEarlyIsNone) {
  TcpClient client(port);
  client.say("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhello");
  client.say_no_more();
  EXPECT_THAT(client.hear(), HasSubstr("400"));
}

TEST_F(HttpServerTest, HeadHasNoBody) {
  TcpClient client(port);
  client.say("HEAD /x HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(client.hear().ends_with("\r\n\r\n"));
}

TEST_F(HttpServerTest, ExceptionOfTheHandlerIsAReply) {
  EXPECT_THAT(test::get(port, "/throw"), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(test::get(port, "/x"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, AddressInUseIsTold) {
  const auto second =
      HttpServer::start(server->local(), clock, [](const HttpRequest&) { return HttpReply{}; });
  ASSERT_FALSE(second);
  EXPECT_TRUE(second.error().is_in_use) << second.error().why;
  const auto foreign = HttpServer::start(Endpoint::ipv4(192, 0, 2, 1, 0), clock,
                                         [](const HttpRequest&) { return HttpReply{}; });
  ASSERT_FALSE(foreign);
  EXPECT_FALSE(foreign.error().is_in_use);
  EXPECT_THAT(foreign.error().why, HasSubstr("192.0.2.1"));
}

TEST_F(HttpServerTest, SilentConnectionsKeepNobodyElseOut) {
  std::vector<std::unique_ptr<TcpClient>> silent;
  for (int i = 0; i < 16; ++i) silent.push_back(std::make_unique<TcpClient>(port));
  EXPECT_THAT(test::get(port, "/x"), StartsWith("HTTP/1.1 200 "));
  // Nobody had to be cut off for that.
  for (const auto& one : silent) {
    one->say("GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(one->hear(), StartsWith("HTTP/1.1 200 "));
  }
}

TEST_F(HttpServerTest, WhoAsksForMuchAndReadsNothingKeepsNobodyElseOut) {
  std::vector<std::unique_ptr<TcpClient>> deaf;
  for (int i = 0; i < 16; ++i) {
    deaf.push_back(std::make_unique<TcpClient>(port));
    deaf.back()->say("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  while (handled < 16) EXPECT_THAT(test::get(port, "/x"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, MoreSilentConnectionsThanThreadsAreCutOffAndTheNextOneIsServed) {
  std::vector<std::unique_ptr<TcpClient>> silent;
  for (unsigned i = 0; i < HttpServer::kThreads + 8; ++i) silent.push_back(std::make_unique<TcpClient>(port));
  EXPECT_THAT(test::get(port, "/x"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, RequestThatComesByteForByteIsCutOff) {
  TcpClient slow(port);
  const std::string text = "GET /x HTTP/1.1\r\nX: " + std::string(400, 'x');
  bool is_cut = false;
  for (std::size_t i = 0; i < text.size() && !is_cut; ++i) {
    is_cut = !slow.say(text.substr(i, 1));
    ::usleep(50'000);
  }
  EXPECT_TRUE(is_cut);
  EXPECT_EQ(handled, 0);
}

TEST_F(HttpServerTest, BodyThatComesByteForByteIsCutOff) {
  TcpClient slow(port);
  slow.say("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 4000\r\n\r\n");
  bool is_cut = false;
  for (int i = 0; i < 400 && !is_cut; ++i) {
    is_cut = !slow.say("x");
    ::usleep(50'000);
  }
  EXPECT_TRUE(is_cut);
  EXPECT_EQ(handled, 0);
}

TEST_F(HttpServerTest, HugeHeaderIsRefused) {
  TcpClient client(port);
  client.say("GET /x HTTP/1.1\r\nX: " + std::string(2 * HttpServer::kMaxHeaderBytes, 'x') + "\r\n\r\n");
  EXPECT_THAT(client.hear(), testing::Not(HasSubstr("200 OK")));
  EXPECT_EQ(handled, 0);
}

TEST_F(HttpServerTest, HugeBodyIsRefusedUnread) {
  TcpClient client(port);
  client.say("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\nhello");
  EXPECT_THAT(client.hear(), StartsWith("HTTP/1.1 413 "));
  EXPECT_EQ(handled, 0);
}

TEST_F(HttpServerTest, NonsenseIsNoRequest) {
  for (const char* text :
       {"\r\n\r\n", "GET\r\n\r\n", "\x16\x03\x01 nonsense\r\n\r\n", "GET /x HTTP/9.9\r\n\r\n"}) {
    TcpClient client(port);
    client.say(text);
    EXPECT_THAT(client.hear(), testing::Not(HasSubstr("200 OK"))) << text;
  }
  EXPECT_EQ(handled, 0);
  EXPECT_THAT(test::get(port, "/x"), StartsWith("HTTP/1.1 200 "));
}

}  // namespace
}  // namespace shoal
