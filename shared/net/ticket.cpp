#include "shared/net/ticket.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"
#include "shared/base/little_endian.hpp"

namespace shoal {
namespace {

constexpr std::array<std::uint8_t, 4> kMagic{'S', 'H', 'T', '1'};
constexpr std::size_t kFixedBytes = kMagic.size() + std::tuple_size_v<TicketId> + 8 + 8 + 1 + 1;
constexpr std::size_t kMaxTicketBytes = kFixedBytes + 2 * kMaxTicketNameBytes + sizeof(Signature);
constexpr int kTextVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;

// What is signed, so that no other signature of the same key can be taken for a ticket's.
Digest256 signed_digest(std::span<const std::byte> bytes) {
  return Hasher("shoal ticket").add(bytes).finish();
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  bool take(std::span<std::uint8_t> target) {
    if (rest_.size() < target.size()) return false;
    std::memcpy(target.data(), rest_.data(), target.size());
    rest_ = rest_.subspan(target.size());
    return true;
  }
  bool take(std::int64_t& value) {
    std::array<std::uint8_t, 8> bytes;
    if (!take(std::span<std::uint8_t>(bytes))) return false;
    value = static_cast<std::int64_t>(load_little_endian<std::uint64_t>(bytes.data()));
    return true;
  }
  bool take_name(std::string& name) {
    std::array<std::uint8_t, 1> length;
    if (!take(std::span<std::uint8_t>(length))) return false;
    if (length[0] == 0 || length[0] > kMaxTicketNameBytes || rest_.size() < length[0]) return false;
    name.assign(reinterpret_cast<const char*>(rest_.data()), length[0]);
    rest_ = rest_.subspan(length[0]);
    return true;
  }
  std::size_t left() const { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace

std::vector<std::byte> mint_ticket(const SignatureKey& issuer, const Ticket& ticket) {
  std::array<std::byte, kMaxTicketBytes> bytes;
  std::size_t size = 0;
  const auto put = [&](std::span<const std::uint8_t> source) {
    std::memcpy(&bytes[size], source.data(), source.size());
    size += source.size();
  };
  const auto put_time = [&](std::int64_t value) {
    store_little_endian(&bytes[size], static_cast<std::uint64_t>(value));
    size += sizeof value;
  };
  const auto put_name = [&](const std::string& name) {
    SHOAL_ASSERT(!name.empty() && name.size() <= kMaxTicketNameBytes,
                 "names in tickets have 1 to 64 bytes: hash longer ones");
    bytes[size++] = static_cast<std::byte>(name.size());
    std::memcpy(&bytes[size], name.data(), name.size());
    size += name.size();
  };
  put(kMagic);
  put(ticket.id);
  put_time(ticket.issued_unix);
  put_time(ticket.expires_unix);
  put_name(ticket.player);
  put_name(ticket.audience);
  const Digest256 digest = signed_digest(std::span(bytes).first(size));
  put(issuer.sign(std::as_bytes(std::span(digest))).bytes);
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

std::vector<std::byte> mint_ticket(const SignatureKey& issuer, std::string_view player,
                                   std::string_view audience, std::int64_t now_unix,
                                   std::int64_t valid_seconds, Entropy& entropy) {
  Ticket ticket;
  entropy.fill(std::as_writable_bytes(std::span(ticket.id)));
  ticket.issued_unix = now_unix;
  ticket.expires_unix = now_unix + valid_seconds;
  ticket.player = player;
  ticket.audience = audience;
  return mint_ticket(issuer, ticket);
}

std::optional<Ticket> read_ticket(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  Ticket ticket;
  std::array<std::uint8_t, kMagic.size()> magic;
  const bool is_whole = reader.take(std::span<std::uint8_t>(magic)) && magic == kMagic &&
                        reader.take(std::span<std::uint8_t>(ticket.id)) && reader.take(ticket.issued_unix) &&
                        reader.take(ticket.expires_unix) && reader.take_name(ticket.player) &&
                        reader.take_name(ticket.audience) && reader.left() == sizeof(Signature);
  return is_whole ? std::optional(ticket) : std::nullopt;
}

Result<Ticket, TicketError> open_ticket(std::span<const std::byte> bytes, const PublicKey& issuer) {
  auto ticket = read_ticket(bytes);
  if (!ticket) return Failure{TicketError::Malformed};
  Signature signature;
  std::memcpy(signature.bytes.data(), bytes.data() + bytes.size() - sizeof signature, sizeof signature);
  const Digest256 digest = signed_digest(bytes.first(bytes.size() - sizeof signature));
  if (!is_signed_by(issuer, std::as_bytes(std::span(digest)), signature) && !fault("net-any-ticket"))
    return Failure{TicketError::WrongIssuer};
  return *std::move(ticket);
}

std::string to_text(std::span<const std::byte> ticket) {
  std::string text(sodium_base64_encoded_len(ticket.size(), kTextVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(ticket.data()),
                    ticket.size(), kTextVariant);
  text.pop_back();  // the zero behind it
  return text;
}

std::optional<std::vector<std::byte>> ticket_from_text(std::string_view text) {
  std::vector<std::byte> bytes(kMaxTicketBytes);
  std::size_t size = 0;
  if (sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                        text.size(), nullptr, &size, nullptr, kTextVariant) != 0)
    return std::nullopt;
  bytes.resize(size);
  return bytes;
}

}  // namespace shoal
