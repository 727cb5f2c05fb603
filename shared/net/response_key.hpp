// One Response and its copies, as a server remembers it for as long as its cookie is good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#include "shared/net/cookie.hpp"
#include "shared/net/endpoint.hpp"

namespace shoal {

struct ResponseKey {
  Endpoint peer;
  std::uint64_t nonce = 0;
  HandshakeCookie cookie;
  friend bool operator==(const ResponseKey&, const ResponseKey&) = default;
};

}  // namespace shoal

/// By the cookie's code alone, which is a keyed hash of all the rest: the nonce is the client's choice, and so anybody could
/// send all to one bucket. REQUIRES: the cookie is good.
template <>
struct std::hash<shoal::ResponseKey> {
  std::size_t operator()(const shoal::ResponseKey& key) const noexcept {
    std::size_t result = 0;
    std::memcpy(&result, key.cookie.code.data(), sizeof result);
    return result;
  }
};
