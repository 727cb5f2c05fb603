// Randomness as an input. `Random` is a seeded generator for games and simulations: the same seed gives the
// same numbers on every machine. `Entropy` is where secrets come from (cookie keys, connection ids).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/assert.hpp"

namespace shoal {

/// One step of splitmix64 (Steele, Lea, Flood 2014): a good mixer of a counter or of several keys.
constexpr std::uint64_t mix64(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

/// xoshiro256** (Blackman, Vigna 2018). Not for secrets.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) {
    for (auto& word : state_) word = seed = mix64(seed);
  }
  /// A generator of its own for each key under one seed, for example (seed, tick, entity).
  template <class... Keys>
  static constexpr Random keyed(std::uint64_t seed, Keys... keys) {
    ((seed = mix64(seed ^ mix64(static_cast<std::uint64_t>(keys)))), ...);
    return Random(seed);
  }

  constexpr std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  /// Uniform in [0, bound). REQUIRES: bound > 0. Lemire's multiply-shift without rejection: the bias is below
  /// bound / 2^32.
  constexpr std::uint32_t below(std::uint32_t bound) {
    SHOAL_ASSERT(bound > 0, "below(0) has no answer");
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }
  /// Uniform in [low, high].
  constexpr std::int32_t between(std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(below(static_cast<std::uint32_t>(high - low) + 1));
  }
  /// Uniform in [0, 1).
  constexpr float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }
  constexpr float uniform(float low, float high) { return low + (high - low) * uniform(); }
  /// True with the given probability, 0 to 1.
  constexpr bool chance(double probability) {
    return static_cast<double>(next() >> 11) * 0x1p-53 < probability;
  }

 private:
  std::uint64_t state_[4]{};
};

class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual void fill(std::span<std::byte> bytes) = 0;

  std::uint64_t next() {
    std::uint64_t value = 0;
    fill(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
};

/// The operating system's generator. Aborts when it has none: no secret is better than a guessable one.
class SystemEntropy final : public Entropy {
 public:
  void fill(std::span<std::byte> bytes) override;
};

/// For tests and the simulation only.
class SeededEntropy final : public Entropy {
 public:
  explicit SeededEntropy(std::uint64_t seed) : random_(seed) {}
  void fill(std::span<std::byte> bytes) override;

 private:
  Random random_;
};

}  // namespace shoal
