// A mirror that is lied to, and what an honest server would say to it.
#pragma once

#include <vector>

#include "shared/replication/world_digest.hpp"
#include "tests/unit/client/mirror_harness.hpp"

namespace shoal::test {

class LyingHarness : public MirrorHarness {
 protected:
  /// Two chunks of everyone, as they are in truth: Anna in the first, Bert in the second.
  std::vector<ChunkVersion> truth(std::uint32_t tick) {
    ChunkVersion first = empty(1, tick);
    first.bind(0, kAnna);
    set(first, 0, "shoal.demo.Health", demo::Health{70, 100});
    ChunkVersion second = empty(2, tick);
    second.bind(5, kBert);
    set(second, 5, "shoal.demo.Health", demo::Health{30, 100});
    return {std::move(first), std::move(second)};
  }
  BlockOutcome apply(const ChunkVersion& version, Epoch epoch = Epoch{1}) {
    return mirror->apply(block(nullptr, version, {}, epoch));
  }
  /// The server is honest from now on, and the mirror shows what one shows that was never lied to.
  void expect_exact_after(const std::vector<ChunkVersion>& versions, Epoch epoch = Epoch{1}) {
    Registry other;
    demo::register_components(other);
    other.freeze();
    Mirror unspoilt(table, other);
    for (const ChunkVersion& version : versions) {
      EXPECT_EQ(apply(version, epoch), BlockOutcome::Applied);
      EXPECT_EQ(unspoilt.apply(block(nullptr, version, {}, epoch)), BlockOutcome::Applied);
    }
    EXPECT_EQ(digest_world(registry, table), digest_world(other, table));
    EXPECT_GT(registry.alive_count(), 0u);
    EXPECT_TRUE(mirror->wanted().empty());
  }
};

}  // namespace shoal::test
