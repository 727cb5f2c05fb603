#include "shared/net/cookie.hpp"

#include <sodium.h>

#include <cstring>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"
#include "shared/net/transport_limits.hpp"

namespace shoal {
namespace {

std::uint64_t seconds_of(Time time) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<seconds>(time.since_zero).count());
}
constexpr std::uint64_t kPeriodSeconds = std::chrono::duration_cast<seconds>(kCookieSecretLifetime).count();
constexpr std::uint64_t kLifetimeSeconds = std::chrono::duration_cast<seconds>(kCookieLifetime).count();

}  // namespace

CookieMint::CookieMint(Entropy& entropy) : entropy_(entropy) {
  SHOAL_ASSERT(sodium_init() >= 0, "libsodium does not start");
}

CookieMint::~CookieMint() {
  sodium_memzero(current_.key.data(), current_.key.size());
  sodium_memzero(previous_.key.data(), previous_.key.size());
}

void CookieMint::rotate(Time now) {
  const std::uint64_t period = seconds_of(now) / kPeriodSeconds;
  if (current_.is_set && current_.period == period) return;
  previous_ = current_;
  current_.period = period;
  if (current_.is_set && fault("net-one-cookie-secret")) return;
  current_.is_set = true;
  entropy_.fill(std::as_writable_bytes(std::span(current_.key)));
}

std::array<std::uint8_t, 32> CookieMint::code(const Secret& secret, const Endpoint& peer, std::uint64_t nonce,
                                              const PublicKey& client_key, std::uint64_t issued_seconds) {
  std::array<unsigned char, 16 + 2 + 8 + 32 + 8> message{};
  unsigned char* at = message.data();
  const auto put = [&at](const void* source, std::size_t bytes) {
    std::memcpy(at, source, bytes);
    at += bytes;
  };
  put(peer.address.data(), peer.address.size());
  put(&peer.port, sizeof peer.port);
  put(&nonce, sizeof nonce);
  put(client_key.bytes.data(), client_key.bytes.size());
  put(&issued_seconds, sizeof issued_seconds);
  std::array<std::uint8_t, 32> result{};
  crypto_generichash(result.data(), result.size(), message.data(), message.size(), secret.key.data(),
                     secret.key.size());
  return result;
}

HandshakeCookie CookieMint::make(const Endpoint& peer, std::uint64_t nonce, const PublicKey& client_key,
                                 Time now) {
  rotate(now);
  const std::uint64_t issued = seconds_of(now);
  return {issued, code(current_, peer, nonce, client_key, issued)};
}

CookieMint::Verdict CookieMint::check(const HandshakeCookie& cookie, const Endpoint& peer,
                                      std::uint64_t nonce, const PublicKey& client_key, Time now) {
  rotate(now);
  if (fault("net-believe-cookies")) return Verdict::Good;
  const std::uint64_t now_seconds = seconds_of(now);
  if (cookie.issued_seconds > now_seconds) return Verdict::Forged;
  if (now_seconds - cookie.issued_seconds > kLifetimeSeconds && !fault("net-old-cookies"))
    return Verdict::Stale;
  const std::uint64_t period = cookie.issued_seconds / kPeriodSeconds;
  const Secret& secret = period == current_.period ? current_ : previous_;
  if (!secret.is_set || secret.period != period) return Verdict::Stale;
  const auto expected = code(secret, peer, nonce, client_key, cookie.issued_seconds);
  return sodium_memcmp(expected.data(), cookie.code.data(), expected.size()) == 0 ? Verdict::Good
                                                                                  : Verdict::Forged;
}

}  // namespace shoal
