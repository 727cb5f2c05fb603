// What a system may take as parameters, and what each says of its access. A system is a plain function:
//
//   void aim(ViewOf<const Position, Turret, Exclude<Broken>> turrets, Pool<const Health> health, Read<Rules> rules, Tick);
//
// | parameter                     | is                                                  | access                  |
// |-------------------------------|-----------------------------------------------------|-------------------------|
// | `ViewOf<A, const B, Exclude<C>>` | the view of these types                          | writes A, reads B and C |
// | `Pool<T>`, `Pool<const T>`    | the components of one type, by entity               | writes T, reads T       |
// | `Write<R>`, `Read<R>`         | the resource of this type                           | writes R, reads R       |
// | `Tick`, `SystemContext&`, `CommandBuffer&` | what the system is given                | –                       |
// | `const Registry&`             | the whole world to look at                          | reads everything        |
// | `Registry&`                   | the whole world: the system runs alone, unless it declares its access | everything |
//
// A further kind of parameter is a further SystemParameter: what it declares, and how it is made.
//
// Thread rule: made and used on the thread that runs the system.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "shared/ecs/access.hpp"
#include "shared/ecs/system_context.hpp"
#include "shared/ecs/view.hpp"

namespace shoal {

namespace detail {

/// Parts A, const B, Exclude<C…> into a view type. The exclusion may stand anywhere.
template <class Included, class Excluded, class... T>
struct ViewOfTypes {
  using type = View<Included, Excluded>;
};
template <class... I, class... X, class T, class... Rest>
struct ViewOfTypes<Types<I...>, Types<X...>, T, Rest...> : ViewOfTypes<Types<I..., T>, Types<X...>, Rest...> {
};
template <class... I, class... X, class... E, class... Rest>
struct ViewOfTypes<Types<I...>, Types<X...>, Exclude<E...>, Rest...>
    : ViewOfTypes<Types<I...>, Types<X..., E...>, Rest...> {};

template <class T>
constexpr AccessMode mode_of() {
  return std::is_const_v<T> || kIsTag<std::remove_const_t<T>> ? AccessMode::Read : AccessMode::Write;
}

}  // namespace detail

/// A view as a parameter: const types are read, others written. It goes from the start to the end, as every view.
template <class... T>
using ViewOf = typename detail::ViewOfTypes<detail::Types<>, detail::Types<>, T...>::type;

/// The components of one type, found by entity. Of a const T it only looks.
template <class T>
class Pool {
  using Storage = std::conditional_t<std::is_const_v<T>, const shoal::Storage<std::remove_const_t<T>>,
                                     shoal::Storage<std::remove_const_t<T>>>;

 public:
  explicit Pool(Storage& storage) : storage_(&storage) {}

  std::size_t size() const { return storage_->size(); }
  bool contains(Entity entity) const { return storage_->contains(entity); }
  /// REQUIRES: contains(entity). A mutable reference marks the run of 64 as touched.
  T& get(Entity entity) const { return storage_->get(entity); }
  /// Null if it has none, or is not alive.
  T* try_get(Entity entity) const { return storage_->try_get(entity); }
  /// Changes the value and marks it now; on_update fires at the end of the stage. REQUIRES: contains(entity).
  template <class F>
  void patch(Entity entity, F&& fn) const
    requires(!std::is_const_v<T>)
  {
    storage_->mark_dirty(entity);
    // A patch marks one value, not the run that a mutable get() would.
    std::forward<F>(fn)(const_cast<T&>(std::as_const(*storage_).get(entity)));
    if (!storage_->on_update().empty()) storage_->publish_update(entity);
  }

 private:
  Storage* storage_;
};

/// A resource that others may read at the same time.
template <class R>
class Read {
 public:
  explicit Read(const R& resource) : resource_(&resource) {}
  const R& operator*() const { return *resource_; }
  const R* operator->() const { return resource_; }

 private:
  const R* resource_;
};

/// A resource that this system alone has.
template <class R>
class Write {
 public:
  explicit Write(R& resource) : resource_(&resource) {}
  R& operator*() const { return *resource_; }
  R* operator->() const { return resource_; }

