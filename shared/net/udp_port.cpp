#include "shared/net/udp_port.hpp"

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

#include "shared/net/datagram_ring.hpp"
#include "shared/net/delay_queue.hpp"

namespace shoal {
namespace {

using asio::ip::udp;

// Between two looks at the socket while datagrams come; the kernel keeps them meanwhile.
constexpr auto kDrainPause = std::chrono::microseconds(500);
// A socket that reports nothing but errors is asked again after this long, so that it cannot spin the thread.
constexpr auto kErrorPause = std::chrono::milliseconds(10);
constexpr int kErrorsInARow = 64;

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

bool is_unreachable(const asio::error_code& error) {
  return error == asio::error::connection_refused || error == asio::error::host_unreachable ||
         error == asio::error::network_unreachable;
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

int poll_milliseconds(Duration time_out) {
  // Rounded up: a caller that waits for a deadline must not spin in front of it.
  const auto whole = std::chrono::ceil<milliseconds>(std::max(time_out, Duration{0})).count();
  return static_cast<int>(std::min<std::int64_t>(whole, 3'600'000));
}

}  // namespace

struct UdpPort::Impl {
  asio::io_context io{1};
  udp::socket socket{io};
  // The same socket once more, for the caller's thread: an asio object is not shared between threads.
  asio::io_context send_io{1};
  udp::socket send_socket{send_io};
  bool is_v6 = false;
  bool has_peer = false;

  std::unique_ptr<DatagramRing> ring;
  std::thread thread;
  std::atomic<bool> stopping{false};
  asio::steady_timer pause{io};
  std::mutex wake_mutex;
  std::condition_variable wake;
  Datagram spare;  // read into when the ring is full

  // Sending is counted by the caller's thread, receiving by whoever reads the socket.
  std::uint64_t sent_datagrams = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t send_failures = 0;
  std::atomic<std::uint64_t> received_datagrams{0};
  std::atomic<std::uint64_t> received_bytes{0};
  std::atomic<std::uint64_t> receive_failures{0};
  std::atomic<std::uint64_t> receive_overflows{0};
  std::atomic<std::uint64_t> unreachable{0};

