#include "shared/ecs/hierarchy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/allocation_counter.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Family : Registry {
  Family() {
    register_component<Position>("test.Position");
    register_hierarchy(*this);
    register_component<Health>("test.Health");
    freeze();
    connect_hierarchy(*this);
  }
};

// root ── a ── c
//      │    └─ d
//      └─ b
struct HierarchyTest : testing::Test {
  HierarchyTest() {
    for (Entity* entity : {&root, &a, &b, &c, &d}) *entity = world.create();
    attach(world, a, root);
    attach(world, b, root);
    attach(world, c, a);
    attach(world, d, a);
  }
  std::vector<Entity> under(Entity parent) const { return listed(children(world, parent)); }
  std::vector<Entity> tree(Entity top) const { return listed(descend(world, top)); }

  Family world;
  Entity root, a, b, c, d;
};

TEST_F(HierarchyTest, ChildrenAreInTheOrderOfTheirAttachment) {
  EXPECT_THAT(under(root), ElementsAre(a, b));
  EXPECT_THAT(under(a), ElementsAre(c, d));
  EXPECT_THAT(under(b), IsEmpty());
  EXPECT_EQ(child_count(world, root), 2u);
  EXPECT_EQ(parent_of(world, d), a);
  EXPECT_EQ(parent_of(world, root), kNullEntity);
}

TEST_F(HierarchyTest, ParentsComeBeforeTheirChildrenInDescent) {
  EXPECT_THAT(tree(root), ElementsAre(root, a, c, d, b));
  EXPECT_THAT(tree(a), ElementsAre(a, c, d)) << "the siblings of the top do not belong to its tree";
  EXPECT_THAT(tree(b), ElementsAre(b));
}

TEST_F(HierarchyTest, WhoHasNoNodeIsARootAndWhoIsDeadIsNothing) {
  const Entity loner = world.create();
  EXPECT_THAT(tree(loner), ElementsAre(loner));
  EXPECT_THAT(under(loner), IsEmpty());
  EXPECT_EQ(parent_of(world, loner), kNullEntity);
  EXPECT_FALSE(detach(world, loner));
  world.destroy(loner);
  EXPECT_THAT(tree(loner), IsEmpty());
  EXPECT_THAT(under(loner), IsEmpty());
  EXPECT_EQ(parent_of(world, loner), kNullEntity);
  EXPECT_EQ(child_count(world, kNullEntity), 0u);
}

TEST_F(HierarchyTest, AttachingBeforeASiblingPutsItThere) {
  const Entity first = world.create();
  const Entity middle = world.create();
  attach(world, first, root, a);
  attach(world, middle, root, b);
  EXPECT_THAT(under(root), ElementsAre(first, a, middle, b));
}

TEST_F(HierarchyTest, AttachingElsewhereMovesTheWholeTree) {
  attach(world, a, b);
  EXPECT_THAT(under(root), ElementsAre(b));
  EXPECT_THAT(tree(root), ElementsAre(root, b, a, c, d));
  attach(world, d, a, c);
  EXPECT_THAT(under(a), ElementsAre(d, c)) << "another place under the same parent";
  attach(world, d, a);
  EXPECT_THAT(under(a), ElementsAre(c, d));
  attach(world, d, a);
  EXPECT_THAT(under(a), ElementsAre(c, d)) << "the place where it was";
}

TEST_F(HierarchyTest, DetachingKeepsWhatIsUnderIt) {
  EXPECT_TRUE(detach(world, a));
  EXPECT_FALSE(detach(world, a));
  EXPECT_THAT(under(root), ElementsAre(b));
  EXPECT_THAT(tree(a), ElementsAre(a, c, d));
}

TEST_F(HierarchyTest, DetachingChildrenMakesEachARoot) {
  detach_children(world, root);
  EXPECT_THAT(tree(root), ElementsAre(root));
  EXPECT_THAT(tree(a), ElementsAre(a, c, d));
  EXPECT_EQ(parent_of(world, b), kNullEntity);
}

TEST_F(HierarchyTest, AncestorsAreThoseOnTheWayUp) {
  EXPECT_TRUE(is_ancestor(world, root, c));
  EXPECT_TRUE(is_ancestor(world, a, c));
  EXPECT_FALSE(is_ancestor(world, b, c));
  EXPECT_FALSE(is_ancestor(world, c, a));
  EXPECT_FALSE(is_ancestor(world, a, a));
  EXPECT_FALSE(is_ancestor(world, kNullEntity, a));
  EXPECT_FALSE(is_ancestor(world, root, kNullEntity));
}

