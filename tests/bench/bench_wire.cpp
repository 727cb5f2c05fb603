// 1200-byte datagrams through the loopback, from one thread to another: the system's calls alone, and UdpPort, plain
// and sealed. scripts/bench wire runs it; docs/benchmarks.md says what the rows are.
//
// Nothing is lost: the sender never is more than a window ahead of the receiver. The cases take turns, so that what
// else the machine does meets them all; medians are printed. All of 127.0.0.0/8 is this machine: that is how one socket
// is many peers to the sender, and the receiver's work is that of a server, one socket for all.
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sodium.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "shared/base/limits.hpp"
#include "shared/net/udp_address.hpp"
#include "shared/net/udp_port.hpp"

namespace shoal {
namespace {

constexpr std::size_t kPeers = 64;   // that get one each, in turn
constexpr std::size_t kGather = 64;  // datagrams by one sendmmsg or recvmmsg
constexpr std::size_t kWindow = 2048;
constexpr std::size_t kHeader = 17;
constexpr std::size_t kTag = crypto_aead_aes256gcm_ABYTES;
constexpr std::size_t kBody = kMaxDatagramBytes - kHeader - kTag;

using Bytes = std::array<std::byte, kMaxDatagramBytes>;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}
// Of a side that has to wait for the other one. It sleeps, so that processor time is work and not waiting.
void rest() {
  std::this_thread::sleep_for(std::chrono::microseconds(100));
}
[[noreturn]] void fail(const char* what) {
  fmt::print(stderr, "bench_wire: {}: {}\n", what, std::strerror(errno));
  std::exit(1);
}
unsigned char* raw(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}
const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

// ------------------------------------------------------------------------------------------------- sealing

// AES-256-GCM over a body of 1167 bytes with the header of 17 as associated data.
class Sealing {
 public:
  explicit Sealing(bool is_on) : is_on_(is_on) {
    unsigned char key[crypto_aead_aes256gcm_KEYBYTES];
    std::memset(key, 7, sizeof key);
    crypto_aead_aes256gcm_beforenm(&state_, key);
    body_.fill(std::byte{0x5A});
  }

  /// Writes a whole datagram.
  void seal(std::uint64_t sequence, std::byte* datagram) {
    datagram[0] = std::byte{6};
    std::memset(datagram + 1, 1, 8);
    std::memcpy(datagram + 9, &sequence, sizeof sequence);
    if (!is_on_) {
      std::memcpy(datagram + kHeader, body_.data(), kBody);
      return;
    }
    const Nonce nonce = nonce_of(datagram);
    unsigned long long tag_bytes = 0;
    crypto_aead_aes256gcm_encrypt_detached_afternm(raw(datagram + kHeader), raw(datagram + kHeader + kBody),
                                                   &tag_bytes, raw(body_.data()), kBody, raw(datagram),
                                                   kHeader, nullptr, nonce.data(), &state_);
  }
  /// Reads one; ends the program where the bytes are not those that were sealed.
  void open(std::span<const std::byte> datagram) {
    if (datagram.size() != kMaxDatagramBytes) fail("a datagram has another length");
    if (!is_on_) return;
    const Nonce nonce = nonce_of(datagram.data());
    if (crypto_aead_aes256gcm_decrypt_detached_afternm(
            raw(opened_.data()), nullptr, raw(datagram.data() + kHeader), kBody,
            raw(datagram.data() + kHeader + kBody), raw(datagram.data()), kHeader, nonce.data(),
            &state_) != 0) {
      fail("a datagram does not open");
    }
  }

 private:
  using Nonce = std::array<unsigned char, crypto_aead_aes256gcm_NPUBBYTES>;
  static Nonce nonce_of(const std::byte* datagram) {
    Nonce nonce{};
    std::memcpy(nonce.data() + 4, datagram + 9, 8);
    return nonce;
  }

