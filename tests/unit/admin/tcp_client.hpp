// A TCP connection that says what a test wants, when it wants: what no library for HTTP would do.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

namespace shoal::test {

class TcpClient {
 public:
  explicit TcpClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{30, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~TcpClient() { ::close(socket_); }
  TcpClient(const TcpClient&) = delete;
  TcpClient& operator=(const TcpClient&) = delete;

  /// False: the other side hung up.
  bool say(std::string_view text) {
    return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  void say_no_more() { ::shutdown(socket_, SHUT_WR); }
  /// All until the other side hangs up.
  std::string hear() {
    std::string text;
    std::array<char, 4096> buffer;
    for (ssize_t size = 1; size > 0;) {
      size = ::recv(socket_, buffer.data(), buffer.size(), 0);
      if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return text;
  }

 private:
  int socket_;
};

inline std::string get(std::uint16_t port, std::string_view path) {
  TcpClient client(port);
  client.say("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n");
  return client.hear();
}

}  // namespace shoal::test
