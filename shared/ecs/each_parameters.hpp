// What a system per entity may take as parameters beside those of any system, and how the argument of a visit is made of
// each. The table stands in shared/ecs/each_system.hpp.
//
// Thread rule: as the piece that they are made for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "shared/ecs/system_parameters.hpp"

namespace shoal {

template <class... T>
struct With {};
template <class... T>
struct Without {};

namespace detail {

/// The doors into pools that pieces need.
struct PieceAccess {
  static ChangeBits& changes(StorageBase& pool) { return pool.changes_; }
  /// What is indexed by positions.
  template <class T>
  static auto values(Storage<T>& pool) {
    return pool.run_from(0);
  }
};

}  // namespace detail

/// One entity's component in a system per entity. Looking costs nothing; both ways of writing are noticed.
template <class T>
class Ref {
 public:
  Ref(Storage<T>& pool, std::uint32_t position, Entity entity, CommandBuffer& commands)
      : pool_(&pool), position_(position), entity_(entity), commands_(&commands) {}

  const T& operator*() const { return value(); }
  const T* operator->() const { return &value(); }
  /// To write without a word; marks the run of 64 as touched.
  T& write() const {
    detail::PieceAccess::changes(*pool_).touch_shared(position_);
    return value();
  }
  /// Changes the value and marks it now; on_update fires at the end of the stage.
  template <class F>
  void patch(F&& fn) const {
    detail::PieceAccess::changes(*pool_).mark_dirty_shared(position_);
    std::forward<F>(fn)(value());
    if (!pool_->on_update().empty()) commands_->updated(*pool_, entity_);
  }

 private:
  T& value() const { return detail::PieceAccess::values(*pool_)[position_]; }

