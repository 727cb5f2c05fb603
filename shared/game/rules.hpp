// The numbers of the demo's rules, in metres, seconds and points of health.
#pragma once

#include <cstdint>

namespace shoal::demo {

// Speeds, metres per second.
inline constexpr float kWanderSpeed = 2;
inline constexpr float kChaseSpeed = 4;
inline constexpr float kFleeSpeed = 5;
inline constexpr float kPlayerSpeed = 8;
inline constexpr float kHasteFactor = 2;
inline constexpr float kProjectileSpeed = 30;
inline constexpr float kGravity = 10;   // metres per second squared
inline constexpr float kTossSpeed = 6;  // upwards, of what a dead creature drops
inline constexpr float kMuzzleHeight = 1;

// Distances, metres.
inline constexpr float kMinDetectionRange = 8;
inline constexpr float kMaxDetectionRange = 20;
inline constexpr float kAttackRange = 7;
inline constexpr float kHitRadius = 0.8f;
inline constexpr float kPickupRadius = 1.2f;
inline constexpr float kSpawnRadius = 20;

// Times, seconds.
inline constexpr float kDecisionPeriod = 0.2f;
inline constexpr float kShotPeriod = 1;
inline constexpr float kReloadTime = 3;  // of a player who has shot its last round
inline constexpr float kLookAhead = 2;   // a waypoint is where a player is by then
inline constexpr float kProjectileLife = 1.5f;
inline constexpr float kMinCreatureLife = 10, kMaxCreatureLife = 60;
inline constexpr float kMinPickupLife = 5, kMaxPickupLife = 30;
inline constexpr float kMinRest = 3, kMaxRest = 15;
inline constexpr float kMinWalk = 2, kMaxWalk = 6;
inline constexpr float kBurnTime = 3, kShieldTime = 5, kHasteTime = 5, kRespawnShieldTime = 3;
inline constexpr float kBurnPeriod = 0.5f;
inline constexpr float kRegenerationPeriod = 1;

// Rounds of a full magazine. Creatures never run out.
inline constexpr std::uint8_t kMagazine = 12;

// Points.
inline constexpr std::uint16_t kCreatureHealth = 100, kPlayerHealth = 200;
inline constexpr std::uint16_t kProjectileDamage = 15, kBurnDamage = 3, kRegeneration = 2;
inline constexpr std::uint16_t kHealAmount = 40, kPointsAmount = 5;
inline constexpr std::uint8_t kTeams = 4;

// Chances, 0 to 1.
inline constexpr double kBurnChance = 0.25, kDropChance = 0.3, kRestChance = 0.6;

// What a client draws.
inline constexpr std::uint16_t kCreatureMesh = 1, kPlayerMesh = 2, kProjectileMesh = 3, kPickupMesh = 4,
                               kFirstSceneryMesh = 16, kSceneryMeshes = 8;

}  // namespace shoal::demo
