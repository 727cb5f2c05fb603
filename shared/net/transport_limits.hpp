// The numbers of the transport that both sides must agree on, and the bounds of its memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shared/base/limits.hpp"
#include "shared/base/time.hpp"

namespace shoal {

/// Raised by every change of the bytes that an older peer would misread.
inline constexpr std::uint32_t kProtocolVersion = 3;

/// Sequences behind the newest one that are told apart from duplicates; older ones are dropped.
inline constexpr std::uint64_t kReceiveWindow = 1024;
/// A sequence further ahead than this is refused: no loss explains it, and it would empty the window.
inline constexpr std::uint64_t kMaxSequenceJump = 1u << 16;
/// Acknowledgements repeat what arrived during this time, so that a burst of losses cannot hide an arrival.
inline constexpr Duration kAckCoverage = milliseconds{1200};
/// Runs in one packet. The newest win: a second at 480 datagrams a second and 10 % loss still fits.
inline constexpr std::size_t kMaxAckRanges = 48;
/// Datagrams of one session whose fate is not known yet; send() refuses when there are more.
inline constexpr std::size_t kMaxInFlight = 1024;

/// A sign of life leaves when nothing else did for this long; well below kAckCoverage, so that an idle side
/// still acknowledges all that it gets.
inline constexpr Duration kKeepAlive = milliseconds{250};
inline constexpr Duration kDefaultTimeOut = seconds{10};
/// The client repeats Hello and Response after this long, doubled up to the maximum.
inline constexpr Duration kHandshakeRetry = milliseconds{200};
inline constexpr Duration kHandshakeRetryMax = milliseconds{800};
/// Close is sent so many times at once, and again for what still comes for the session afterwards.
inline constexpr int kCloseCopies = 4;

/// A cookie is good for this long.
inline constexpr Duration kCookieLifetime = seconds{10};
/// The secret behind cookies is replaced this often.
inline constexpr Duration kCookieSecretLifetime = seconds{60};

/// However bad a path is, a session may send so many bytes per second, and however good no more than the other number.
inline constexpr std::uint64_t kLeastBytesPerSecond = 8'000;
inline constexpr std::uint64_t kMostBytesPerSecond = 12'500'000;
/// The same for what a client sends: inputs and messages.
inline constexpr std::uint64_t kMostBytesPerSecondOfClient = 125'000;
/// A new path is asked again after this long, and given up after the longer one.
inline constexpr Duration kPathRetry = milliseconds{200};
inline constexpr Duration kPathLifetime = seconds{5};
/// Packets that one key seals; then the session ends and the client comes again with a new one. Far below what either
/// cipher allows.
inline constexpr std::uint64_t kPacketsPerKey = std::uint64_t{1} << 28;

static_assert(kReceiveWindow % 64 == 0 && (kReceiveWindow & (kReceiveWindow - 1)) == 0,
              "the window is a ring of words");
static_assert(kMaxInFlight <= kReceiveWindow,
              "a datagram whose fate is open must still be told from a duplicate");
static_assert(kKeepAlive * 4 <= kAckCoverage, "several signs of life must cover each datagram");
static_assert(kCookieLifetime * 2 <= kCookieSecretLifetime, "a cookie must not outlive the previous secret");

}  // namespace shoal
