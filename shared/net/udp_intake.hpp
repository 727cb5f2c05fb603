// Takes in what waits at a socket, many datagrams by one call of the system (recvmmsg); what the kernel joined to
// one piece ("GRO": neighbours from one peer, of one size) is cut up again here. Internal to UdpPort.
//
// 1. Datagrams come out in the order in which the kernel had them.
// 2. Whatever arrives, read() returns. What is longer than a piece of memory here is dropped and counted.
// Threads: one reads; counters may be looked at from any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "shared/net/datagram_port.hpp"

namespace shoal {

class UdpIntake {
 public:
  /// The most that one message of the kernel can have, joined or not.
  static constexpr std::size_t kMaxMessageBytes = 65'536;
  enum class Outcome { Datagrams, Nothing, Error };

  struct Counters {
    std::atomic<std::uint64_t> datagrams{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> in_bursts{0};  // of the datagrams
    std::atomic<std::uint64_t> truncated{0};
    std::atomic<std::uint64_t> failures{0};
    std::atomic<std::uint64_t> unreachable{0};  // of them
  };

  /// Takes up to `messages` with one call. Its memory is touched, hence used, as far as datagrams reach.
  explicit UdpIntake(std::size_t messages, std::size_t message_bytes = kMaxMessageBytes);
  ~UdpIntake();

  /// Asks the kernel to join datagrams. It matters to nobody whether it can.
  static void enable_bursts(int socket);

  /// One call of the system, which never waits. What next() had not handed out is forgotten.
  Outcome read(int socket);
  /// The next one of what was read. It lies here until read(); `bytes` may be longer than shoal's datagrams are.
  bool next(Endpoint& peer, std::span<const std::byte>& bytes);
  /// May say so of a message whose last datagram was cut off; then next() finds none.
  bool has_next() const { return message_ < read_messages_; }
  /// next(), as a datagram of its own, which is cut at Datagram::kCapacity.
  bool next(Datagram& datagram);

  const Counters& counters() const { return counters_; }

 private:
  struct Message;

  std::size_t message_bytes_;
  std::vector<Message> messages_;
  struct Headers;
  std::unique_ptr<Headers> headers_;
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t read_messages_ = 0;
  // Where next() is.
  std::size_t message_ = 0;
  std::size_t offset_ = 0;
  Counters counters_;
};

}  // namespace shoal