TEST_F(HierarchyTest, EveryChangeOfPlaceIsToldOfTheChild) {
  std::vector<Entity> told;
  const ScopedConnection listening =
      world.on_update<Node>().connect_scoped([&](Registry&, Entity entity) { told.push_back(entity); });
  attach(world, c, b);
  detach(world, b);
  detach_children(world, root);
  EXPECT_THAT(told, ElementsAre(c, b, a));
}

// --- Loops over children that change them ---

TEST_F(HierarchyTest, LoopOverChildrenMayDetachTheOneAtHand) {
  for (const Entity child : children(world, root)) detach(world, child);
  EXPECT_THAT(under(root), IsEmpty());
}

TEST_F(HierarchyTest, LoopOverChildrenMayDestroyOrMoveTheOneAtHand) {
  const Entity e = world.create();
  attach(world, e, root);
  std::vector<Entity> visited;
  for (const Entity child : children(world, root)) {
    visited.push_back(child);
    child == a ? world.destroy(a) : attach(world, child, c);
  }
  EXPECT_THAT(visited, ElementsAre(a, b, e));
  EXPECT_THAT(under(c), ElementsAre(b, e));
}

TEST_F(HierarchyTest, LoopThatPutsEachChildLastVisitsEachOnce) {
  std::vector<Entity> visited;
  for (const Entity child : children(world, root)) {
    visited.push_back(child);
    attach(world, child, root);
  }
  EXPECT_THAT(visited, ElementsAre(a, b));
}

TEST_F(HierarchyTest, LoopGoesOnWhenTheNextChildLeaves) {
  const Entity e = world.create();
  attach(world, e, root);
  std::vector<Entity> visited;
  for (const Entity child : children(world, root)) {
    visited.push_back(child);
    if (child == a) attach(world, b, c);
  }
  EXPECT_THAT(visited, ElementsAre(a, e)) << "and does not follow it to its new parent";
}

TEST_F(HierarchyTest, LoopEndsWhenTheChildAtHandAndTheNextOneLeave) {
  const Entity e = world.create();
  attach(world, e, root);
  std::vector<Entity> visited;
  for (const Entity child : children(world, root)) {
    visited.push_back(child);
    world.destroy(a);
    world.destroy(b);
  }
  EXPECT_THAT(visited, ElementsAre(a));
}

// --- Ends ---

TEST_F(HierarchyTest, DestroyedChildLeavesItsSiblingsInOrder) {
  const Entity e = world.create();
  attach(world, e, root);
  world.destroy(b);
  EXPECT_THAT(under(root), ElementsAre(a, e));
  world.destroy(a);
  EXPECT_THAT(under(root), ElementsAre(e));
  world.destroy(e);
  EXPECT_THAT(under(root), IsEmpty());
}

TEST_F(HierarchyTest, ChildrenOfADestroyedParentBecomeRoots) {
  world.destroy(a);
  EXPECT_THAT(tree(root), ElementsAre(root, b));
  EXPECT_THAT(tree(c), ElementsAre(c));
  EXPECT_EQ(parent_of(world, d), kNullEntity);
}

TEST_F(HierarchyTest, ChildrenDieWithAParentThatSaysSo) {
  set_when_destroyed(world, root, WhenDestroyed::DestroyChildren);
  const Entity loner = world.create();
  world.destroy(root);
  EXPECT_EQ(world.alive_count(), 1u) << "those below a, which says nothing of the kind, die too";
  EXPECT_TRUE(world.alive(loner));
}

TEST_F(HierarchyTest, TheChoiceOfAParentIsNotThatOfItsParent) {
  set_when_destroyed(world, a, WhenDestroyed::DestroyChildren);
  world.destroy(root);
  EXPECT_THAT(tree(a), ElementsAre(a, c, d)) << "detached as root said";
  world.destroy(a);
  EXPECT_FALSE(world.alive(c));
}

TEST_F(HierarchyTest, TreeIsDestroyedChildrenBeforeParentsEachWhole) {
  for (const Entity entity : tree(root)) world.emplace<Health>(entity);
  std::vector<Entity> ended;
  const ScopedConnection listening =
      world.on_destroy<Health>().connect_scoped([&](Registry& registry, Entity entity) {
        ended.push_back(entity);
        EXPECT_TRUE(registry.all_of<Node>(entity)) << "not whole";
        EXPECT_EQ(child_count(registry, entity), 0u);
      });
  destroy_tree(world, root);
  EXPECT_THAT(ended, ElementsAre(b, d, c, a, root));
  EXPECT_EQ(world.alive_count(), 0u);
}

