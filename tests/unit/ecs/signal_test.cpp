#include "shared/ecs/signal.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <functional>

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

using testing::ElementsAre;

struct SignalTest : testing::Test {
  void publish() {
    signal.publish_while(world, kNullEntity, [] { return true; });
  }
  std::function<void(Registry&, Entity)> note(std::string name) {
    return [this, name](Registry&, Entity) { heard.push_back(name); };
  }

  World world;
  Signal signal;
  std::vector<std::string> heard;
};

TEST_F(SignalTest, CallsListenersInTheOrderOfConnection) {
  signal.connect(note("a"));
  const ListenerId b = signal.connect(note("b"));
  signal.connect(note("c"));
  publish();
  EXPECT_THAT(heard, ElementsAre("a", "b", "c"));
  EXPECT_TRUE(signal.disconnect(b));
  EXPECT_FALSE(signal.disconnect(b));
  EXPECT_FALSE(signal.disconnect({}));
  heard.clear();
  publish();
  EXPECT_THAT(heard, ElementsAre("a", "c"));
}

TEST_F(SignalTest, ScopedConnectionEndsWithItsScope) {
  {
    const ScopedConnection connection = signal.connect_scoped(note("a"));
    publish();
  }
  publish();
  EXPECT_THAT(heard, ElementsAre("a"));
  EXPECT_TRUE(signal.empty());
}

TEST_F(SignalTest, ScopedConnectionMovesItsDuty) {
  ScopedConnection outer;
  {
    ScopedConnection inner = signal.connect_scoped(note("a"));
    outer = std::move(inner);
  }
  publish();
  outer = {};
  publish();
  EXPECT_THAT(heard, ElementsAre("a"));
}

TEST_F(SignalTest, ScopedConnectionMayOutliveTheSignal) {
  auto short_lived = std::make_unique<Signal>();
  const ScopedConnection connection = short_lived->connect_scoped(note("a"));
  short_lived.reset();
}

// R5
TEST_F(SignalTest, ListenerMayDisconnectItselfDuringDispatch) {
  ListenerId self;
  // Large enough that the function lives on the heap: the sanitizer sees a use after its end.
  const std::string long_name(200, 'x');
  self = signal.connect([&, long_name](Registry&, Entity) {
    signal.disconnect(self);
    heard.push_back(long_name);
  });
  signal.connect(note("b"));
  publish();
  publish();
  EXPECT_THAT(heard, ElementsAre(long_name, "b", "b"));
}

// R5
TEST_F(SignalTest, ListenerDisconnectedDuringDispatchIsNotCalledAnyMore) {
  ListenerId c;
  signal.connect([&](Registry&, Entity) { signal.disconnect(c); });
  signal.connect(note("b"));
  c = signal.connect(note("c"));
  publish();
  EXPECT_THAT(heard, ElementsAre("b"));
}

// R5
TEST_F(SignalTest, ListenerConnectedDuringDispatchHearsTheNextEventFirst) {
  signal.connect([&](Registry&, Entity) {
    for (int i = 0; i < 100; ++i) signal.connect(note("new"));  // enough to move a vector
    heard.push_back("old");
  });
  publish();
  EXPECT_THAT(heard, ElementsAre("old"));
}

// R5
TEST_F(SignalTest, ListenerMayDisconnectFromANestedDispatch) {
  ListenerId self;
  int depth = 0;
  self = signal.connect([&](Registry&, Entity) {
    heard.push_back(fmt::format("a{}", depth));
    if (++depth == 3) {
      signal.disconnect(self);
    } else {
      publish();
    }
  });
  signal.connect(note("b"));
  publish();
  EXPECT_THAT(heard, ElementsAre("a0", "a1", "a2", "b", "b", "b"));
  EXPECT_FALSE(signal.dispatching());
}

}  // namespace
}  // namespace shoal::test
