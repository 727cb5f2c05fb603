#include "shared/net/udp_intake.hpp"

#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"
#include "shared/net/udp_address.hpp"

namespace shoal {
namespace {

// So that the beginnings of messages do not all fall on the same lines of the processor's cache.
constexpr std::size_t kStagger = 1280;
// The first ones, by the fault net-receive-errors.
constexpr std::uint64_t kReadsThatFail = 200;

struct Control {
  alignas(cmsghdr) std::byte bytes[CMSG_SPACE(sizeof(int))];
};

bool is_unreachable(int error) {
  return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH;
}

// Of the datagrams that a message is made of, all but the last; 0: it is one datagram.
std::size_t joined_datagram_bytes(const msghdr& header) {
  for (const cmsghdr* control = CMSG_FIRSTHDR(&header); control != nullptr;
       control = CMSG_NXTHDR(const_cast<msghdr*>(&header), const_cast<cmsghdr*>(control))) {
    if (control->cmsg_level != IPPROTO_UDP || control->cmsg_type != UDP_GRO) continue;
    int bytes = 0;
    std::memcpy(&bytes, CMSG_DATA(control), sizeof bytes);
    return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
  }
  return 0;
}

void add(std::atomic<std::uint64_t>& counter, std::uint64_t value) {
  // One thread writes: no need for the processor's atomic addition.
  counter.store(counter.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

}  // namespace

struct UdpIntake::Message {
  SocketAddress address;
  Control control;
  iovec piece;
  Endpoint peer;
  std::size_t size = 0;
  std::size_t datagram_bytes = 0;
};

struct UdpIntake::Headers {
  std::vector<mmsghdr> all;
};

UdpIntake::UdpIntake(std::size_t messages, std::size_t message_bytes)
    : message_bytes_(message_bytes),
      messages_(messages),
      headers_(std::make_unique<Headers>()),
      bytes_(std::make_unique_for_overwrite<std::byte[]>(messages * (message_bytes + kStagger))) {
  SHOAL_ASSERT(messages >= 1 && message_bytes >= 1, "an intake reads something");
  headers_->all.resize(messages);
  for (std::size_t i = 0; i < messages; ++i) {
    messages_[i].piece = {bytes_.get() + i * (message_bytes_ + kStagger), message_bytes_};
    msghdr& header = headers_->all[i].msg_hdr;
    header.msg_name = &messages_[i].address;
    header.msg_namelen = sizeof(SocketAddress);
    header.msg_iov = &messages_[i].piece;
    header.msg_iovlen = 1;
    header.msg_control = &messages_[i].control;
    header.msg_controllen = sizeof(Control);
  }
}

UdpIntake::~UdpIntake() = default;

void UdpIntake::enable_bursts(int socket) {
  const int on = 1;
  (void)::setsockopt(socket, IPPROTO_UDP, UDP_GRO, &on, sizeof on);
}

UdpIntake::Outcome UdpIntake::read(int socket) {
  // The kernel wrote over the lengths of as many as it filled.
  for (std::size_t i = 0; i < read_messages_; ++i) {
    headers_->all[i].msg_hdr.msg_namelen = sizeof(SocketAddress);
    headers_->all[i].msg_hdr.msg_controllen = sizeof(Control);
  }
  read_messages_ = message_ = offset_ = 0;
  int count = -1;
  if (fault("net-receive-errors") && counters_.failures.load() < kReadsThatFail) {
    errno = EIO;
  } else {
    count = ::recvmmsg(socket, headers_->all.data(), static_cast<unsigned>(headers_->all.size()),
                       MSG_DONTWAIT, nullptr);
  }
  if (count <= 0) {
    if (count == 0 || errno == EAGAIN || errno == EWOULDBLOCK) return Outcome::Nothing;
    add(counters_.failures, 1);
    if (is_unreachable(errno)) add(counters_.unreachable, 1);
    return Outcome::Error;
  }
  read_messages_ = static_cast<std::size_t>(count);
  std::uint64_t datagrams = 0;
  std::uint64_t bytes = 0;
  std::uint64_t in_bursts = 0;
  for (std::size_t i = 0; i < read_messages_; ++i) {
    Message& message = messages_[i];
    const msghdr& header = headers_->all[i].msg_hdr;
    message.size = headers_->all[i].msg_len;
    message.datagram_bytes = joined_datagram_bytes(header);
    std::size_t parts = 1;
    if (message.datagram_bytes == 0) {
      message.datagram_bytes = std::max<std::size_t>(message.size, 1);
    } else {
      parts = (message.size + message.datagram_bytes - 1) / message.datagram_bytes;
    }
    if ((header.msg_flags & MSG_TRUNC) != 0) {
      // Its last datagram is not whole.
      add(counters_.truncated, 1);
      --parts;
      message.size = parts * message.datagram_bytes;
      if (parts == 0) message.datagram_bytes = 0;
    }
    message.peer = read_address(message.address);
    datagrams += parts;
    bytes += message.size;
    if (parts > 1) in_bursts += parts;
  }
  add(counters_.datagrams, datagrams);
  add(counters_.bytes, bytes);
  add(counters_.in_bursts, in_bursts);
  return Outcome::Datagrams;
}

bool UdpIntake::next(Endpoint& peer, std::span<const std::byte>& bytes) {
  while (message_ < read_messages_) {
    const Message& message = messages_[message_];
    const std::size_t size = std::min(message.size - offset_, message.datagram_bytes);
    const std::byte* begin = static_cast<const std::byte*>(message.piece.iov_base) + offset_;
    offset_ += size;
    if (offset_ >= message.size) {
      ++message_;
      offset_ = 0;
    }
    if (message.datagram_bytes == 0) continue;  // nothing of it was whole
    peer = message.peer;
    bytes = {begin, size};
    return true;
  }
  return false;
}

bool UdpIntake::next(Datagram& datagram) {
  std::span<const std::byte> bytes;
  if (!next(datagram.peer, bytes)) return false;
  datagram.size = static_cast<std::uint16_t>(std::min(bytes.size(), Datagram::kCapacity));
  // memmove, since g++ makes a slow string instruction of a memcpy that it knows to be short: 100 ns instead of 30.
  std::memmove(datagram.bytes.data(), bytes.data(), datagram.size);
  return true;
}

}  // namespace shoal
