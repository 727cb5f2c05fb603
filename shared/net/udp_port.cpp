#include "shared/net/udp_port.hpp"

// Asio has fences around handlers, which the thread sanitizer does not know. The handlers here run on one thread; what
// it shares with the caller are the ring and the counters, which the sanitizer does know.
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <asio.hpp>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "shared/base/log.hpp"
#include "shared/net/datagram_ring.hpp"
#include "shared/net/delay_queue.hpp"
#include "shared/net/udp_address.hpp"
#include "shared/net/udp_batch.hpp"
#include "shared/net/udp_intake.hpp"

namespace shoal {
namespace {

using asio::ip::udp;

// Between two looks at the socket while datagrams come; the kernel keeps them meanwhile.
constexpr auto kDrainPause = std::chrono::microseconds(500);
// A socket that reports nothing but errors is asked again after this long, so that it cannot spin the thread.
constexpr auto kErrorPause = std::chrono::milliseconds(10);
constexpr int kErrorsInARow = 64;
// Messages by one call of the system. Each has 64 kB of address space and as much memory as ever was read into it.
constexpr std::size_t kRingIntake = 32;
constexpr std::size_t kPlainIntake = 16;

udp::endpoint to_asio(const Endpoint& endpoint, bool is_v6) {
  if (is_v6) {
    asio::ip::address_v6::bytes_type bytes;
    std::copy(endpoint.address.begin(), endpoint.address.end(), bytes.begin());
    return {asio::ip::address_v6(bytes), endpoint.port};
  }
  asio::ip::address_v4::bytes_type bytes;
  std::copy(endpoint.address.begin() + 12, endpoint.address.end(), bytes.begin());
  return {asio::ip::address_v4(bytes), endpoint.port};
}

Endpoint from_asio(const udp::endpoint& endpoint) {
  const asio::ip::address address = endpoint.address();
  if (address.is_v4()) {
    const auto bytes = address.to_v4().to_bytes();
    return Endpoint::ipv4(bytes[0], bytes[1], bytes[2], bytes[3], endpoint.port());
  }
  Endpoint result;
  const auto bytes = address.to_v6().to_bytes();
  std::copy(bytes.begin(), bytes.end(), result.address.begin());
  result.port = endpoint.port();
  return result;
}

std::string open_error(const Endpoint& local, const asio::error_code& error) {
  if (error == asio::error::address_in_use) {
    return fmt::format("UDP port {} is in use: stop the program that has it, or choose another port",
                       local.port);
  }
  if (error == asio::error::access_denied) {
    return fmt::format("UDP port {} needs more rights than this process has: choose one above 1023",
                       local.port);
  }
  if (error == asio::error_code(EADDRNOTAVAIL, asio::error::get_system_category())) {
    return fmt::format("{} is not an address of this machine", to_string(local));
  }
  return fmt::format("cannot open UDP {}: {}", to_string(local), error.message());
}

void log_buffers(const UdpPort::Buffers& given, std::size_t asked) {
  const bool is_less = given.receive < asked || given.send < asked;
  log_info("net: socket buffers: receive {} KiB, send {} KiB (asked {} KiB{})", given.receive / 1024,
           given.send / 1024, asked / 1024, is_less ? "; raise net.core.rmem_max and net.core.wmem_max" : "");
}

int poll_milliseconds(Duration time_out) {
  // Rounded up: a caller that waits for a deadline must not spin in front of it.
  const auto whole = std::chrono::ceil<milliseconds>(std::max(time_out, Duration{0})).count();
  return static_cast<int>(std::min<std::int64_t>(whole, 3'600'000));
}

}  // namespace

struct UdpPort::Impl {
  asio::io_context io{1};
  // Asio has the socket only while the I/O thread sleeps on it: in its epoll set each arrival costs a quarter of a
  // microsecond more, whoever reads it.
  udp::socket socket{io};
  int handle = -1;
  std::unique_ptr<UdpBatch> batch;
  Buffers buffers;

  // Of the I/O thread, if there is one.
  std::unique_ptr<UdpIntake> intake;
  std::unique_ptr<DatagramRing> ring;
  std::thread thread;
  std::atomic<bool> stopping{false};
  asio::steady_timer pause{io};
  std::mutex wake_mutex;
  std::condition_variable wake;
  std::atomic<std::uint64_t> receive_overflows{0};

  bool is_v6 = false;

  asio::error_code open(const UdpPortConfig& config);
  asio::error_code open_as(const UdpPortConfig& config, bool as_v6);
  void size_buffers(std::size_t asked);
  void arm();
  void drain();
  void drain_after(Duration pause_first);
  std::size_t fill_ring();
  void tell_of_arrivals();

