#include "shared/net/udp_batch.hpp"

#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "shared/base/fault.hpp"
#include "shared/base/log.hpp"
#include "shared/net/udp_address.hpp"

namespace shoal {
namespace {

// One burst is one IP packet on its way to the device: 64 kB with all headers, and 64 segments by the kernel.
constexpr std::size_t kMaxBurstBytes = 65'000;
constexpr std::size_t kMaxBurstDatagrams = 64;
static_assert(UdpBatch::kMaxDatagrams <= kMaxBurstDatagrams);

// Room for the one control message that a burst has.
struct Control {
  alignas(cmsghdr) std::byte bytes[CMSG_SPACE(sizeof(std::uint16_t))];
};

bool is_unreachable(int error) {
  return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH;
}

// This burst to this peer: its path takes less than a segment, for one.
bool is_refusal_of_burst(int error) {
  return error == EINVAL || error == EMSGSIZE;
}
// Any burst: the device cannot cut them, or the protocol cannot.
bool is_refusal_of_bursts(int error) {
  return error == EIO || error == EOPNOTSUPP || error == ENOPROTOOPT || error == EPROTONOSUPPORT;
}

bool kernel_makes_bursts(int handle) {
  // Older kernels do not know the option, and would send a burst as one long datagram.
  const int off = 0;
  return ::setsockopt(handle, IPPROTO_UDP, UDP_SEGMENT, &off, sizeof off) == 0;
}

}  // namespace

struct UdpBatch::Messages {
  struct Message {
    SocketAddress address;
    Control control;
    iovec piece;
    Endpoint peer;
    std::uint16_t datagram_bytes = 0;  // of all but the last
    std::uint16_t datagrams = 0;
    bool is_closed = false;  // its last one is shorter: nothing can follow in the same burst
  };

  std::size_t count = 0;
  std::array<Message, kMaxDatagrams> all;
  std::array<mmsghdr, kMaxDatagrams> headers;

  void begin(const Socket& socket, const Endpoint& peer, std::byte* bytes, std::size_t size) {
    Message& message = all[count];
    message.piece = {bytes, size};
    message.peer = peer;
    message.datagram_bytes = static_cast<std::uint16_t>(size);
    message.datagrams = 1;
    message.is_closed = size == 0;
    msghdr& header = headers[count].msg_hdr;
    header = {};
    header.msg_iov = &message.piece;
    header.msg_iovlen = 1;
    if (!socket.is_connected) {
      header.msg_name = &message.address;
      header.msg_namelen = write_address(peer, socket.is_v6, message.address);
    }
    ++count;
  }

  bool can_grow(const Endpoint& peer, std::size_t size) const {
    if (count == 0) return false;
    const Message& last = all[count - 1];
    return !last.is_closed && size > 0 && size <= last.datagram_bytes && last.peer == peer &&
           last.piece.iov_len + size <= kMaxBurstBytes;
  }

  void grow(std::size_t size) {
    Message& last = all[count - 1];
    msghdr& header = headers[count - 1].msg_hdr;
    if (last.datagrams == 1) {
      header.msg_control = &last.control;
      header.msg_controllen = sizeof last.control.bytes;
      cmsghdr* control = CMSG_FIRSTHDR(&header);
      control->cmsg_level = IPPROTO_UDP;
      control->cmsg_type = UDP_SEGMENT;
      control->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
      std::memcpy(CMSG_DATA(control), &last.datagram_bytes, sizeof last.datagram_bytes);
    }
    last.piece.iov_len += size;
    ++last.datagrams;
    last.is_closed = size < last.datagram_bytes;
  }

