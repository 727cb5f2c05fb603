// The hierarchy against a model: who is alive, under whom, in which order. Random operations from a seed; after
// each one every link is followed and every question asked of both.
#include "shared/ecs/hierarchy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "shared/base/random.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

struct Forest : Registry {
  Forest() {
    register_hierarchy(*this);
    freeze();
    connect_hierarchy(*this);
  }
};

struct ModelNode {
  Entity parent{};
  std::vector<Entity> children;
  bool children_die = false;
};

class HierarchyModel : public testing::TestWithParam<std::uint64_t> {
 protected:
  HierarchyModel() : random(GetParam()) {}

  Entity any() {
    return std::next(model.begin(), random.below(static_cast<std::uint32_t>(model.size())))->first;
  }
  bool is_under(Entity entity, Entity top) const {
    for (; !entity.is_null(); entity = model.at(entity).parent) {
      if (entity == top) return true;
    }
    return false;
  }
  void model_detach(Entity child) {
    const Entity parent = std::exchange(model[child].parent, kNullEntity);
    if (!parent.is_null()) std::erase(model[parent].children, child);
  }
  void model_destroy(Entity entity, bool children_die) {
    for (const Entity child : std::vector<Entity>(model[entity].children))
      children_die ? model_destroy(child, true) : model_detach(child);
    model_detach(entity);
    model.erase(entity);
  }

  void attach_any() {
    const Entity child = any();
    const Entity parent = any();
    ASSERT_EQ(is_ancestor(world, child, parent), child != parent && is_under(parent, child));
    if (is_under(parent, child)) return;
    std::vector<Entity> siblings = model[parent].children;
    std::erase(siblings, child);
    const std::size_t place = random.below(static_cast<std::uint32_t>(siblings.size()) + 1);
    attach(world, child, parent, place < siblings.size() ? siblings[place] : kNullEntity);
    model_detach(child);
    siblings.insert(siblings.begin() + static_cast<std::ptrdiff_t>(place), child);
    model[parent].children = siblings;
    model[child].parent = parent;
  }
  void step() {
    if (model.size() < 5) model[world.create()];
    const Entity entity = any();
    switch (random.below(16)) {
      case 0:
      case 1:
      case 2:
        if (model.size() < 60) model[world.create()];
        return;
      case 3:
        ASSERT_EQ(detach(world, entity), !model[entity].parent.is_null());
        return model_detach(entity);
      case 4:
        model[entity].children_die = random.below(2) == 0;
        return set_when_destroyed(
            world, entity,
            model[entity].children_die ? WhenDestroyed::DestroyChildren : WhenDestroyed::DetachChildren);
      case 5:
        world.destroy(entity);
        return model_destroy(entity, model[entity].children_die);
      case 6:
        if (listed(descend(world, entity)).size() > 8) return;  // large trees shall arise, too
        destroy_tree(world, entity);
        return model_destroy(entity, true);
      case 7:
        if (random.below(4) != 0) return;
        detach_children(world, entity);
        for (const Entity child : std::vector<Entity>(model[entity].children)) model_detach(child);
        return;
      case 8:
        if (random.below(4) != 0) return;
        world.remove<Node>(entity);
        for (const Entity child : std::vector<Entity>(model[entity].children)) model_detach(child);
        model_detach(entity);
        model[entity].children_die = false;  // the choice went with the node
        return;
      default:
        return attach_any();
    }
  }

  void expect_descent(Entity entity, std::vector<Entity>& expected) const {
    expected.push_back(entity);
    for (const Entity child : model.at(entity).children) expect_descent(child, expected);
  }
  // The header's invariants, link by link, then the model's answers.
  void check() const {
    ASSERT_EQ(world.alive_count(), model.size());
    const Storage<Node>& nodes = world.storage<Node>();
    std::size_t visited = 0;
    for (const auto& [entity, known] : model) {
      ASSERT_TRUE(world.alive(entity));
      ASSERT_EQ(parent_of(world, entity), known.parent);
      ASSERT_EQ(child_count(world, entity), known.children.size());
      ASSERT_EQ(listed(children(world, entity)), known.children);
      if (!known.parent.is_null()) continue;
      std::vector<Entity> expected;
      expect_descent(entity, expected);
      ASSERT_EQ(listed(descend(world, entity)), expected);
      visited += expected.size();
    }
    ASSERT_EQ(visited, model.size()) << "somebody is its own ancestor";
    for (std::size_t at = 0; at < nodes.size(); ++at) {
      const Entity entity = nodes.entity_at(at);
      const Node& node = nodes.get(entity);
      for (const Entity named : {node.parent, node.first_child, node.last_child, node.previous, node.next})
        ASSERT_TRUE(named.is_null() || world.all_of<Node>(named)) << "a link to the dead";
      ASSERT_FALSE(node.ending);
      ASSERT_EQ(node.first_child.is_null(), node.child_count == 0);
      ASSERT_EQ(node.last_child.is_null(), node.child_count == 0);
      if (!node.next.is_null()) {
        ASSERT_EQ(nodes.get(node.next).previous, entity);
      }
      if (!node.previous.is_null()) {
        ASSERT_EQ(nodes.get(node.previous).next, entity);
      }
      if (!node.last_child.is_null()) {
        ASSERT_TRUE(nodes.get(node.last_child).next.is_null());
      }
    }
  }

  Forest world;
  Random random;
  std::map<Entity, ModelNode> model;
};

TEST_P(HierarchyModel, TenThousandOperationsAgreeWithTheModel) {
  std::size_t largest = 0;
  for (int operation = 0; operation < 10'000; ++operation) {
    ASSERT_NO_FATAL_FAILURE(step()) << "operation " << operation;
    ASSERT_NO_FATAL_FAILURE(check()) << "operation " << operation;
    if (operation % 100 != 0) continue;
    for (const auto& [entity, known] : model)
      largest = std::max(largest, listed(descend(world, entity)).size());
  }
  EXPECT_GT(largest, 10u) << "the operations make no trees worth the name";
}

INSTANTIATE_TEST_SUITE_P(Seeds, HierarchyModel, testing::Values(1u, 2u, 3u));

}  // namespace
}  // namespace shoal::test
