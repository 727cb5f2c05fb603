// Systems per entity: a function of one entity's components, called for all that have them, in pieces of a fixed number
// of values that may run on several threads.
//
//   schedule.add_each("regenerate", [](Entity, Ref<Health> health, const Armour* armour, Without<Burning>, Read<Rules> rules) {…});
//
// | parameter             | is                                                                     |
// |-----------------------|------------------------------------------------------------------------|
// | `T&`                  | the component; its run of 64 is marked as touched at each visit         |
// | `const T&`            | the component, to look at                                              |
// | `Ref<T>`              | the component, to look at, and to write when there is something to write |
// | `T*`, `const T*`      | the same for one that need not be there: null                          |
// | `With<T…>`, `Without<T…>` | nothing: only entities with all of these, with none of these         |
// | `Entity`, `Tick`, `SystemContext&`, `CommandBuffer&`, `Read<R>`, `Pool<const T>` | as for any system          |
//
// Pieces are cut from the smallest pool of those that must be there, each of kPieceValues positions, whatever the number
// of threads. They are numbered in the order in which a view visits, from the start to the end, so what they record
// comes in the order in which one loop would have recorded it.
//
// A piece writes its own entities only. What it reads of others (`Pool<const T>`) is of a type that the system does not
// write, which is checked when it is compiled.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "shared/ecs/each_parameters.hpp"

namespace shoal {

/// Positions of the leading pool in one piece; a multiple of ChangeBits::kRun, so that no run is of two pieces.
inline constexpr std::uint32_t kPieceValues = 1024;
static_assert(kPieceValues % ChangeBits::kRun == 0);

namespace detail {

// What a piece may not do.
template <class P>
inline constexpr bool kAllowedInPieces = true;
template <>
inline constexpr bool kAllowedInPieces<Registry&> = false;
template <>
inline constexpr bool kAllowedInPieces<const Registry&> = false;
template <class R>
inline constexpr bool kAllowedInPieces<Write<R>> = false;
template <class T>
inline constexpr bool kAllowedInPieces<Pool<T>> = std::is_const_v<T>;
template <class I, class X>
inline constexpr bool kAllowedInPieces<View<I, X>> = false;

template <class... T>
struct Joined {
  using type = Types<>;
};
template <class... T>
struct Joined<Types<T...>> {
  using type = Types<T...>;
};
template <class... A, class... B, class... Rest>
struct Joined<Types<A...>, Types<B...>, Rest...> : Joined<Types<A..., B...>, Rest...> {};

template <class T>
constexpr std::size_t count_of(T) {
  return 0;
}
template <class... T>
constexpr std::size_t count_of(Types<T...>) {
  return sizeof...(T);
}

/// How often T stands in a list, const or not.
template <class T, class... U>
constexpr std::size_t times(Types<U...>) {
  return (std::size_t{0} + ... + (std::is_same_v<T, std::remove_const_t<U>> ? 1 : 0));
}
template <class... U>
constexpr bool all_differ(Types<U...> list) {
  return ((times<std::remove_const_t<U>>(list) == 1) && ...);
}
/// Read of others through Pool<const T>, and written by the system itself.
template <class P, class List>
inline constexpr bool kReadsWhatPiecesWrite = false;
template <class T, class... U>
inline constexpr bool kReadsWhatPiecesWrite<Pool<T>, Types<U...>> =
    ((std::is_same_v<std::remove_const_t<T>, U> && !std::is_const_v<U>) || ...);

/// The loop over one piece.
template <class F, class List>
class EachSystem;
template <class F, class... P>
class EachSystem<F, Types<P...>> {
  // A reference is a component unless it refers to what may also be taken by value.
  template <class Q>
  using EachOf =
      EachParameter<std::conditional_t<std::is_reference_v<Q> && !kIsParameterKind<std::remove_cvref_t<Q>>, Q,
                                       ParameterKind<Q>>>;
  using Included = typename Joined<typename EachOf<P>::Included...>::type;
  using Excluded = typename Joined<typename EachOf<P>::Excluded...>::type;
  using Components = typename Joined<Included, typename EachOf<P>::Others...>::type;
  static constexpr std::size_t kPools = count_of(Included{});
  static constexpr std::size_t kExcluded = count_of(Excluded{});
  using Pools = ViewPools<kPools, kExcluded>;

