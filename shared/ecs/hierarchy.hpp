// Hierarchy: entities under entities, as one plain component that any view finds. A `Node` holds the links of
// a doubly linked list of children, so that attaching and detaching cost the same whatever the number of
// children. An entity without a node is a root without children.
//
//   register_hierarchy(world); world.freeze(); connect_hierarchy(world);     // once
//   attach(world, turret, tank);
//   for (Entity entity : descend(world, tank)) …                             // parents before children
//   destroy_tree(world, tank);
//
// Thread rule: as the registry's: const functions and ranges from several threads while nobody changes
// anything; everything else from one thread.
// Invariants, whenever a listener is called and after each call:
// 1. Child and parent know each other: the children of p, from first_child along next to last_child, are
//    child_count entities, each alive, with parent == p; previous is the way back.
// 2. Nobody is its own ancestor.
// 3. No link names a dead entity, nor one without a node: the hook of connect_hierarchy undoes the links of a
//    node that ends, by destroy or by removal. An attachment to a node that ends is refused.
// 4. Links are written by the functions below only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "shared/ecs/entity.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/ecs/storage.hpp"

namespace shoal {

/// What becomes of those under an entity that is destroyed by itself (Registry::destroy, a command).
enum class WhenDestroyed : std::uint8_t {
  DetachChildren,   // its children become roots, first to last, each with what is under it
  DestroyChildren,  // as destroy_tree, whatever those under it say
};

struct Node {
  Entity parent{};
  Entity first_child{};
  Entity last_child{};
  Entity previous{};  // siblings
  Entity next{};
  std::uint32_t child_count = 0;
  WhenDestroyed when_destroyed = WhenDestroyed::DetachChildren;
  bool ending = false;  // its on_destroy runs
};

/// Registers Node as "shoal.Node". REQUIRES: not frozen.
void register_hierarchy(Registry& registry);
/// Connects the hook that keeps the links right when a node ends, for the registry's whole life. Listeners of
/// on_destroy<Node> that connected before still see the links. REQUIRES: frozen, not connected yet.
void connect_hierarchy(Registry& registry);

// --- Changes. REQUIRES throughout: connect_hierarchy was called, the entities are alive. Each ends with
// on_update<Node> of every child that got another parent or place; nodes are added where they are missing, and
// stay. ---

/// Puts `child`, with all under it, under `parent`: before its child `before`, or last. From under another
/// parent, or another place under the same one, it moves. O(depth of parent). REQUIRES: `parent` is neither
/// `child` nor under it (ask is_ancestor); neither is dying or losing its node; `before` is null or another
/// child of `parent`.
void attach(Registry& registry, Entity child, Entity parent, Entity before = kNullEntity);
/// Makes it a root, with all under it. False if it is one. Constant time.
bool detach(Registry& registry, Entity child);
/// Makes each of its children a root, first to last. Linear in the children.
void detach_children(Registry& registry, Entity parent);
/// The choice for this entity; DetachChildren if nobody calls this. Constant time.
void set_when_destroyed(Registry& registry, Entity entity, WhenDestroyed choice);
/// Destroys it and all that are under it now, in the opposite order of `descend`: children before parents.
/// What listeners detach meanwhile dies too; what they attach meanwhile follows the choice of its parent.
/// Linear in the entities, without recursion; no allocation in the steady state.
void destroy_tree(Registry& registry, Entity root);

// --- Questions. A dead entity, and one without a node, has neither parent nor children. ---

/// Null for a root. Constant time.
Entity parent_of(const Registry& registry, Entity entity);
/// Constant time.
std::size_t child_count(const Registry& registry, Entity entity);
/// False for an entity and itself. O(depth of entity).
bool is_ancestor(const Registry& registry, Entity ancestor, Entity entity);

/// The children of one entity in order, see children().
class ChildRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Entity;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Entity;

    Entity operator*() const { return current_; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.current_.is_null(); }

   private:
    friend class ChildRange;
    Iterator(const Storage<Node>& nodes, Entity parent);
    void go_to(Entity child);
    bool is_child(Entity entity) const;

    const Storage<Node>* nodes_;
    Entity parent_;
    Entity current_{};
    Entity next_{};  // as it was when the loop came to current_, which may leave
    std::uint32_t left_ = 0;
  };

  ChildRange(const Storage<Node>& nodes, Entity parent) : nodes_(&nodes), parent_(parent) {}
  Iterator begin() const { return {*nodes_, parent_}; }
  std::default_sentinel_t end() const { return {}; }

 private:
  const Storage<Node>* nodes_;
  Entity parent_;
};

/// An entity and all under it, see descend().
class TreeRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Entity;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Entity;

    Entity operator*() const { return current_; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.current_.is_null(); }

   private:
    friend class TreeRange;
    Iterator(const Storage<Node>& nodes, Entity root) : nodes_(&nodes), root_(root), current_(root) {}

    const Storage<Node>* nodes_;
    Entity root_;
    Entity current_;
  };

  TreeRange(const Storage<Node>& nodes, Entity root) : nodes_(&nodes), root_(root) {}
  Iterator begin() const { return {*nodes_, root_}; }
  std::default_sentinel_t end() const { return {}; }

 private:
  const Storage<Node>* nodes_;
  Entity root_;
};

/// First to last. The loop may detach, move or destroy the child at hand, and attach others: those are visited
/// or not, and the loop makes no more steps than there were children when it began. It ends early if both the
/// child at hand and the one after it leave in one step. Constant time per step.
ChildRange children(const Registry& registry, Entity parent);
/// `root` first, parents before their children, children in order; nothing for a dead entity. Constant time
/// per step, amortised, without recursion and memory. REQUIRES: no link of the tree changes meanwhile.
TreeRange descend(const Registry& registry, Entity root);

}  // namespace shoal
