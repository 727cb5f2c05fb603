#include "shared/net/handshake.hpp"

#include <algorithm>
#include <cstring>

#include "shared/base/character.hpp"
#include "shared/base/little_endian.hpp"
#include "shared/net/transport_limits.hpp"
#include "shared/wire/aligned_elements.hpp"

namespace shoal {
namespace {

// Response: what stands beside the components and their names, and what a component costs.
constexpr std::size_t kResponseFixedBytes = 260;
constexpr std::size_t kComponentBytes = sizeof(protocol::ComponentVersion);

protocol::Key to_wire(const PublicKey& key) {
  return protocol::Key(flatbuffers::span<const std::uint8_t, kKeyBytes>(key.bytes));
}
PublicKey from_wire(const protocol::Key& key) {
  PublicKey result;
  std::copy_n(key.bytes()->begin(), result.bytes.size(), result.bytes.begin());
  return result;
}
protocol::Cookie to_wire(const HandshakeCookie& cookie) {
  return {cookie.issued_seconds, flatbuffers::span<const std::uint8_t, 32>(cookie.code)};
}
HandshakeCookie from_wire(const protocol::Cookie& cookie) {
  HandshakeCookie result;
  result.issued_seconds = cookie.issued_seconds();
  std::copy_n(cookie.code()->begin(), result.code.size(), result.code.begin());
  return result;
}

std::span<const std::uint8_t> octets(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

}  // namespace

std::span<const std::byte> HandshakeWriter::built() const {
  return std::as_bytes(std::span(builder_.GetBufferPointer(), builder_.GetSize()));
}

void HandshakeWriter::hello(std::uint64_t nonce, const HelloBody& body, OutgoingDatagram& datagram) {
  builder_.Clear();
  const protocol::Key key = to_wire(body.client_key);
  builder_.Finish(protocol::CreateHello(builder_, body.protocol_version, &key));
  // Zeros up to the full size, so that whatever the server answers is not more than it got.
  BodyBuffer padded{};
  std::memcpy(padded.bytes.data(), builder_.GetBufferPointer(), builder_.GetSize());
  datagram.size = write_clear({DatagramType::Hello, nonce, Sequence{}}, padded.bytes, datagram.bytes);
}

std::optional<HelloBody> read_hello(std::span<const std::byte> body) {
  const auto* hello = verified<protocol::Hello>(body);
  if (hello == nullptr || hello->client_key() == nullptr) return std::nullopt;
  return HelloBody{hello->protocol_version(), from_wire(*hello->client_key())};
}

void HandshakeWriter::challenge(std::uint64_t nonce, const ChallengeBody& body, OutgoingDatagram& datagram) {
  builder_.Clear();
  const protocol::Cookie cookie = to_wire(body.cookie);
  const protocol::Key key = to_wire(body.server_key);
  builder_.Finish(protocol::CreateChallenge(builder_, &cookie, body.schema_hash, &key));
  datagram.size = write_clear({DatagramType::Challenge, nonce, Sequence{}}, built(), datagram.bytes);
}

std::optional<ChallengeBody> read_challenge(std::span<const std::byte> body) {
  const auto* challenge = verified<protocol::Challenge>(body);
  if (challenge == nullptr || challenge->cookie() == nullptr || challenge->server_key() == nullptr)
    return std::nullopt;
  return ChallengeBody{from_wire(*challenge->cookie()), challenge->schema_hash(),
                       from_wire(*challenge->server_key())};
}

void HandshakeWriter::response(const SealingKey& key, std::uint64_t nonce, const ResponseClear& clear,
                               const ResponseBody& body, OutgoingDatagram& datagram) {
  builder_.Clear();
  const std::size_t credential_bytes = std::min(body.credentials.size(), kMaxCredentialBytes);
  std::size_t room = kMaxPacketBodyBytes - ResponseClear::kBytes - kResponseFixedBytes - credential_bytes;
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
  const auto credentials_at =
      credential_bytes == 0
          ? 0
          : builder_.CreateVector(octets(body.credentials.first(credential_bytes)).data(), credential_bytes);
  const protocol::Key player_key = to_wire(body.player_key);
  const protocol::Signature signature(
      flatbuffers::span<const std::uint8_t, sizeof(Signature)>(body.player_signature.bytes));
  builder_.Finish(protocol::CreateResponse(builder_, body.schema_hash, components_at, names_at,
                                           count < body.components.size(),
                                           static_cast<protocol::CredentialKind>(body.credential_kind),
                                           credentials_at, &player_key, &signature, body.ciphers));

  std::array<std::byte, ResponseClear::kBytes> before{};
  std::byte* at = before.data();
  const auto put_number = [&at](auto value) {
    store_little_endian(at, value);
    at += sizeof value;
  };
  const auto put_bytes = [&at](std::span<const std::uint8_t> bytes) {
    std::memcpy(at, bytes.data(), bytes.size());
    at += bytes.size();
  };
  put_number(clear.protocol_version);
  put_bytes(clear.client_key.bytes);
  put_number(clear.cookie.issued_seconds);
  put_bytes(clear.cookie.code);
  datagram.size = seal(key, {DatagramType::Response, nonce, Sequence{}}, before, built(), datagram.bytes);
}

std::optional<ResponseClear> read_response_clear(std::span<const std::byte> datagram) {
  if (datagram.size() < kPacketHeaderBytes + ResponseClear::kBytes + kPacketTagBytes) return std::nullopt;
  const std::byte* at = datagram.data() + kPacketHeaderBytes;
  const auto get_number = [&at](auto& value) {
    value = load_little_endian<std::remove_reference_t<decltype(value)>>(at);
    at += sizeof value;
  };
  const auto get_bytes = [&at](std::span<std::uint8_t> bytes) {
    std::memcpy(bytes.data(), at, bytes.size());
    at += bytes.size();
  };
  ResponseClear clear;
  get_number(clear.protocol_version);
  get_bytes(clear.client_key.bytes);
  get_number(clear.cookie.issued_seconds);
  get_bytes(clear.cookie.code);
  return clear;
}

namespace {

const protocol::Response* verified_response(std::span<const std::byte> body) {
  const auto* response = verified<protocol::Response>(body);
  return response != nullptr && has_aligned_elements<protocol::ComponentVersion>(response->components())
             ? response
             : nullptr;
}

}  // namespace

std::optional<ResponseBody> read_response(std::span<const std::byte> body) {
  const auto* response = verified_response(body);
  if (response == nullptr || response->player_key() == nullptr || response->player_signature() == nullptr ||
      response->credential_kind() > protocol::CredentialKind::MAX) {
    return std::nullopt;
  }
  ResponseBody result;
  result.schema_hash = response->schema_hash();
  result.components_cut = response->components_cut();
  result.credential_kind = static_cast<CredentialKind>(response->credential_kind());
  if (const auto* credentials = response->credentials()) {
    if (credentials->size() > kMaxCredentialBytes) return std::nullopt;
    result.credentials = std::as_bytes(std::span(credentials->data(), credentials->size()));
  }
  result.player_key = from_wire(*response->player_key());
  std::copy_n(response->player_signature()->bytes()->begin(), sizeof(Signature),
              result.player_signature.bytes.begin());
  result.ciphers = response->ciphers();
  return result;
}

SchemaVersions read_response_components(std::span<const std::byte> body) {
  const auto* response = verified_response(body);
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

void HandshakeWriter::accept(const SealingKey& key, std::uint64_t nonce, const PublicKey& server_ephemeral,
                             const AcceptBody& body, OutgoingDatagram& datagram) {
  builder_.Clear();
  const auto time_out_ms = std::chrono::duration_cast<milliseconds>(body.time_out).count();
  const auto ticket = octets(body.resume_ticket);
  const auto ticket_at = ticket.empty() ? 0 : builder_.CreateVector(ticket.data(), ticket.size());
  const protocol::PlayerId player(flatbuffers::span<const std::uint8_t, sizeof(PlayerId)>(body.player.bytes));
  builder_.Finish(protocol::CreateAccept(builder_, body.connection.value,
                                         static_cast<std::uint32_t>(time_out_ms), body.tick_rate_hz,
                                         static_cast<std::uint8_t>(body.cipher), &player, ticket_at));
  datagram.size = seal(key, {DatagramType::Accept, nonce, Sequence{}},
                       std::as_bytes(std::span(server_ephemeral.bytes)), built(), datagram.bytes);
}

std::optional<PublicKey> read_accept_clear(std::span<const std::byte> datagram) {
  if (datagram.size() < kPacketHeaderBytes + kKeyBytes + kPacketTagBytes) return std::nullopt;
  PublicKey key;
  std::memcpy(key.bytes.data(), datagram.data() + kPacketHeaderBytes, kKeyBytes);
  return key;
}

std::optional<AcceptBody> read_accept(std::span<const std::byte> body) {
  const auto* accept = verified<protocol::Accept>(body);
  if (accept == nullptr || accept->connection() == 0 || accept->player() == nullptr ||
      accept->cipher() >= kCiphers) {
    return std::nullopt;
  }
  AcceptBody result;
  result.connection = ConnectionId{accept->connection()};
  result.time_out = milliseconds{accept->time_out_ms()};
  result.tick_rate_hz = accept->tick_rate_hz();
  result.cipher = static_cast<Cipher>(accept->cipher());
  std::copy_n(accept->player()->bytes()->begin(), sizeof(PlayerId), result.player.bytes.begin());
  if (const auto* ticket = accept->resume_ticket()) {
    if (ticket->size() > kMaxCredentialBytes) return std::nullopt;
    const auto bytes = std::as_bytes(std::span(ticket->data(), ticket->size()));
    result.resume_ticket.assign(bytes.begin(), bytes.end());
  }
  return result;
}

void HandshakeWriter::build_refuse(const RefuseBody& body) {
  builder_.Clear();
  const auto detail =
      body.detail.empty()
          ? 0
          : builder_.CreateString(body.detail.data(), std::min(body.detail.size(), kMaxDetailBytes));
  builder_.Finish(protocol::CreateRefuse(builder_, static_cast<protocol::RefuseReason>(body.reason), detail));
}

void HandshakeWriter::refuse(std::uint64_t nonce, const RefuseBody& body, OutgoingDatagram& datagram) {
  build_refuse(body);
  datagram.size = write_clear({DatagramType::Refuse, nonce, Sequence{}}, built(), datagram.bytes);
}

void HandshakeWriter::denial(const SealingKey& key, std::uint64_t nonce, Sequence number,
                             const RefuseBody& body, OutgoingDatagram& datagram) {
  build_refuse(body);
  datagram.size = seal(key, {DatagramType::Denial, nonce, number}, {}, built(), datagram.bytes);
}

std::optional<RefuseBody> read_refuse(std::span<const std::byte> body) {
  const auto* refuse = verified<protocol::Refuse>(body);
  if (refuse == nullptr) return std::nullopt;
  return RefuseBody{refuse_reason_from_wire(static_cast<std::uint8_t>(refuse->reason())),
                    refuse->detail() == nullptr ? "" : printable(refuse->detail()->string_view())};
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character character = first_character(text);
    const bool is_plain = character.kind == Character::Kind::Plain;
    const std::string_view shown = is_plain ? text.substr(0, character.bytes) : "?";
    if (result.size() + shown.size() > kMaxDetailBytes) break;
    result += shown;
    text.remove_prefix(character.bytes);
  }
  return result;
}

}  // namespace shoal