  bool is_on_;
  alignas(16) crypto_aead_aes256gcm_state state_;
  std::array<std::byte, kBody> body_;
  std::array<std::byte, kBody> opened_;
};

// ------------------------------------------------------------------------------------------- the two sides

/// Sends one round: a burst to one peer, or one datagram to each of kPeers.
struct Sender {
  virtual ~Sender() = default;
  virtual void send_round(std::uint64_t first_sequence) = 0;
};
/// Takes in what waits; returns how many.
struct Receiver {
  virtual ~Receiver() = default;
  virtual std::size_t take() = 0;
  virtual void rest() { shoal::rest(); }
};

struct RawSocket {
  explicit RawSocket(bool joins = false) {
    handle = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    SocketAddress wanted;
    const socklen_t wanted_size = write_address(Endpoint::ipv4(0, 0, 0, 0, 0), false, wanted);
    if (handle < 0 || ::bind(handle, &wanted.any, wanted_size) != 0) fail("cannot open a socket");
    const int buffer = 4 << 20;
    ::setsockopt(handle, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    ::setsockopt(handle, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    const int on = 1;
    if (joins && ::setsockopt(handle, IPPROTO_UDP, UDP_GRO, &on, sizeof on) != 0)
      fail("this kernel has no UDP_GRO");
    SocketAddress address;
    socklen_t size = sizeof address;
    ::getsockname(handle, &address.any, &size);
    port = read_address(address).port;
  }
  ~RawSocket() { ::close(handle); }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  int handle = -1;
  std::uint16_t port = 0;
};
// To whom the datagrams go that leave together.
struct Round {
  std::size_t datagrams;
  std::vector<Endpoint> peers;
  const Endpoint& peer_of(std::size_t index) const { return peers[index % peers.size()]; }
};
struct Target {
  SocketAddress address;
  socklen_t size;
};
std::vector<Target> targets_of(const Round& round) {
  std::vector<Target> targets(round.datagrams);
  for (std::size_t i = 0; i < round.datagrams; ++i)
    targets[i].size = write_address(round.peer_of(i), false, targets[i].address);
  return targets;
}

struct PlainSender final : Sender {
  PlainSender(const Round& r, Sealing& s) : round(r), sealing(s), targets(targets_of(r)) {}
  void send_round(std::uint64_t first) override {
    for (std::size_t i = 0; i < round.datagrams; ++i) {
      sealing.seal(first + i, bytes.data());
      if (::sendto(socket.handle, bytes.data(), bytes.size(), 0, &targets[i].address.any, targets[i].size) <
          0)
        fail("sendto");
    }
  }
  const Round& round;
  Sealing& sealing;
  std::vector<Target> targets;
  RawSocket socket;
  Bytes bytes;
};

struct GatheredSender final : Sender {
  GatheredSender(const Round& r, Sealing& s)
      : round(r), sealing(s), targets(targets_of(r)), bytes(r.datagrams) {
    for (std::size_t i = 0; i < round.datagrams; ++i) {
      pieces[i] = {bytes[i].data(), bytes[i].size()};
      msghdr& header = headers[i].msg_hdr;
      header = {};
      header.msg_name = &targets[i].address;
      header.msg_namelen = targets[i].size;
      header.msg_iov = &pieces[i];
      header.msg_iovlen = 1;
    }
  }
  void send_round(std::uint64_t first) override {
    const std::size_t count = round.datagrams;
    for (std::size_t i = 0; i < count; ++i) sealing.seal(first + i, bytes[i].data());
    if (::sendmmsg(socket.handle, headers, static_cast<unsigned>(count), 0) != static_cast<int>(count))
      fail("sendmmsg");
  }
  const Round& round;
  Sealing& sealing;
  std::vector<Target> targets;
  RawSocket socket;
  std::vector<Bytes> bytes;
  iovec pieces[kGather];
  mmsghdr headers[kGather];
};

struct BurstSender final : Sender {
  BurstSender(const Round& r, Sealing& s)
      : round(r), sealing(s), targets(targets_of(r)), bytes(r.datagrams * kMaxDatagramBytes) {
    const int segment = kMaxDatagramBytes;
    if (::setsockopt(socket.handle, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof segment) != 0)
      fail("this kernel has no UDP_SEGMENT");
  }
  void send_round(std::uint64_t first) override {
    for (std::size_t i = 0; i < round.datagrams; ++i)
      sealing.seal(first + i, bytes.data() + i * kMaxDatagramBytes);
    if (::sendto(socket.handle, bytes.data(), bytes.size(), 0, &targets[0].address.any, targets[0].size) < 0)
      fail("sendto");
  }
  const Round& round;
  Sealing& sealing;
  std::vector<Target> targets;
  RawSocket socket;
  std::vector<std::byte> bytes;
};

struct PlainReceiver final : Receiver {
  PlainReceiver(Sealing& s, const RawSocket& o) : sealing(s), own(o) {}
  std::size_t take() override {
    for (std::size_t count = 0;; ++count) {
      SocketAddress from;
      socklen_t from_size = sizeof from;
      const ssize_t size = ::recvfrom(own.handle, bytes.data(), bytes.size(), 0, &from.any, &from_size);
      if (size < 0 || count == kGather) return count;
      sealing.open({bytes.data(), static_cast<std::size_t>(size)});
    }
  }
  Sealing& sealing;
  const RawSocket& own;
  Bytes bytes;
};

struct GatheredReceiver final : Receiver {
  GatheredReceiver(Sealing& s, const RawSocket& o) : sealing(s), own(o), bytes(kGather) {}
  std::size_t take() override {
    for (std::size_t i = 0; i < kGather; ++i) {
      pieces[i] = {bytes[i].data(), bytes[i].size()};
      headers[i].msg_hdr = {};
      headers[i].msg_hdr.msg_name = &from[i];
      headers[i].msg_hdr.msg_namelen = sizeof from[i];
      headers[i].msg_hdr.msg_iov = &pieces[i];
      headers[i].msg_hdr.msg_iovlen = 1;
    }
    const int count = ::recvmmsg(own.handle, headers, kGather, MSG_DONTWAIT, nullptr);
    for (int i = 0; i < count; ++i)
      sealing.open({bytes[static_cast<std::size_t>(i)].data(), headers[i].msg_len});
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  Sealing& sealing;
  const RawSocket& own;
  std::vector<Bytes> bytes;
  iovec pieces[kGather];
  mmsghdr headers[kGather];
  SocketAddress from[kGather];
};

// Bursts arrive as bursts: a datagram is as long as was sent, which a real reader would ask of the control message.
struct BurstReceiver final : Receiver {
  BurstReceiver(Sealing& s, const RawSocket& o) : sealing(s), own(o), bytes(65536) {}
  std::size_t take() override {
    std::size_t count = 0;
    while (count < kGather) {
      SocketAddress from;
      alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
      iovec piece{bytes.data(), bytes.size()};
      msghdr header{};
      header.msg_name = &from;
      header.msg_namelen = sizeof from;
      header.msg_iov = &piece;
      header.msg_iovlen = 1;
      header.msg_control = control;
      header.msg_controllen = sizeof control;
      const ssize_t size = ::recvmsg(own.handle, &header, 0);
      if (size < 0) return count;
      for (std::size_t at = 0; at < static_cast<std::size_t>(size); at += kMaxDatagramBytes, ++count)
        sealing.open({bytes.data() + at, std::min(kMaxDatagramBytes, static_cast<std::size_t>(size) - at)});
    }
    return count;
  }
  Sealing& sealing;
  const RawSocket& own;
  std::vector<std::byte> bytes;
};

// ----------------------------------------------------------------------------------------------------- ours

std::unique_ptr<UdpPort> open_port(std::size_t ring_datagrams) {
  auto port = UdpPort::open({.local = Endpoint::ipv4(0, 0, 0, 0, 0), .ring_datagrams = ring_datagrams});
  if (!port) {
    fmt::print(stderr, "bench_wire: {}\n", port.error());
    std::exit(1);
  }
  return std::move(*port);
}

struct PortSender final : Sender {
  PortSender(const Round& r, Sealing& s) : round(r), sealing(s), port(open_port(0)) {}
  void send_round(std::uint64_t first) override {
    for (std::size_t i = 0; i < round.datagrams; ++i) {
      sealing.seal(first + i, bytes.data());
      (void)port->send(round.peer_of(i), bytes);
    }
    port->flush();
  }
  const Round& round;
  Sealing& sealing;
  std::unique_ptr<UdpPort> port;
  Bytes bytes;
};

struct PortReceiver final : Receiver {
  PortReceiver(Sealing& s, UdpPort& o, bool r) : sealing(s), own(o), has_ring(r) {}
  std::size_t take() override {
    std::size_t count = 0;
    for (; count < kGather && own.receive(datagram); ++count) sealing.open(datagram.span());
    return count;
  }
  void rest() override {
    if (has_ring) {
      (void)own.wait(milliseconds{1});
    } else {
      shoal::rest();
    }
  }
  Sealing& sealing;
  UdpPort& own;
  bool has_ring;
  Datagram datagram;
};

// -------------------------------------------------------------------------------------------------- measuring

enum class Way { Plain, Gathered, Bursts, Port, PortWithRing };

struct Case {
  const char* name;
  std::size_t peers;
  Way way;
  bool is_sealed;
  const char* reference;  // the case that it is measured against
};

constexpr Case kCases[] = {
    {"burst/sendto", 1, Way::Plain, false, "burst/gso"},
    {"burst/sendmmsg", 1, Way::Gathered, false, "burst/gso"},
    {"burst/gso", 1, Way::Bursts, false, "burst/gso"},
    {"burst/gso_sealed", 1, Way::Bursts, true, "burst/gso"},
    {"burst/port", 1, Way::Port, false, "burst/gso"},
    {"burst/port_sealed", 1, Way::Port, true, "burst/gso"},
    {"burst/port_to_ring", 1, Way::PortWithRing, false, "burst/gso"},
    {"burst/port_to_ring_sealed", 1, Way::PortWithRing, true, "burst/gso"},
    {"peers/sendto", kPeers, Way::Plain, false, "peers/sendto"},
    {"peers/sendto_sealed", kPeers, Way::Plain, true, "peers/sendto"},
    {"peers/sendmmsg", kPeers, Way::Gathered, false, "peers/sendto"},
    {"peers/port", kPeers, Way::Port, false, "peers/sendto"},
    {"peers/port_sealed", kPeers, Way::Port, true, "peers/sendto"},
    {"peers/port_to_ring", kPeers, Way::PortWithRing, false, "peers/sendto"},
    {"peers/port_to_ring_sealed", kPeers, Way::PortWithRing, true, "peers/sendto"},
};

struct Measure {
  double datagrams_per_second = 0;
  double cpu_nanoseconds = 0;  // per datagram, both threads and the kernel's part
};

Measure measure(const Case& one, std::size_t burst, double seconds) {
  Sealing sender_sealing(one.is_sealed);
  Sealing receiver_sealing(one.is_sealed);
  std::unique_ptr<RawSocket> socket;
  std::unique_ptr<UdpPort> port;
  std::unique_ptr<Receiver> receiver;
  if (one.way == Way::Port || one.way == Way::PortWithRing) {
    port = open_port(one.way == Way::PortWithRing ? 8192 : 0);
    receiver = std::make_unique<PortReceiver>(receiver_sealing, *port, one.way == Way::PortWithRing);
  } else {
    socket = std::make_unique<RawSocket>(one.way == Way::Bursts);
    if (one.way == Way::Plain) receiver = std::make_unique<PlainReceiver>(receiver_sealing, *socket);
    if (one.way == Way::Gathered) receiver = std::make_unique<GatheredReceiver>(receiver_sealing, *socket);
    if (one.way == Way::Bursts) receiver = std::make_unique<BurstReceiver>(receiver_sealing, *socket);
  }
  Round round{one.peers == 1 ? burst : one.peers, {}};
  for (std::size_t i = 0; i < one.peers; ++i) {
    round.peers.push_back(Endpoint::ipv4(127, 0, 0, static_cast<std::uint8_t>(1 + i),
                                         port ? port->local().port : socket->port));
  }
  std::unique_ptr<Sender> sender;
  if (one.way == Way::Plain) sender = std::make_unique<PlainSender>(round, sender_sealing);
  if (one.way == Way::Gathered) sender = std::make_unique<GatheredSender>(round, sender_sealing);
  if (one.way == Way::Bursts) sender = std::make_unique<BurstSender>(round, sender_sealing);
  if (!sender) sender = std::make_unique<PortSender>(round, sender_sealing);

  std::atomic<std::uint64_t> received{0};
  std::atomic<bool> is_over{false};
  std::thread receiving([&] {
    while (!is_over.load(std::memory_order_relaxed)) {
      const std::size_t count = receiver->take();
      if (count == 0) {
        receiver->rest();
      } else {
        received.store(received.load(std::memory_order_relaxed) + count, std::memory_order_release);
      }
    }
  });
  std::thread sending([&] {
    std::uint64_t sent = 0;
    while (!is_over.load(std::memory_order_relaxed)) {
      if (sent + round.datagrams - received.load(std::memory_order_acquire) > kWindow) {
        rest();
        continue;
      }
      sender->send_round(sent);
      sent += round.datagrams;
    }
  });
  const auto sleep = [](double time) { std::this_thread::sleep_for(std::chrono::duration<double>(time)); };
  sleep(seconds / 5);
  const double begin = seconds_now();
  const double cpu_begin = cpu_seconds();
  const std::uint64_t received_begin = received.load();
  sleep(seconds);
  const double took = seconds_now() - begin;
  const double cpu = cpu_seconds() - cpu_begin;
  const std::uint64_t count = received.load() - received_begin;
  is_over = true;
  sending.join();
  receiving.join();
  if (count == 0) fail("nothing arrived, or something was lost: is net.core.rmem_max very small?");
  return {static_cast<double>(count) / took, cpu * 1e9 / static_cast<double>(count)};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int run(int argc, char** argv) {
  int repetitions = 5;
  double seconds = 0.5;
  std::size_t burst = 32;
  std::string filter = ".";
  std::string output;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--repetitions") {
      repetitions = std::max(1, std::atoi(argv[i + 1]));
    } else if (option == "--seconds") {
      seconds = std::atof(argv[i + 1]);
    } else if (option == "--burst") {
      burst = static_cast<std::size_t>(std::clamp(std::atoi(argv[i + 1]), 1, 54));  // 64 kB
    } else if (option == "--filter") {
      filter = argv[i + 1];
    } else if (option == "--output") {
      output = argv[i + 1];
    } else {
      fmt::print(stderr,
                 "usage: bench_wire [--repetitions N] [--seconds S] [--burst N] [--filter REGEX] [--output "
                 "FILE.json]\n");
      return 2;
    }
  }
  if (sodium_init() < 0 || crypto_aead_aes256gcm_is_available() == 0) {
    fmt::print(stderr, "bench_wire: this processor has no AES-GCM for libsodium\n");
    return 1;
  }
  std::map<std::string, std::vector<Measure>> measures;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (const Case& one : kCases) {
      if (!std::regex_search(one.name, std::regex(filter))) continue;
      fmt::print(stderr, "\rround {} of {}: {:<30}", repetition + 1, repetitions, one.name);
      measures[one.name].push_back(measure(one, burst, seconds));
    }
  }
  fmt::print(stderr, "\r{:<50}\r", "");
  const auto median_rate = [&](const char* name) {
    std::vector<double> rates;
    for (const Measure& each : measures[name]) rates.push_back(each.datagrams_per_second);
    return rates.empty() ? 0.0 : median(rates);
  };
  std::string json = "{\n";
  fmt::print("{:<28}{:>14}{:>12}{:>12}{:>8}{:>10}{:>12}\n", "", "datagrams/s", "lowest", "highest", "ratio",
             "cpu, ns", "least cpu");
  for (const Case& one : kCases) {
    if (measures[one.name].empty()) continue;
    std::vector<double> rates;
    std::vector<double> cpus;
    for (const Measure& each : measures[one.name]) {
      rates.push_back(each.datagrams_per_second);
      cpus.push_back(each.cpu_nanoseconds);
    }
    const double reference = median_rate(one.reference);
    const double ratio = reference > 0 ? median(rates) / reference : 0;
    fmt::print("{:<28}{:>14.0f}{:>12.0f}{:>12.0f}{:>8.2f}{:>10.0f}{:>12.0f}\n", one.name, median(rates),
               *std::min_element(rates.begin(), rates.end()), *std::max_element(rates.begin(), rates.end()),
               ratio, median(cpus), *std::min_element(cpus.begin(), cpus.end()));
    json +=
        fmt::format("{}  \"{}\": {{\"datagrams_per_second\": {:.0f}, \"ratio\": {:.3f}, \"cpu_ns\": {:.0f}}}",
                    json.size() > 2 ? ",\n" : "", one.name, median(rates), ratio, median(cpus));
  }
  json += "\n}\n";
  if (!output.empty()) {
    std::FILE* file = std::fopen(output.c_str(), "w");
    if (file == nullptr) fail(output.c_str());
    std::fputs(json.c_str(), file);
    std::fclose(file);
  }
  return 0;
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  return shoal::run(argc, argv);
}
