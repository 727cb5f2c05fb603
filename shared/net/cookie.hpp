// Stateless cookies: the server remembers nothing about a Hello, yet knows in the Response that its sender
// does receive mail at the address it claims. A keyed hash (BLAKE2b) under a secret that is replaced
// regularly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/random.hpp"
#include "shared/base/time.hpp"
#include "shared/net/endpoint.hpp"
#include "shared/net/keys.hpp"

namespace shoal {

struct HandshakeCookie {
  std::uint64_t issued_seconds = 0;  // on the server's clock
  std::array<std::uint8_t, 32> code{};

  friend bool operator==(const HandshakeCookie&, const HandshakeCookie&) = default;
};

class CookieMint {
 public:
  enum class Verdict {
    Good,
    Stale,   // too old: the client starts again
    Forged,  // not ours, or made for another address or client
  };

  explicit CookieMint(Entropy& entropy);
  ~CookieMint();
  CookieMint(const CookieMint&) = delete;
  CookieMint& operator=(const CookieMint&) = delete;

  HandshakeCookie make(const Endpoint& peer, std::uint64_t nonce, const PublicKey& client_key, Time now);
  Verdict check(const HandshakeCookie& cookie, const Endpoint& peer, std::uint64_t nonce,
                const PublicKey& client_key, Time now);

 private:
  struct Secret {
    std::uint64_t period = 0;
    bool is_set = false;
    std::array<unsigned char, 32> key{};
  };

  void rotate(Time now);
  static std::array<std::uint8_t, 32> code(const Secret& secret, const Endpoint& peer, std::uint64_t nonce,
                                           const PublicKey& client_key, std::uint64_t issued_seconds);

  Entropy& entropy_;
  Secret current_;
  Secret previous_;
};

}  // namespace shoal
