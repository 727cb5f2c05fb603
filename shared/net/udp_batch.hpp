// Datagrams that leave together: up to 64 by one call of the system (sendmmsg), and neighbours to one peer as
// one burst that the kernel, or the network card, cuts up again (UDP_SEGMENT, "GSO"). Internal to UdpPort.
//
// 1. Datagrams leave in the order in which they were added. A burst is neighbours in that order, to one peer, of
//    one size; the last one may be shorter.
// 2. Whatever the system refuses is lost and counted, datagram by datagram, and the others leave. Nothing is
//    tried without end and nothing is sent twice.
// 3. If bursts are refused by the device they are given up for good, if by a path then for this time
//    (docs/decisions/0021-bursts.md). Their datagrams leave one by one.
// Threads: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "shared/base/limits.hpp"
#include "shared/net/endpoint.hpp"

namespace shoal {

class UdpBatch {
 public:
  static constexpr std::size_t kMaxDatagrams = 64;

  struct Counters {
    std::uint64_t sent_datagrams = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t sent_in_bursts = 0;  // of them
    std::uint64_t failures = 0;        // datagrams
    std::uint64_t unreachable = 0;     // answers, of which one in a row costs no datagram
  };

  struct Socket {
    int handle = -1;  // does not block, and outlives the batch
    bool is_v6 = false;
    bool is_connected = false;  // then all goes to its peer
  };

  explicit UdpBatch(const Socket& socket);
  ~UdpBatch();

  /// Takes a copy. Puts out the batch when that made it full. False: longer than kMaxDatagramBytes, or IPv6 to a
  /// socket that has none; counted.
  bool add(const Endpoint& peer, std::span<const std::byte> bytes);
  void flush();

  bool makes_bursts() const { return makes_bursts_; }
  const Counters& counters() const { return counters_; }

 private:
  struct Messages;

  void put_out(Messages& messages);
  void put_out_plainly(const Messages& messages, std::size_t first, std::size_t end);
  void count_sent(const Messages& messages, std::size_t index);
  void lose(const Messages& messages, std::size_t first, std::size_t end);

  Socket socket_;
  bool makes_bursts_;
  Counters counters_;
  std::size_t datagrams_ = 0;
  std::size_t used_bytes_ = 0;
  std::unique_ptr<Messages> waiting_;
  std::unique_ptr<Messages> plain_;  // what a refused burst becomes
  // One behind the other, without gaps: a burst is one piece of memory.
  std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace shoal