  Storage<T>* pool_;
  std::uint32_t position_;
  Entity entity_;
  CommandBuffer* commands_;
};

namespace detail {

/// The entity at hand: its positions in the pools that must be there, in the order of the parameters.
template <std::size_t kPools>
struct Visit {
  Entity entity;
  std::array<std::uint32_t, kPools> positions{};
};

template <class T>
Storage<std::remove_const_t<T>>& pool_for(SystemContext& context) {
  using Type = std::remove_const_t<T>;
  // Constness was declared; a const pool is only looked at, by the parameters below.
  return const_cast<Storage<Type>&>(std::as_const(context.registry()).template storage<Type>());
}

// For each parameter: the types that must be there and must not, with const where they are read; what is kept for a piece;
// and how the argument of a visit is made. Whatever is not listed here is a parameter of any system, made once a piece.
template <class P>
struct EachParameter {
  using Included = Types<>;
  using Excluded = Types<>;
  using Others = Types<>;
  using Kept = decltype(SystemParameter<ParameterKind<P>>::make(std::declval<SystemContext&>()));
  static void declare(Access& access) { SystemParameter<ParameterKind<P>>::declare(access); }
  static Kept keep(SystemContext& context) { return SystemParameter<ParameterKind<P>>::make(context); }
  template <std::size_t kAt, class V>
  static decltype(auto) make(std::remove_reference_t<Kept>& kept, const V&, bool) {
    return static_cast<std::remove_reference_t<Kept>&>(kept);
  }
};

template <>
struct EachParameter<Entity> {
  using Included = Types<>;
  using Excluded = Types<>;
  using Others = Types<>;
  using Kept = std::tuple<>;
  static void declare(Access&) {}
  static Kept keep(SystemContext&) { return {}; }
  template <std::size_t kAt, class V>
  static Entity make(Kept&, const V& visit, bool) {
    return visit.entity;
  }
};

template <class T>
struct EachComponent {
  using Type = std::remove_const_t<T>;
  static_assert(!kIsTag<Type>, "a tag has no value; take With<…> or Without<…>");
  using Included = Types<T>;
  using Excluded = Types<>;
  using Others = Types<>;
  struct Kept {
    decltype(PieceAccess::values(std::declval<Storage<Type>&>())) values;
    ChangeBits* changes;
  };
  static void declare(Access& access) { access.add_component<T>(mode_of<T>()); }
  static Kept keep(SystemContext& context) {
    auto& pool = pool_for<T>(context);
    return {PieceAccess::values(pool), &PieceAccess::changes(pool)};
  }
  /// `leads`: its runs belong to this piece alone, and the loop has marked this one.
  template <std::size_t kAt, class V>
  static T& make(Kept& kept, const V& visit, bool leads) {
    const std::uint32_t at = visit.positions[kAt];
    if constexpr (!std::is_const_v<T>) {
      if (!leads) kept.changes->touch_shared(at);
    }
    return kept.values[at];
  }
};
template <class T>
concept ComponentOfSystem = !std::is_same_v<T, CommandBuffer> && !std::is_same_v<T, SystemContext> &&
                            !std::is_same_v<std::remove_const_t<T>, Registry>;
/// By const reference, yet no component: what a system may also take by value.
template <class T>
inline constexpr bool kIsParameterKind =
    requires { &SystemParameter<T>::declare; } || std::is_same_v<T, Entity>;
template <class T>
  requires(ComponentOfSystem<T> && !kIsParameterKind<std::remove_const_t<T>>)
struct EachParameter<T&> : EachComponent<T> {};

template <class T>
struct EachParameter<T*> {
  using Type = std::remove_const_t<T>;
  static_assert(!kIsTag<Type>, "a tag has no value; take With<…> or Without<…>");
  using Included = Types<>;
  using Excluded = Types<>;
  using Others = Types<T>;
  using Kept = Storage<Type>*;
  static void declare(Access& access) { access.add_component<T>(mode_of<T>()); }
  static Kept keep(SystemContext& context) { return &pool_for<T>(context); }
  template <std::size_t kAt, class V>
  static T* make(Kept& pool, const V& visit, bool) {
    const std::uint32_t at = pool->position(visit.entity.index);
    if (at == StorageBase::kAbsent) return nullptr;
    if constexpr (!std::is_const_v<T>) PieceAccess::changes(*pool).touch_shared(at);
    return &PieceAccess::values(*pool)[at];
  }
};

template <class T>
struct EachParameter<Ref<T>> {
  static_assert(!std::is_const_v<T>, "to look only: const T&");
  static_assert(!kIsTag<T>, "a tag has no value; take With<…> or Without<…>");
  using Included = Types<T>;
  using Excluded = Types<>;
  using Others = Types<>;
  struct Kept {
    Storage<T>* pool;
    CommandBuffer* commands;
  };
  static void declare(Access& access) { access.add_component<T>(AccessMode::Write); }
  static Kept keep(SystemContext& context) { return {&pool_for<T>(context), &context.commands()}; }
  template <std::size_t kAt, class V>
  static Ref<T> make(Kept& kept, const V& visit, bool) {
    return Ref<T>(*kept.pool, visit.positions[kAt], visit.entity, *kept.commands);
  }
};

template <class In, class Out>
struct EachFilter {
  using Included = In;
  using Excluded = Out;
  using Others = Types<>;
  using Kept = std::tuple<>;
  static Kept keep(SystemContext&) { return {}; }
};
template <class... T>
struct EachParameter<With<T...>> : EachFilter<Types<const T...>, Types<>> {
  static void declare(Access& access) { (access.add_component<T>(AccessMode::Read), ...); }
  template <std::size_t kAt, class V>
  static With<T...> make(std::tuple<>&, const V&, bool) {
    return {};
  }
};
template <class... T>
struct EachParameter<Without<T...>> : EachFilter<Types<>, Types<T...>> {
  static void declare(Access& access) { (access.add_component<T>(AccessMode::Read), ...); }
  template <std::size_t kAt, class V>
  static Without<T...> make(std::tuple<>&, const V&, bool) {
    return {};
  }
};

}  // namespace detail
}  // namespace shoal
