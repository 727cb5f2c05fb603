#include "shared/net/transport_counters.hpp"

namespace shoal {

std::string_view to_string(BadDatagram kind) {
  static constexpr std::array<std::string_view, kBadDatagrams> kNames{"too short",
                                                                      "too long",
                                                                      "unknown type",
                                                                      "bad tag",
                                                                      "malformed",
                                                                      "unknown connection",
                                                                      "wrong address",
                                                                      "duplicate",
                                                                      "too old",
                                                                      "too far ahead",
                                                                      "bad acknowledgement",
                                                                      "unexpected payload",
                                                                      "unexpected handshake",
                                                                      "unpadded hello",
                                                                      "forged cookie",
                                                                      "stale cookie",
                                                                      "replayed response",
                                                                      "too many responses",
                                                                      "bad player key",
                                                                      "bad server key"};
  const std::size_t index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames[index] : "unknown";
}

std::string_view to_string(TrafficKind kind) {
  static constexpr std::array<std::string_view, kTrafficKinds> kNames{
      "handshake", "state", "messages", "sign of life", "path", "close", "bad"};
  const std::size_t index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames[index] : "unknown";
}

}  // namespace shoal