  static_assert(kPools > 0,
                "a system per entity takes at least one component that must be there, or a With<…>");
  static_assert((kAllowedInPieces<ParameterKind<P>> && ...),
                "the pieces of a system per entity run side by side, so it takes no Registry, View, Write<…> "
                "or Pool<T> "
                "for writing; record in the CommandBuffer, or make it one task with add() and a ViewOf<…>");
  static_assert(all_differ(Components{}), "each component type stands among the parameters once");
  static_assert(!(kReadsWhatPiecesWrite<ParameterKind<P>, Components> || ...),
                "Pool<const T> of a type that the system writes: another piece may be writing what is read");

 public:
  explicit EachSystem(F fn) : fn_(std::move(fn)) {}

  static void declare(Access& access) { (EachOf<P>::declare(access), ...); }

  /// On the tick's thread, before the stage.
  static std::uint32_t prepare(Registry& registry) {
    const auto pieces = pools(registry, Included{}, Excluded{}).leader().size();
    return static_cast<std::uint32_t>((pieces + kPieceValues - 1) / kPieceValues);
  }
  void run(SystemContext& context) {
    run_kept(context, std::index_sequence_for<P...>{}, std::make_index_sequence<kPools>{});
  }

 private:
  template <class... I, class... X>
  static Pools pools(const Registry& registry, Types<I...>, Types<X...>) {
    const auto pool = [&]<class T>(Types<T>) {
      return const_cast<StorageBase*>(
          static_cast<const StorageBase*>(&registry.storage<std::remove_const_t<T>>()));
    };
    Pools found;
    found.included = {pool(Types<I>{})...};
    if constexpr (sizeof...(X) > 0) found.excluded = {pool(Types<X>{})...};
    found.entities = &registry.entity_table();
    found.choose_smallest();
    return found;
  }
  template <std::size_t I>
  static constexpr std::size_t offset() {
    constexpr std::array<std::size_t, sizeof...(P)> counts{count_of(typename EachOf<P>::Included{})...};
    std::size_t sum = 0;
    for (std::size_t i = 0; i < I; ++i) sum += counts[i];
    return sum;
  }
  template <std::size_t I, class... T>
  static constexpr bool written(Types<T...>) {
    return mode_of<std::tuple_element_t<I, std::tuple<T...>>>() == AccessMode::Write;
  }

  template <std::size_t... I, std::size_t... L>
  void run_kept(SystemContext& context, std::index_sequence<I...> numbers, std::index_sequence<L...>) {
    std::tuple<typename EachOf<P>::Kept...> kept{EachOf<P>::keep(context)...};
    const Pools found = pools(context.registry(), Included{}, Excluded{});
    // The leading pool as a constant of the loop.
    static_cast<void>(((found.leading == L && (run_led_by<L>(context, found, kept, numbers), true)) || ...));
  }
  template <std::size_t kLeader, class Kept, std::size_t... I>
  void run_led_by(SystemContext& context, const Pools& found, Kept& kept, std::index_sequence<I...>) {
    StorageBase& leader = *found.included[kLeader];
    const auto size = static_cast<std::uint32_t>(leader.size());
    const std::uint32_t first = context.piece() * kPieceValues;
    const std::uint32_t last = std::min(size, first + kPieceValues);
    Visit<kPools> visit;
    for (std::uint32_t begin = first; begin < last;) {
      const std::uint32_t end = std::min(last, begin + ChangeBits::kRun);
      bool run_touched = !touches<kLeader>();
      for (std::uint32_t at = begin; at < end; ++at) {
        const std::uint32_t index = leader.indices()[at];
        visit.positions[kLeader] = at;
        if (!found.template match_others<kLeader>(index, visit.positions)) continue;
        if (!run_touched) {
          PieceAccess::changes(leader).touch_shared(at);
          run_touched = true;
        }
        visit.entity = found.entities->at(index);
        fn_(static_cast<P>(
            EachOf<P>::template make<offset<I>()>(std::get<I>(kept), visit, offset<I>() == kLeader))...);
      }
      begin = end;
    }
  }
  /// True if the leading pool is one that is handed out as T&.
  template <std::size_t kLeader>
  static constexpr bool touches() {
    return touches_as<kLeader>(std::index_sequence_for<P...>{});
  }
  template <std::size_t kLeader, std::size_t... I>
  static constexpr bool touches_as(std::index_sequence<I...>) {
    return ((offset<I>() == kLeader && std::is_lvalue_reference_v<P> &&
             count_of(typename EachOf<P>::Included{}) == 1 && written<kLeader>(Included{})) ||
            ...);
  }

  F fn_;
};

}  // namespace detail
}  // namespace shoal