 private:
  R* resource_;
};

/// How a parameter of type P is declared and made. Undefined: no parameter of a system.
template <class P>
struct SystemParameter;

template <>
struct SystemParameter<Tick> {
  static void declare(Access&) {}
  static Tick make(SystemContext& context) { return context.tick(); }
};
template <>
struct SystemParameter<SystemContext&> {
  static void declare(Access&) {}
  static SystemContext& make(SystemContext& context) { return context; }
};
template <>
struct SystemParameter<CommandBuffer&> {
  static void declare(Access&) {}
  static CommandBuffer& make(SystemContext& context) { return context.commands(); }
};
template <>
struct SystemParameter<Registry&> {
  static void declare(Access& access) { access.set_everything(AccessMode::Write); }
  static Registry& make(SystemContext& context) { return context.registry(); }
};
template <>
struct SystemParameter<const Registry&> {
  static void declare(Access& access) {
    if (access.everything() == AccessMode::None) access.set_everything(AccessMode::Read);
  }
  static const Registry& make(SystemContext& context) { return context.registry(); }
};
template <class R>
struct SystemParameter<Read<R>> {
  static void declare(Access& access) { access.add_resource<R>(AccessMode::Read); }
  static Read<R> make(SystemContext& context) {
    return Read<R>(std::as_const(context.registry()).resources().template get<R>());
  }
};
template <class R>
struct SystemParameter<Write<R>> {
  static void declare(Access& access) { access.add_resource<R>(AccessMode::Write); }
  static Write<R> make(SystemContext& context) {
    return Write<R>(context.registry().resources().template get<R>());
  }
};
template <class T>
struct SystemParameter<Pool<T>> {
  static void declare(Access& access) { access.add_component<T>(detail::mode_of<T>()); }
  static Pool<T> make(SystemContext& context) {
    if constexpr (std::is_const_v<T>) {
      return Pool<T>(std::as_const(context.registry()).template storage<std::remove_const_t<T>>());
    } else {
      return Pool<T>(context.registry().template storage<T>());
    }
  }
};
template <class... I, class... X>
struct SystemParameter<View<detail::Types<I...>, detail::Types<X...>>> {
  static void declare(Access& access) {
    (access.add_component<I>(detail::mode_of<I>()), ...);
    (access.add_component<X>(AccessMode::Read), ...);
  }
  static auto make(SystemContext& context) { return context.registry().template view<I...>(exclude<X...>); }
};

namespace detail {

/// The parameters of a function or of an object with one operator(); none for a generic one.
template <class F>
struct ParametersOf {};
template <class F>
  requires requires { &F::operator(); }
struct ParametersOf<F> : ParametersOf<decltype(&F::operator())> {};
template <class R, class... P>
struct ParametersOf<R (*)(P...)> {
  using type = Types<P...>;
};
template <class R, class... P>
struct ParametersOf<R (*)(P...) noexcept> : ParametersOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...)> : ParametersOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...) const> : ParametersOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...) noexcept> : ParametersOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...) const noexcept> : ParametersOf<R (*)(P...)> {};

/// A parameter by value or by const reference is one kind; X& is another.
template <class P>
using ParameterKind =
    std::conditional_t<std::is_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>>, P,
                       std::conditional_t<std::is_same_v<P, const Registry&>, P, std::remove_cvref_t<P>>>;

template <class F, class... P>
void call_system(F& fn, SystemContext& context, Types<P...>) {
  // A tuple's braces make the parameters in their order.
  std::tuple<decltype(SystemParameter<ParameterKind<P>>::make(context))...> made{
      SystemParameter<ParameterKind<P>>::make(context)...};
  std::apply([&](auto&... parameter) { fn(static_cast<P>(parameter)...); }, made);
}

template <class... P>
void declare_system(Access& access, Types<P...>) {
  (SystemParameter<ParameterKind<P>>::declare(access), ...);
}

}  // namespace detail
}  // namespace shoal
