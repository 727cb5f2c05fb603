#include "shared/ecs/signal.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <functional>

#include <functional>
#include <memory>
#include <string>
#include <utility>
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

/// Counts the ends of what a listener captured.
struct Captured {
  explicit Captured(int& ends) : ends_(&ends) {}
  Captured(Captured&& other) noexcept : ends_(std::exchange(other.ends_, nullptr)) {}
  Captured(const Captured&) = delete;
  ~Captured() {
    if (ends_ != nullptr) ++*ends_;
  }

 private:
  int* ends_;
};

// R5
TEST_F(SignalTest, WhatAListenerCapturedEndsOnceAfterItsLastCall) {
  int ends = 0;
  {
    Signal other;
    ListenerId self;
    self = other.connect([&, captured = Captured(ends)](Registry&, Entity) {
      EXPECT_TRUE(other.disconnect(self));
      EXPECT_FALSE(other.disconnect(self));
      EXPECT_EQ(ends, 0) << "it still runs";
      for (int i = 0; i < 100; ++i) other.connect(note("new"));
      EXPECT_EQ(ends, 0);
    });
    other.connect([captured = Captured(ends)](Registry&, Entity) {});
    const ListenerId third = other.connect([captured = Captured(ends)](Registry&, Entity) {});
    other.publish_while(world, kNullEntity, [] { return true; });
    EXPECT_EQ(ends, 1);
    other.disconnect(third);
    EXPECT_EQ(ends, 2);
  }
  EXPECT_EQ(ends, 3);
}

// R5
TEST_F(SignalTest, EndOfAListenerMayDisconnectOthersAndConnect) {
  struct Ending {
    std::function<void()> act;
    explicit Ending(std::function<void()> at_end) : act(std::move(at_end)) {}
    Ending(Ending&& other) noexcept : act(std::exchange(other.act, nullptr)) {}
    ~Ending() {
      if (act) act();
    }
  };
  const ListenerId b = signal.connect(note("b"));
  const ListenerId a = signal.connect([ending = Ending([&] {
                                         signal.disconnect(b);
                                         signal.connect(note("c"));
                                       })](Registry&, Entity) {});
  publish();
  EXPECT_TRUE(signal.disconnect(a));
  heard.clear();
  publish();
  EXPECT_THAT(heard, ElementsAre("c"));
}

// R5: a listener that is to be called once commonly owns its own connection.
TEST_F(SignalTest, ListenerMayOwnItsOwnConnection) {
  int ends = 0;
  const auto connect_once = [&](Signal& target) {
    auto connection = std::make_shared<ScopedConnection>();
    *connection = target.connect_scoped(
        [&, connection, captured = std::make_shared<Captured>(ends)](Registry&, Entity) {
          heard.push_back("once");
          connection->disconnect();
        });
    return std::weak_ptr(connection);
  };
  connect_once(signal);
  publish();
  publish();
  EXPECT_THAT(heard, ElementsAre("once"));
  EXPECT_EQ(ends, 1);
  {
    Signal never_published;
    connect_once(never_published);
    never_published.connect(note("never"));
  }
  EXPECT_EQ(ends, 2) << "with the signal";
  const auto connection = connect_once(signal);
  connection.lock()->disconnect();
  EXPECT_TRUE(signal.empty());
  ScopedConnection* alone = connect_once(signal).lock().get();
  alone->disconnect();  // ends the listener, and with it the connection at hand
  EXPECT_EQ(ends, 4);
}

// R5
TEST_F(SignalTest, ListenerOwnsTheConnectionOfALaterOne) {
  int ends = 0;
  {
    Signal other;
    auto later = std::make_shared<ScopedConnection>();
    other.connect([later, captured = std::make_shared<Captured>(ends)](Registry&, Entity) {});
    *later = other.connect_scoped([captured = std::make_shared<Captured>(ends)](Registry&, Entity) {});
    other.connect([captured = std::make_shared<Captured>(ends)](Registry&, Entity) {});
  }
  EXPECT_EQ(ends, 3) << "each once";
}

// R5
TEST_F(SignalTest, ListenerMayDestroyTheEntityAndTheRestIsNotCalled) {
  world.on_construct<Position>().connect([&](Registry& registry, Entity entity) {
    heard.push_back("first");
    registry.destroy(entity);
    for (int i = 0; i < 50; ++i) registry.on_construct<Position>().connect(note("new"));
  });
  world.on_construct<Position>().connect(note("second"));
  world.emplace<Position>(world.create());
  EXPECT_THAT(heard, ElementsAre("first"));
}

// R5
TEST_F(SignalTest, ListenerMayDisconnectAllDuringDispatch) {
  std::vector<ListenerId> ids;
  ids.push_back(signal.connect([&](Registry&, Entity) {
    for (const ListenerId id : ids) signal.disconnect(id);
    heard.push_back("first");
  }));
  for (int i = 0; i < 30; ++i) ids.push_back(signal.connect(note("later")));
  publish();
  publish();
  EXPECT_THAT(heard, ElementsAre("first"));
  EXPECT_TRUE(signal.empty());
}

TEST_F(SignalTest, FunctionsAreListenersAndEmptyOnesAreRefused) {
  static int calls = 0;
  calls = 0;
  signal.connect(+[](Registry&, Entity) { ++calls; });
  publish();
  EXPECT_EQ(calls, 1);
  EXPECT_DEATH(signal.connect(std::function<void(Registry&, Entity)>{}), "empty function");
  EXPECT_DEATH(signal.connect(static_cast<void (*)(Registry&, Entity)>(nullptr)), "empty function");
}

}  // namespace
}  // namespace shoal::test
