#include "shared/net/resume_ticket.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "shared/base/assert.hpp"
#include "shared/base/little_endian.hpp"
#include "shared/net/ticket.hpp"

namespace shoal {
namespace {

constexpr std::size_t kNonceBytes = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t kTagBytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;
constexpr std::size_t kFixedBytes = 8 + 1 + sizeof(PlayerId) + kKeyBytes;

}  // namespace

std::vector<std::byte> ResumeTicketMint::make(const ResumeTicket& ticket, Entropy& entropy) const {
  SHOAL_ASSERT(ticket.name.size() <= kMaxTicketNameBytes, "a ticket's name was checked when it was opened");
  std::vector<std::uint8_t> plain(8);
  store_little_endian(plain.data(), static_cast<std::uint64_t>(ticket.expires_unix));
  plain.push_back(static_cast<std::uint8_t>(ticket.name.size()));
  plain.insert(plain.end(), ticket.player.bytes.begin(), ticket.player.bytes.end());
  plain.insert(plain.end(), ticket.player_key.bytes.begin(), ticket.player_key.bytes.end());
  plain.insert(plain.end(), ticket.name.begin(), ticket.name.end());

  std::vector<std::byte> bytes(kNonceBytes + plain.size() + kTagBytes);
  entropy.fill(std::span(bytes).first(kNonceBytes));
  auto* nonce = reinterpret_cast<unsigned char*>(bytes.data());
  crypto_aead_xchacha20poly1305_ietf_encrypt(nonce + kNonceBytes, nullptr, plain.data(), plain.size(),
                                             nullptr, 0, nullptr, nonce, key_.data());
  return bytes;
}

std::optional<ResumeTicket> ResumeTicketMint::open(std::span<const std::byte> bytes) const {
  if (bytes.size() < kNonceBytes + kFixedBytes + kTagBytes) return std::nullopt;
  std::vector<std::uint8_t> plain(bytes.size() - kNonceBytes - kTagBytes);
  const auto* nonce = reinterpret_cast<const unsigned char*>(bytes.data());
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(plain.data(), nullptr, nullptr, nonce + kNonceBytes,
                                                 bytes.size() - kNonceBytes, nullptr, 0, nonce,
                                                 key_.data()) != 0)
    return std::nullopt;
  ResumeTicket ticket;
  const std::uint8_t* at = plain.data();
  ticket.expires_unix = static_cast<std::int64_t>(load_little_endian<std::uint64_t>(at));
  at += sizeof ticket.expires_unix;
  const std::size_t name_bytes = *at++;
  if (plain.size() != kFixedBytes + name_bytes) return std::nullopt;
  std::copy_n(at, sizeof(PlayerId), ticket.player.bytes.begin());
  at += sizeof(PlayerId);
  std::copy_n(at, kKeyBytes, ticket.player_key.bytes.begin());
  at += kKeyBytes;
  ticket.name.assign(reinterpret_cast<const char*>(at), name_bytes);
  return ticket;
}

}  // namespace shoal
