// Endpoints as the system's calls want them, in a socket of either protocol. Internal to the UDP port.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "shared/net/endpoint.hpp"

namespace shoal {

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

/// Writes `endpoint` for a socket of IPv6, or of IPv4 alone; returns the bytes used.
/// REQUIRES: as_v6, or an endpoint of IPv4.
inline socklen_t write_address(const Endpoint& endpoint, bool as_v6, SocketAddress& address) {
  if (as_v6) {
    address.v6 = {};
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = htons(endpoint.port);
    std::memcpy(&address.v6.sin6_addr, endpoint.address.data(), 16);
    return sizeof(sockaddr_in6);
  }
  address.v4 = {};
  address.v4.sin_family = AF_INET;
  address.v4.sin_port = htons(endpoint.port);
  std::memcpy(&address.v4.sin_addr, endpoint.address.data() + 12, 4);
  return sizeof(sockaddr_in);
}

inline Endpoint read_address(const SocketAddress& address) {
  Endpoint endpoint;
  if (address.any.sa_family == AF_INET6) {
    std::memcpy(endpoint.address.data(), &address.v6.sin6_addr, 16);
    endpoint.port = ntohs(address.v6.sin6_port);
    return endpoint;
  }
  endpoint.address[10] = endpoint.address[11] = 0xFF;
  std::memcpy(endpoint.address.data() + 12, &address.v4.sin_addr, 4);
  endpoint.port = ntohs(address.v4.sin_port);
  return endpoint;
}

}  // namespace shoal