TEST_F(HierarchyTest, DestroyingATreeLeavesTheRest) {
  destroy_tree(world, a);
  EXPECT_THAT(tree(root), ElementsAre(root, b));
  EXPECT_EQ(world.alive_count(), 2u);
}

TEST_F(HierarchyTest, RemovingTheNodeOfALivingEntityDetachesItBothWays) {
  set_when_destroyed(world, a, WhenDestroyed::DestroyChildren);
  world.remove<Node>(a);
  EXPECT_THAT(tree(root), ElementsAre(root, b));
  EXPECT_TRUE(world.alive(c)) << "the choice is for the entity's end";
  EXPECT_EQ(parent_of(world, c), kNullEntity);
  attach(world, a, root);
  EXPECT_THAT(under(root), ElementsAre(b, a)) << "and it may come back";
}

TEST_F(HierarchyTest, ClearingNodesOrTheWorldLeavesNothingBehind) {
  world.clear<Node>();
  EXPECT_EQ(world.alive_count(), 5u);
  EXPECT_EQ(parent_of(world, c), kNullEntity);
  attach(world, b, a);
  set_when_destroyed(world, a, WhenDestroyed::DestroyChildren);
  world.clear();
  EXPECT_EQ(world.alive_count(), 0u);
}

TEST_F(HierarchyTest, WhatAListenerDetachesFromADyingTreeDiesToo) {
  world.emplace<Health>(d);
  const ScopedConnection listening =
      world.on_destroy<Health>().connect_scoped([this](Registry& registry, Entity) { detach(registry, c); });
  destroy_tree(world, root);
  EXPECT_FALSE(world.alive(c));
}

TEST_F(HierarchyTest, WhatAListenerAttachesToADyingTreeFollowsTheChoiceOfItsParent) {
  const Entity saved = world.create();
  const Entity doomed = world.create();
  set_when_destroyed(world, c, WhenDestroyed::DestroyChildren);
  world.emplace<Health>(d);
  const ScopedConnection listening =
      world.on_destroy<Health>().connect_scoped([&](Registry& registry, Entity) {
        attach(registry, saved, a);
        attach(registry, doomed, c);
      });
  destroy_tree(world, root);
  EXPECT_TRUE(world.alive(saved));
  EXPECT_EQ(parent_of(world, saved), kNullEntity);
  EXPECT_FALSE(world.alive(doomed));
}

TEST_F(HierarchyTest, ListenerMayDestroyAnotherTreeWhileOneIsDestroyed) {
  const Entity other = world.create();
  for (int i = 0; i < 100; ++i) attach(world, world.create(), other);  // enough to move any vector
  world.emplace<Health>(d);
  const ScopedConnection listening =
      world.on_destroy<Health>().connect_scoped([&](Registry& registry, Entity) {
        destroy_tree(registry, other);
        destroy_tree(registry, a);  // part of what is under way
      });
  destroy_tree(world, root);
  EXPECT_EQ(world.alive_count(), 0u);
}

TEST_F(HierarchyTest, ListenersThatMeddleWhileChildrenAreDetachedLeaveNoLinkToTheDead) {
  // When a is told of, it takes its sibling along; both the child at hand and the next one leave in one step.
  const Entity e = world.create();
  attach(world, e, root);
  const ScopedConnection listening =
      world.on_update<Node>().connect_scoped([&](Registry& registry, Entity entity) {
        if (entity == a && parent_of(registry, a).is_null()) attach(registry, b, a);
      });
  world.destroy(root);
  EXPECT_THAT(tree(a), ElementsAre(a, c, d, b));
  EXPECT_EQ(parent_of(world, e), kNullEntity);
}

TEST_F(HierarchyTest, ListenerThatAttachesAgainDoesNotKeepDetachingForEver) {
  const ScopedConnection listening =
      world.on_update<Node>().connect_scoped([&](Registry& registry, Entity entity) {
        if (parent_of(registry, entity).is_null()) attach(registry, entity, root);
      });
  detach_children(world, root);
  EXPECT_EQ(child_count(world, root), 2u);
}

TEST(Hierarchy, DeepChainIsDescendedAndDestroyedWithoutRecursion) {
  Family world;
  const Entity top = world.create();
  Entity last = top;
  constexpr std::size_t kDepth = 50'000;
  set_when_destroyed(world, top, WhenDestroyed::DestroyChildren);
  for (std::size_t i = 1; i < kDepth; ++i) {
    const Entity next = world.create();
    set_when_destroyed(world, next, WhenDestroyed::DestroyChildren);
    attach(world, next, last);
    last = next;
  }
  EXPECT_EQ(listed(descend(world, top)).size(), kDepth);
  EXPECT_TRUE(is_ancestor(world, top, last));
  world.destroy(top);
  EXPECT_EQ(world.alive_count(), 0u);
}