  bool is_burst(std::size_t index) const { return all[index].datagrams > 1; }
};

namespace {

// sendmmsg, or what a test wants of it: a device or a path that takes no bursts, a socket whose buffer is full
// after one message.
int send_messages(int handle, mmsghdr* headers, std::size_t count) {
  int refusal = 0;
  if (fault("net-refuse-bursts")) refusal = EIO;
  if (fault("net-refuse-each-burst")) refusal = EMSGSIZE;
  if (refusal != 0) {
    const auto* burst = std::find_if(headers, headers + count,
                                     [](const mmsghdr& header) { return header.msg_hdr.msg_controllen > 0; });
    count = static_cast<std::size_t>(burst - headers);
  }
  if (fault("net-full-send-buffer")) {
    static thread_local bool is_full = true;
    is_full = !is_full;
    count = is_full ? 0 : 1;
    refusal = EAGAIN;
  }
  if (count == 0) {
    errno = refusal;
    return -1;
  }
  return ::sendmmsg(handle, headers, static_cast<unsigned>(count), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

UdpBatch::UdpBatch(const Socket& socket)
    : socket_(socket),
      makes_bursts_(kernel_makes_bursts(socket.handle)),
      waiting_(std::make_unique_for_overwrite<Messages>()),
      plain_(std::make_unique_for_overwrite<Messages>()),
      bytes_(std::make_unique_for_overwrite<std::byte[]>(kMaxDatagrams * kMaxDatagramBytes)) {}

UdpBatch::~UdpBatch() = default;

bool UdpBatch::add(const Endpoint& peer, std::span<const std::byte> bytes) {
  if (bytes.size() > kMaxDatagramBytes || (!socket_.is_v6 && !peer.is_ipv4())) {
    ++counters_.failures;
    return false;
  }
  std::byte* place = bytes_.get() + used_bytes_;
  if (!bytes.empty()) std::memcpy(place, bytes.data(), bytes.size());
  if (makes_bursts_ && waiting_->can_grow(peer, bytes.size())) {
    waiting_->grow(bytes.size());
  } else {
    waiting_->begin(socket_, peer, place, bytes.size());
  }
  used_bytes_ += bytes.size();
  if (++datagrams_ == kMaxDatagrams) flush();
  return true;
}

void UdpBatch::flush() {
  if (datagrams_ == 0) return;
  put_out(*waiting_);
  waiting_->count = 0;
  datagrams_ = 0;
  used_bytes_ = 0;
}

// Each round sends something, or ends a message, or uses up the one further attempt of a message.
void UdpBatch::put_out(Messages& messages) {
  std::size_t next = 0;
  bool is_second_attempt = false;
  while (next < messages.count) {
    const int taken = send_messages(socket_.handle, &messages.headers[next], messages.count - next);
    if (taken > 0) {
      for (int i = 0; i < taken; ++i) count_sent(messages, next++);
      is_second_attempt = false;
      continue;
    }
    const int error = errno;
    if (is_unreachable(error)) {
      ++counters_.unreachable;
      // Once more after ICMP: the kernel reports what an earlier datagram met instead of sending this one.
      if (!std::exchange(is_second_attempt, true)) continue;
    }
    is_second_attempt = false;
    if (error == EAGAIN || error == EWOULDBLOCK) {
      // The socket's buffer is full, for the others, too.
      return lose(messages, next, messages.count);
    }
    if (messages.is_burst(next) && is_refusal_of_bursts(error)) {
      makes_bursts_ = false;
      log_info("net: sending datagrams one by one from now on, bursts are refused: {}", std::strerror(error));
      return put_out_plainly(messages, next, messages.count);
    }
    if (messages.is_burst(next) && is_refusal_of_burst(error)) {
      put_out_plainly(messages, next, next + 1);
    } else {
      lose(messages, next, next + 1);
    }
    ++next;
  }
}

void UdpBatch::put_out_plainly(const Messages& messages, std::size_t first, std::size_t end) {
  plain_->count = 0;
  for (std::size_t index = first; index < end; ++index) {
    const Messages::Message& message = messages.all[index];
    auto* bytes = static_cast<std::byte*>(message.piece.iov_base);
    std::size_t left = message.piece.iov_len;
    for (std::uint16_t i = 0; i < message.datagrams; ++i) {
      const std::size_t size = std::min<std::size_t>(left, message.datagram_bytes);
      plain_->begin(socket_, message.peer, bytes, size);
      bytes += size;
      left -= size;
    }
  }
  put_out(*plain_);  // has no bursts, so it does not come back here
}

void UdpBatch::count_sent(const Messages& messages, std::size_t index) {
  const Messages::Message& message = messages.all[index];
  counters_.sent_datagrams += message.datagrams;
  counters_.sent_bytes += message.piece.iov_len;
  if (messages.is_burst(index)) counters_.sent_in_bursts += message.datagrams;
}

void UdpBatch::lose(const Messages& messages, std::size_t first, std::size_t end) {
  for (std::size_t index = first; index < end; ++index) counters_.failures += messages.all[index].datagrams;
}

}  // namespace shoal
