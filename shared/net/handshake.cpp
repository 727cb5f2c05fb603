#include "shared/net/handshake.hpp"

#include <algorithm>
#include <cstring>

#include "shared/net/transport_limits.hpp"

namespace shoal {
namespace {

// Response: what stands beside the components and their names, and what a component costs.
constexpr std::size_t kResponseFixedBytes = 220;
constexpr std::size_t kComponentBytes = sizeof(protocol::ComponentVersion);

protocol::Key to_wire(const HandshakeKey& key) {
  return protocol::Key(flatbuffers::span<const std::uint8_t, 32>(key));
}
protocol::Cookie to_wire(const HandshakeCookie& cookie) {
  return {cookie.issued_seconds, flatbuffers::span<const std::uint8_t, 32>(cookie.code)};
}
HandshakeKey from_wire(const protocol::Key& key) {
  HandshakeKey result;
  std::copy_n(key.bytes()->begin(), result.size(), result.begin());
  return result;
}
HandshakeCookie from_wire(const protocol::Cookie& cookie) {
  HandshakeCookie result;
  result.issued_seconds = cookie.issued_seconds();
  std::copy_n(cookie.code()->begin(), result.code.size(), result.code.begin());
  return result;
}

}  // namespace

void HandshakeWriter::finish(DatagramType type, std::uint64_t nonce, OutgoingDatagram& datagram) {
  const auto body = std::as_bytes(std::span(builder_.GetBufferPointer(), builder_.GetSize()));
  datagram.size = seal({type, nonce, Sequence{}}, body, datagram.bytes);
}

void HandshakeWriter::hello(std::uint64_t nonce, const HelloBody& body, OutgoingDatagram& datagram) {
  builder_.Clear();
  const protocol::Key key = to_wire(body.client_key);
  builder_.Finish(protocol::CreateHello(builder_, body.protocol_version, &key));
  // Zeros up to the full size, so that whatever the server answers is not more than it got.
  BodyBuffer padded{};
  std::memcpy(padded.bytes.data(), builder_.GetBufferPointer(), builder_.GetSize());
  datagram.size = seal({DatagramType::Hello, nonce, Sequence{}}, padded.bytes, datagram.bytes);
}

std::optional<HelloBody> read_hello(std::span<const std::byte> body) {
  const auto* hello = verified<protocol::Hello>(body);
  if (hello == nullptr || hello->client_key() == nullptr) return std::nullopt;
  return HelloBody{hello->protocol_version(), from_wire(*hello->client_key())};
}

void HandshakeWriter::challenge(std::uint64_t nonce, const ChallengeBody& body, OutgoingDatagram& datagram) {
  builder_.Clear();
  const protocol::Cookie cookie = to_wire(body.cookie);
  builder_.Finish(protocol::CreateChallenge(builder_, &cookie, body.schema_hash));
  finish(DatagramType::Challenge, nonce, datagram);
}

std::optional<ChallengeBody> read_challenge(std::span<const std::byte> body) {
  const auto* challenge = verified<protocol::Challenge>(body);
  if (challenge == nullptr || challenge->cookie() == nullptr) return std::nullopt;
  return ChallengeBody{from_wire(*challenge->cookie()), challenge->schema_hash()};
}

void HandshakeWriter::response(std::uint64_t nonce, const ResponseBody& body, OutgoingDatagram& datagram) {
  builder_.Clear();
  const std::size_t credential_bytes = std::min(body.credentials.size(), kMaxCredentialBytes);
  std::size_t room = kMaxPacketBodyBytes - kResponseFixedBytes - credential_bytes;
  const std::size_t count = std::min(body.components.size(), room / kComponentBytes);
  room -= count * kComponentBytes;

  std::vector<protocol::ComponentVersion> components;
  std::string names;
  bool names_fit = true;
  for (std::size_t i = 0; i < count; ++i) {
    const SchemaEntry& entry = body.components[i];
    components.emplace_back(entry.hash, entry.wire_id);
    names_fit = names_fit && names.size() + entry.name.size() + 1 <= room;
    if (names_fit) names += entry.name + '\n';
  }
  const auto names_at = names.empty() ? 0 : builder_.CreateString(names);
  const auto components_at = components.empty() ? 0 : builder_.CreateVectorOfStructs(components);
  const auto* credentials = reinterpret_cast<const std::uint8_t*>(body.credentials.data());
  const auto credentials_at =
      credential_bytes == 0 ? 0 : builder_.CreateVector(credentials, credential_bytes);
  const protocol::Key key = to_wire(body.client_key);
  const protocol::Cookie cookie = to_wire(body.cookie);
  builder_.Finish(protocol::CreateResponse(builder_, body.protocol_version, &key, &cookie, body.schema_hash,
                                           components_at, names_at, count < body.components.size(),
                                           credentials_at));
  finish(DatagramType::Response, nonce, datagram);
}

std::optional<ResponseBody> read_response(std::span<const std::byte> body) {
  const auto* response = verified<protocol::Response>(body);
  if (response == nullptr || response->client_key() == nullptr || response->cookie() == nullptr)
    return std::nullopt;
  ResponseBody result{response->protocol_version(),
                      from_wire(*response->client_key()),
                      from_wire(*response->cookie()),
                      response->schema_hash(),
                      {},
                      response->components_cut(),
                      {}};
  if (const auto* credentials = response->credentials()) {
    if (credentials->size() > kMaxCredentialBytes) return std::nullopt;
    result.credentials = std::as_bytes(std::span(credentials->data(), credentials->size()));
  }
  return result;
}

SchemaVersions read_response_components(std::span<const std::byte> body) {
  const auto* response = verified<protocol::Response>(body);
  SchemaVersions result;
  if (response == nullptr || response->components() == nullptr) return result;
  std::string_view names =
      response->component_names() == nullptr ? "" : response->component_names()->string_view();
  for (const protocol::ComponentVersion* version : *response->components()) {
    const std::size_t line = names.find('\n');
    const bool has_name = line != std::string_view::npos;
    result.push_back({version->wire_id(), version->hash(), has_name ? printable(names.substr(0, line)) : ""});
    if (has_name) names.remove_prefix(line + 1);
  }
  sort_schema(result);
  return result;
}

void HandshakeWriter::accept(std::uint64_t nonce, const AcceptBody& body, OutgoingDatagram& datagram) {
  builder_.Clear();
  const auto time_out_ms = std::chrono::duration_cast<milliseconds>(body.time_out).count();
  builder_.Finish(protocol::CreateAccept(builder_, body.connection.value,
                                         static_cast<std::uint32_t>(time_out_ms), body.tick_rate_hz));
  finish(DatagramType::Accept, nonce, datagram);
}

std::optional<AcceptBody> read_accept(std::span<const std::byte> body) {
  const auto* accept = verified<protocol::Accept>(body);
  if (accept == nullptr || accept->connection() == 0) return std::nullopt;
  return AcceptBody{ConnectionId{accept->connection()}, milliseconds{accept->time_out_ms()},
                    accept->tick_rate_hz()};
}

void HandshakeWriter::refuse(std::uint64_t nonce, const RefuseBody& body, OutgoingDatagram& datagram) {
  builder_.Clear();
  const auto detail =
      body.detail.empty()
          ? 0
          : builder_.CreateString(body.detail.data(), std::min(body.detail.size(), kMaxDetailBytes));
  builder_.Finish(protocol::CreateRefuse(builder_, static_cast<protocol::RefuseReason>(body.reason), detail));
  finish(DatagramType::Refuse, nonce, datagram);
}

std::optional<RefuseBody> read_refuse(std::span<const std::byte> body) {
  const auto* refuse = verified<protocol::Refuse>(body);
  if (refuse == nullptr) return std::nullopt;
  return RefuseBody{refuse_reason_from_wire(static_cast<std::uint8_t>(refuse->reason())),
                    refuse->detail() == nullptr ? "" : printable(refuse->detail()->string_view())};
}

std::string printable(std::string_view text) {
  std::string result(text.substr(0, kMaxDetailBytes));
  for (char& c : result) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = '?';
  }
  return result;
}

}  // namespace shoal