TEST(Hierarchy, SteadyLifeAndDeathOfTreesAllocateNothing) {
  Family world;
  const auto tick = [&] {
    const Entity top = world.create();
    for (int i = 0; i < 10; ++i) attach(world, world.create(), top);
    destroy_tree(world, top);
    world.log().clear();
  };
  for (int i = 0; i < 100; ++i) tick();
  const std::size_t before = allocations_so_far();
  for (int i = 0; i < 100; ++i) tick();
  EXPECT_EQ(allocations_so_far() - before, 0u) << "allocations in 100 ticks";
}

// --- Mistakes of the caller ---

using HierarchyDeathTest = HierarchyTest;

TEST_F(HierarchyDeathTest, AttachingUnderItselfOrItsDescendant) {
  EXPECT_DEATH(attach(world, a, a), "attach of entity 1:1 alive.*its own parent");
  EXPECT_DEATH(attach(world, root, c), "attach of entity 0:1 alive.*the parent is under the child");
  EXPECT_DEATH(attach(world, root, a), "the parent is under the child");
}

TEST_F(HierarchyDeathTest, PlaceThatIsNotAmongTheChildren) {
  EXPECT_DEATH(attach(world, b, root, c), "attach of entity 3:1 .*another child of the parent");
  EXPECT_DEATH(attach(world, b, root, b), "another child of the parent");
}

TEST_F(HierarchyDeathTest, DeadHandles) {
  world.destroy(b);
  EXPECT_DEATH(attach(world, b, a), "attach of entity 2:1 dead.*must be alive");
  EXPECT_DEATH(attach(world, a, b), "attach of entity 2:1 dead.*must be alive");
  EXPECT_DEATH(attach(world, a, kNullEntity), "attach of the null entity");
  EXPECT_DEATH(detach(world, b), "detach of entity 2:1 dead");
  EXPECT_DEATH(detach_children(world, b), "detach_children of entity 2:1 dead");
  EXPECT_DEATH(destroy_tree(world, b), "destroy_tree of entity 2:1 dead");
  EXPECT_DEATH(set_when_destroyed(world, b, WhenDestroyed::DetachChildren), "2:1 dead");
}

TEST_F(HierarchyDeathTest, AttachingToWhatIsDyingOrLosesItsNode) {
  // Connected after the hook: the links of the node that ends are undone already.
  const ScopedConnection listening =
      world.on_destroy<Node>().connect_scoped([this](Registry& registry, Entity entity) {
        entity == b ? attach(registry, b, a) : attach(registry, d, entity);
      });
  EXPECT_DEATH(world.destroy(a), "attach of entity 1:1 dying.*is dying or losing its node");
  EXPECT_DEATH(world.remove<Node>(a), "attach of entity 1:1 alive.*is dying or losing its node");
  EXPECT_DEATH(world.destroy(b), "attach of entity 2:1 dying.*is dying or losing its node");
  EXPECT_DEATH(world.remove<Node>(b), "attach of entity 2:1 alive.*is dying or losing its node");
}

TEST_F(HierarchyDeathTest, AttachingToTheDyingBeforeTheHookRanOrWithoutANode) {
  const Entity loner = world.create();
  world.emplace<Position>(loner);
  world.emplace<Position>(a);  // its signals run before those of Node
  const ScopedConnection listening = world.on_destroy<Position>().connect_scoped(
      [this](Registry& registry, Entity entity) { attach(registry, b, entity); });
  EXPECT_DEATH(world.destroy(a), "attach of entity 1:1 dying.*is dying or losing its node");
  EXPECT_DEATH(world.destroy(loner), "attach of entity 5:1 dying.*is dying or losing its node");
  world.remove<Position>(a);
  EXPECT_EQ(parent_of(world, b), a) << "who lives on may be attached to";
  world.remove<Position>(loner);
}

TEST_F(HierarchyDeathTest, HookConnectedTwiceOrNever) {
  EXPECT_DEATH(connect_hierarchy(world), "already");
  Registry bare;
  register_hierarchy(bare);
  bare.freeze();
  const Entity one = bare.create();
  const Entity two = bare.create();
  EXPECT_DEATH(attach(bare, one, two), "call connect_hierarchy");
}

}  // namespace
}  // namespace shoal::test