  asio::error_code open(const UdpPortConfig& config);
  asio::error_code open_as(const UdpPortConfig& config, bool as_v6);
  enum class Read { Datagram, Nothing, Error };
  Read read(Datagram& datagram);
  void arm();
  void drain();
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
  const int buffer_bytes = static_cast<int>(std::min<std::size_t>(config.socket_buffer_bytes, 1u << 30));
  socket.set_option(asio::socket_base::receive_buffer_size(buffer_bytes), ignored);
  socket.set_option(asio::socket_base::send_buffer_size(buffer_bytes), ignored);
  socket.non_blocking(true, error);
  if (error) return error;
  socket.bind(to_asio(config.local, as_v6), error);
  if (error) return error;
  if (config.only_peer) {
    if (!as_v6 && !config.only_peer->is_ipv4()) return asio::error::address_family_not_supported;
    socket.connect(to_asio(*config.only_peer, as_v6), error);
    if (error) return error;
    has_peer = true;
  }
  const int copy = ::dup(socket.native_handle());
  if (copy < 0) return {errno, asio::error::get_system_category()};
  send_socket.assign(as_v6 ? udp::v6() : udp::v4(), copy, error);
  if (error) {
    ::close(copy);
    return error;
  }
  send_socket.non_blocking(true, error);
  return error;
}

Result<std::unique_ptr<UdpPort>, std::string> UdpPort::open(const UdpPortConfig& config) {
  try {
    auto impl = std::make_unique<Impl>();
    if (const asio::error_code error = impl->open(config)) return Failure{open_error(config.local, error)};
    if (config.ring_datagrams > 0) {
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

UdpPort::Impl::Read UdpPort::Impl::read(Datagram& datagram) {
  udp::endpoint sender;
  asio::error_code error;
  const std::size_t bytes = socket.receive_from(asio::buffer(datagram.bytes), sender, 0, error);
  if (error == asio::error::would_block || error == asio::error::try_again) return Read::Nothing;
  if (error) {
    receive_failures.fetch_add(1, std::memory_order_relaxed);
    if (is_unreachable(error)) unreachable.fetch_add(1, std::memory_order_relaxed);
    return Read::Error;
  }
  datagram.peer = from_asio(sender);
  datagram.size = static_cast<std::uint16_t>(bytes);
  received_datagrams.fetch_add(1, std::memory_order_relaxed);
  received_bytes.fetch_add(bytes, std::memory_order_relaxed);
  return Read::Datagram;
}

void UdpPort::Impl::arm() {
  socket.async_wait(udp::socket::wait_read, [this](const asio::error_code&) { drain(); });
}

void UdpPort::Impl::drain() {
  int errors = 0;
  bool any_pushed = false;
  while (!stopping.load(std::memory_order_relaxed)) {
    Datagram* place = ring->begin_push();
    const Read result = read(place != nullptr ? *place : spare);
    if (result == Read::Nothing) break;
    if (result == Read::Error) {
      if (++errors < kErrorsInARow) continue;
      if (any_pushed) wake.notify_one();
      pause.expires_after(kErrorPause);
      pause.async_wait([this](const asio::error_code&) { drain(); });
      return;
    }
    errors = 0;
    if (place == nullptr) {
      receive_overflows.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    ring->finish_push();
    any_pushed = true;
  }
  if (any_pushed) {
    // The lock orders the pushes before the sleeper's look at the ring, or after its sleep began.
    { const std::lock_guard lock(wake_mutex); }
    wake.notify_one();
  }
  if (stopping.load(std::memory_order_relaxed)) return;
  if (!any_pushed) return arm();
  // Where one came more come: to be woken for each would cost two threads more than the datagrams do.
  pause.expires_after(kDrainPause);
  pause.async_wait([this](const asio::error_code&) { drain(); });
}

bool UdpPort::receive(Datagram& datagram) {
  if (impl_->ring != nullptr) {
    const Datagram* front = impl_->ring->front();
    if (front == nullptr) return false;
    copy_datagram(*front, datagram);
    impl_->ring->pop();
    return true;
  }
  for (int errors = 0; errors < kErrorsInARow; ++errors) {
    const Impl::Read result = impl_->read(datagram);
    if (result != Impl::Read::Error) return result == Impl::Read::Datagram;
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
    waits.push_back({port->impl_->socket.native_handle(), POLLIN, 0});
  }
  return ::poll(waits.data(), static_cast<nfds_t>(waits.size()), poll_milliseconds(time_out)) > 0;
}

// ----------------------------------------------------------------------------------------------------
// sending

bool UdpPort::send(const Endpoint& peer, std::span<const std::byte> bytes) {
  asio::error_code error = asio::error::address_family_not_supported;
  // Once more after ICMP: the kernel reports what an earlier datagram met instead of sending this one.
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto buffer = asio::buffer(bytes.data(), bytes.size());
    if (impl_->has_peer) {
      impl_->send_socket.send(buffer, 0, error);
    } else if (impl_->is_v6 || peer.is_ipv4()) {
      impl_->send_socket.send_to(buffer, to_asio(peer, impl_->is_v6), 0, error);
    }
    if (!is_unreachable(error)) break;
    impl_->unreachable.fetch_add(1, std::memory_order_relaxed);
  }
  if (error) {
    ++impl_->send_failures;
    return false;
  }
  ++impl_->sent_datagrams;
  impl_->sent_bytes += bytes.size();
  return true;
}

Endpoint UdpPort::local() const {
  asio::error_code ignored;
  return from_asio(impl_->send_socket.local_endpoint(ignored));
}

PortCounters UdpPort::counters() const {
  PortCounters counters;
  counters.sent_datagrams = impl_->sent_datagrams;
  counters.sent_bytes = impl_->sent_bytes;
  counters.send_failures = impl_->send_failures;
  counters.received_datagrams = impl_->received_datagrams.load(std::memory_order_relaxed);
  counters.received_bytes = impl_->received_bytes.load(std::memory_order_relaxed);
  counters.receive_failures = impl_->receive_failures.load(std::memory_order_relaxed);
  counters.receive_overflows = impl_->receive_overflows.load(std::memory_order_relaxed);
  counters.unreachable = impl_->unreachable.load(std::memory_order_relaxed);
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