  Impl() = default;
  ~Impl() {
    asio::error_code ignored;
    if (socket.is_open() && handle >= 0) (void)socket.release(ignored);
    if (handle >= 0) ::close(handle);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
};

asio::error_code UdpPort::Impl::open(const UdpPortConfig& config) {
  const bool wants_v6 = !config.local.is_ipv4();
  asio::error_code error = open_as(config, wants_v6);
  // A machine without IPv6 still has IPv4.
  if (error && error != asio::error::address_in_use && wants_v6 && config.local.is_any()) {
    const asio::error_code second = open_as(config, false);
    if (!second) error = second;
  }
  return error;
}

asio::error_code UdpPort::Impl::open_as(const UdpPortConfig& config, bool as_v6) {
  asio::error_code error;
  asio::error_code ignored;
  is_v6 = as_v6;
  socket.close(ignored);
  socket.open(as_v6 ? udp::v6() : udp::v4(), error);
  if (error) return error;
  if (as_v6) socket.set_option(asio::ip::v6_only(false), ignored);
  size_buffers(config.socket_buffer_bytes);
  socket.non_blocking(true, error);
  if (error) return error;
  socket.bind(to_asio(config.local, as_v6), error);
  if (error) return error;
  if (config.only_peer) {
    if (!as_v6 && !config.only_peer->is_ipv4()) return asio::error::address_family_not_supported;
    socket.connect(to_asio(*config.only_peer, as_v6), error);
    if (error) return error;
  }
  handle = socket.release(error);
  if (error) return error;
  UdpIntake::enable_bursts(handle);
  batch = std::make_unique<UdpBatch>(UdpBatch::Socket{handle, as_v6, config.only_peer.has_value()});
  return error;
}

void UdpPort::Impl::size_buffers(std::size_t asked) {
  asio::error_code ignored;
  const int wanted = static_cast<int>(std::min<std::size_t>(asked, 1u << 30));
  asio::socket_base::receive_buffer_size receive(wanted);
  asio::socket_base::send_buffer_size send(wanted);
  socket.set_option(receive, ignored);
  socket.set_option(send, ignored);
  socket.get_option(receive, ignored);
  socket.get_option(send, ignored);
  // In bytes as they were asked for: Asio takes out again what the kernel adds for its book-keeping.
  buffers = {static_cast<std::size_t>(receive.value()), static_cast<std::size_t>(send.value())};
}

Result<std::unique_ptr<UdpPort>, std::string> UdpPort::open(const UdpPortConfig& config) {
  try {
    auto impl = std::make_unique<Impl>();
    if (const asio::error_code error = impl->open(config)) return Failure{open_error(config.local, error)};
    impl->intake = std::make_unique<UdpIntake>(config.ring_datagrams > 0 ? kRingIntake : kPlainIntake);
    if (config.ring_datagrams > 0) {
      log_buffers(impl->buffers, config.socket_buffer_bytes);
      impl->ring = std::make_unique<DatagramRing>(config.ring_datagrams);
      impl->arm();
      impl->thread = std::thread([io = &impl->io] { io->run(); });
    }
    return std::unique_ptr<UdpPort>(new UdpPort(std::move(impl)));
  } catch (const std::exception& exception) {
    return Failure{fmt::format("cannot open UDP {}: {}", to_string(config.local), exception.what())};
  }
}

UdpPort::UdpPort(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

UdpPort::~UdpPort() {
  impl_->stopping.store(true, std::memory_order_relaxed);
  impl_->io.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

// --------------------------------------------------------------------------------------------------
// receiving

void UdpPort::Impl::arm() {
  asio::error_code error;
  socket.assign(is_v6 ? udp::v6() : udp::v4(), handle, error);
  if (error) return drain_after(kErrorPause);  // no memory, no descriptors: looked after by the clock
  socket.async_wait(udp::socket::wait_read, [this](const asio::error_code&) {
    asio::error_code ignored;
    (void)socket.release(ignored);
    drain();
  });
}

void UdpPort::Impl::drain_after(Duration pause_first) {
  pause.expires_after(pause_first);
  pause.async_wait([this](const asio::error_code&) { drain(); });
}

void UdpPort::Impl::drain() {
  int errors = 0;
  std::size_t drained = 0;
  bool is_empty = false;
  while (!is_empty && errors < kErrorsInARow && drained < kDrainBound) {
    switch (intake->read(handle)) {
      case UdpIntake::Outcome::Datagrams:
        drained += fill_ring();
        errors = 0;
        break;
      case UdpIntake::Outcome::Nothing:
        is_empty = true;
        break;
      case UdpIntake::Outcome::Error:
        ++errors;
        break;
    }
  }
  if (drained > 0) tell_of_arrivals();
  if (stopping.load(std::memory_order_relaxed)) return;
  if (errors >= kErrorsInARow) return drain_after(kErrorPause);
  // More waits: at once, but after whatever else this thread has to do.
  if (!is_empty) return asio::post(io, [this] { drain(); });
  if (drained == 0) return arm();
  // Where one came more come: to be woken for each would cost two threads more than the datagrams do.
  drain_after(kDrainPause);
}

// Returns how many datagrams the intake had, whether or not there was room.
std::size_t UdpPort::Impl::fill_ring() {
  std::size_t count = 0;
  std::size_t overflows = 0;
  for (;; ++count) {
    Datagram* place = ring->begin_push();
    if (place == nullptr) {
      Endpoint peer;
      std::span<const std::byte> bytes;
      if (!intake->next(peer, bytes)) break;
      ++overflows;
      continue;
    }
    if (!intake->next(*place)) break;
    ring->finish_push();
  }
  if (overflows > 0) receive_overflows.fetch_add(overflows, std::memory_order_relaxed);
  return count;
}

void UdpPort::Impl::tell_of_arrivals() {
  // The lock orders the pushes before the sleeper's look at the ring, or after its sleep began.
  { const std::lock_guard lock(wake_mutex); }
  wake.notify_one();
}

bool UdpPort::receive(Datagram& datagram) {
  if (impl_->ring != nullptr) {
    const Datagram* front = impl_->ring->front();
    if (front == nullptr) return false;
    copy_datagram(*front, datagram);
    impl_->ring->pop();
    return true;
  }
  if (impl_->intake->next(datagram)) return true;
  for (int errors = 0; errors < kErrorsInARow;) {
    switch (impl_->intake->read(impl_->handle)) {
      case UdpIntake::Outcome::Datagrams:
        if (impl_->intake->next(datagram)) return true;
        break;  // all that came was truncated
      case UdpIntake::Outcome::Nothing:
        return false;
      case UdpIntake::Outcome::Error:
        break;
    }
    ++errors;
  }
  return false;
}

bool UdpPort::wait(Duration time_out) {
  if (impl_->ring == nullptr) {
    UdpPort* const self = this;
    return wait_any({&self, 1}, time_out);
  }
  std::unique_lock lock(impl_->wake_mutex);
  return impl_->wake.wait_for(lock, std::max(time_out, Duration{0}),
                              [this] { return !impl_->ring->empty(); });
}

bool UdpPort::wait_any(std::span<UdpPort* const> ports, Duration time_out) {
  std::vector<pollfd> waits;
  waits.reserve(ports.size());
  for (UdpPort* port : ports) {
    SHOAL_ASSERT(port->impl_->ring == nullptr, "wait_any() is for ports without I/O thread");
    // What was read with others and not yet handed out is there, whatever the socket says.
    if (port->impl_->intake->has_next()) return true;
    waits.push_back({port->impl_->handle, POLLIN, 0});
  }
  return ::poll(waits.data(), static_cast<nfds_t>(waits.size()), poll_milliseconds(time_out)) > 0;
}

// ----------------------------------------------------------------------------------------------------
// sending

bool UdpPort::send(const Endpoint& peer, std::span<const std::byte> bytes) {
  return impl_->batch->add(peer, bytes);
}

void UdpPort::flush() {
  impl_->batch->flush();
}

bool UdpPort::makes_bursts() const {
  return impl_->batch->makes_bursts();
}

Endpoint UdpPort::local() const {
  SocketAddress address;
  socklen_t size = sizeof address;
  if (::getsockname(impl_->handle, &address.any, &size) != 0) return {};
  return read_address(address);
}

UdpPort::Buffers UdpPort::buffers() const {
  return impl_->buffers;
}

PortCounters UdpPort::counters() const {
  const auto read = [](const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  const UdpBatch::Counters& sent = impl_->batch->counters();
  const UdpIntake::Counters& received = impl_->intake->counters();
  PortCounters counters;
  counters.sent_datagrams = sent.sent_datagrams;
  counters.sent_bytes = sent.sent_bytes;
  counters.sent_in_bursts = sent.sent_in_bursts;
  counters.send_failures = sent.failures;
  counters.received_datagrams = read(received.datagrams);
  counters.received_bytes = read(received.bytes);
  counters.received_in_bursts = read(received.in_bursts);
  counters.receive_failures = read(received.failures);
  counters.receive_truncated = read(received.truncated);
  counters.receive_overflows = read(impl_->receive_overflows);
  counters.unreachable = sent.unreachable + read(received.unreachable);
  return counters;
}

// --------------------------------------------------------------------------------------------------
// resolving

Result<Endpoint, std::string> resolve_endpoint(std::string_view text, std::uint16_t default_port) {
  if (const auto numeric = parse_endpoint(text, default_port)) return *numeric;
  std::string host(text);
  std::uint16_t port = default_port;
  if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    // The numeric parser judges the port.
    const auto probe = parse_endpoint("0.0.0.0" + std::string(text.substr(colon)), default_port);
    if (!probe)
      return Failure{
          fmt::format("'{}' is not an address: write host:port, 1.2.3.4:port or [::1]:port", text)};
    port = probe->port;
    host = text.substr(0, colon);
  }
  try {
    asio::io_context io;
    udp::resolver resolver(io);
    asio::error_code error;
    const auto results = resolver.resolve(host, std::string(), error);
    if (error || results.empty())
      return Failure{fmt::format("cannot find the host '{}': {}", host, error.message())};
    Endpoint first = from_asio(results.begin()->endpoint());
    for (const auto& result : results) {
      if (result.endpoint().address().is_v4()) {
        first = from_asio(result.endpoint());
        break;
      }
    }
    first.port = port;
    return first;
  } catch (const std::exception& exception) {
    return Failure{fmt::format("cannot find the host '{}': {}", host, exception.what())};
  }
}

}  // namespace shoal
