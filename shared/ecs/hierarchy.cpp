#include "shared/ecs/hierarchy.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "shared/base/assert.hpp"

namespace shoal {

namespace {

// The resource that says that the hook is connected. Trees on their way out are a stack, since a listener may
// destroy another tree meanwhile.
struct HierarchyHook {
  std::vector<Entity> doomed;
};

HierarchyHook& hook(Registry& registry) {
  auto* connected = registry.resources().try_get<HierarchyHook>();
  SHOAL_ASSERT(connected != nullptr, "a hierarchy without its hook: call connect_hierarchy() after freeze()");
  return *connected;
}

[[noreturn]] void refuse(const Registry& registry, const char* operation, Entity entity, const char* rule) {
  assertion_failed("hierarchy rule",
                   fmt::format("{} of {}: {}", operation, registry.describe(entity), rule).c_str(), __FILE__,
                   __LINE__);
}

constexpr const char* kRuleAlive =
    "the entity must be alive; test with alive() or drop handles on on_destroy";

void require_alive(const Registry& registry, const char* operation, Entity entity) {
  if (!registry.alive(entity)) [[unlikely]]
    refuse(registry, operation, entity, kRuleAlive);
}

// The links of an entity to its parent and siblings; its children stay.
void unlink(Storage<Node>& nodes, Entity child) {
  Node& node = nodes.get(child);
  if (node.parent.is_null()) return;
  Node& parent = nodes.get(node.parent);
  (node.previous.is_null() ? parent.first_child : nodes.get(node.previous).next) = node.next;
  (node.next.is_null() ? parent.last_child : nodes.get(node.next).previous) = node.previous;
  --parent.child_count;
  node.parent = node.previous = node.next = kNullEntity;
}

// REQUIRES: child has no parent, before is null or a child of the parent.
void link(Storage<Node>& nodes, Entity child, Entity parent_entity, Entity before) {
  Node& node = nodes.get(child);
  Node& parent = nodes.get(parent_entity);
  node.parent = parent_entity;
  node.next = before;
  node.previous = before.is_null() ? parent.last_child : nodes.get(before).previous;
  (node.previous.is_null() ? parent.first_child : nodes.get(node.previous).next) = child;
  (node.next.is_null() ? parent.last_child : nodes.get(node.next).previous) = child;
  ++parent.child_count;
}

void on_node_ends(Registry& registry, Entity entity) {
  Storage<Node>& nodes = registry.storage<Node>();
  Node& node = nodes.get(entity);
  node.ending = true;  // from here on nobody is attached to it, so no child is left below
  // Who only loses its node lives on: nobody dies for that.
  if (node.when_destroyed == WhenDestroyed::DestroyChildren && registry.dying(entity))
    destroy_tree(registry, entity);
  detach_children(registry, entity);
  unlink(nodes, entity);
}

void check_attachment(const Registry& registry, Entity child, Entity parent, Entity before) {
  const Storage<Node>& nodes = registry.storage<Node>();
  for (const Entity entity : {child, parent}) {
    if (registry.dying(entity) || nodes.get(entity).ending)
      refuse(registry, "attach", entity,
             "the entity is dying or losing its node, its on_destroy signals run");
  }
  if (child == parent) refuse(registry, "attach", child, "an entity cannot be its own parent");
  // Who has no children is nobody's ancestor: the usual case costs no walk.
  if (nodes.get(child).child_count != 0 && is_ancestor(registry, child, parent)) {
    refuse(registry, "attach", child,
           "the parent is under the child; test with is_ancestor() or detach it first");
  }
  if (!before.is_null() && (before == child || parent_of(registry, before) != parent))
    refuse(registry, "attach", before, "`before` must be another child of the parent");
}

}  // namespace

void register_hierarchy(Registry& registry) {
  registry.register_component<Node>("shoal.Node");
}

void connect_hierarchy(Registry& registry) {
  registry.resources().emplace<HierarchyHook>();
  registry.on_destroy<Node>().connect(on_node_ends);
}

void attach(Registry& registry, Entity child, Entity parent, Entity before) {
  hook(registry);
  for (const Entity entity : {child, parent}) {
    require_alive(registry, "attach", entity);
    if (registry.dying(entity)) break;  // said better below
    registry.get_or_emplace<Node>(entity);
  }
  check_attachment(registry, child, parent, before);
  Storage<Node>& nodes = registry.storage<Node>();
  unlink(nodes, child);
  link(nodes, child, parent, before);
  registry.patch<Node>(child);
}

bool detach(Registry& registry, Entity child) {
  require_alive(registry, "detach", child);
  if (parent_of(registry, child).is_null()) return false;
  unlink(registry.storage<Node>(), child);
  registry.patch<Node>(child);
  return true;
}

void detach_children(Registry& registry, Entity parent) {
  require_alive(registry, "detach_children", parent);
  // By the links of each moment, since listeners detach and destroy, too. Counted, since they may attach again;
  // to a node that ends nobody is attached, so that each step leaves it fewer, and the last one none.
  for (std::size_t left = child_count(registry, parent); left > 0; --left) {
    const Node* node = std::as_const(registry).try_get<Node>(parent);
    if (node == nullptr || node->first_child.is_null()) return;
    detach(registry, node->first_child);
  }
}

void set_when_destroyed(Registry& registry, Entity entity, WhenDestroyed choice) {
  hook(registry);
  require_alive(registry, "set_when_destroyed", entity);
  registry.get_or_emplace<Node>(entity).when_destroyed = choice;
}

void destroy_tree(Registry& registry, Entity root) {
  require_alive(registry, "destroy_tree", root);
  std::vector<Entity>& doomed = hook(registry).doomed;
  const std::size_t others = doomed.size();
  for (const Entity entity : descend(registry, root)) doomed.push_back(entity);
  while (doomed.size() > others) {
    const Entity entity = doomed.back();
    doomed.pop_back();
    if (registry.alive(entity)) registry.destroy(entity);
  }
}

Entity parent_of(const Registry& registry, Entity entity) {
  const Node* node = registry.try_get<Node>(entity);
  return node != nullptr ? node->parent : kNullEntity;
}

std::size_t child_count(const Registry& registry, Entity entity) {
  const Node* node = registry.try_get<Node>(entity);
  return node != nullptr ? node->child_count : 0;
}

bool is_ancestor(const Registry& registry, Entity ancestor, Entity entity) {
  if (ancestor.is_null()) return false;
  while (!entity.is_null()) {
    entity = parent_of(registry, entity);
    if (entity == ancestor) return true;
  }
  return false;
}

ChildRange children(const Registry& registry, Entity parent) {
  return {registry.storage<Node>(), parent};
}

ChildRange::Iterator::Iterator(const Storage<Node>& nodes, Entity parent) : nodes_(&nodes), parent_(parent) {
  const Node* node = nodes.try_get(parent);
  if (node == nullptr) return;
  left_ = node->child_count;
  go_to(node->first_child);
}

void ChildRange::Iterator::go_to(Entity child) {
  current_ = left_ > 0 ? child : kNullEntity;
  if (current_.is_null()) return;
  --left_;
  next_ = nodes_->get(current_).next;
}

bool ChildRange::Iterator::is_child(Entity entity) const {
  const Node* node = nodes_->try_get(entity);
  return node != nullptr && node->parent == parent_;
}

ChildRange::Iterator& ChildRange::Iterator::operator++() {
  if (next_.is_null() || is_child(next_)) {
    go_to(next_);
  } else {
    go_to(is_child(current_) ? nodes_->get(current_).next : kNullEntity);
  }
  return *this;
}

TreeRange descend(const Registry& registry, Entity root) {
  return {registry.storage<Node>(), registry.alive(root) ? root : kNullEntity};
}

TreeRange::Iterator& TreeRange::Iterator::operator++() {
  const Node* node = nodes_->try_get(current_);
  if (node != nullptr && !node->first_child.is_null()) {
    current_ = node->first_child;
    return *this;
  }
  // Up to where there is a sibling; the root's own siblings do not belong to the tree.
  while (current_ != root_) {
    const Node& last = nodes_->get(current_);
    current_ = last.next.is_null() ? last.parent : last.next;
    if (!last.next.is_null()) return *this;
  }
  current_ = kNullEntity;
  return *this;
}

}  // namespace shoal
