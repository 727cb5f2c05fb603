#include "shared/image/own_components.hpp"

#include <cstddef>
#include <limits>
#include <type_traits>

#include "shared/base/hash.hpp"
#include "shared/ecs/affiliation.hpp"
#include "shared/ecs/hierarchy.hpp"

namespace shoal {
namespace {

template <class Member>
constexpr FieldDescriptor field(std::string_view path, std::size_t offset) {
  FieldDescriptor descriptor{
      path, FieldType::Entity, FieldKind::Plain, static_cast<std::uint16_t>(offset), 0, 0, 0};
  if constexpr (!std::is_same_v<Member, Entity>) {
    descriptor.type = std::is_same_v<Member, bool>             ? FieldType::Bool
                      : sizeof(Member) == sizeof(std::uint8_t) ? FieldType::Uint8
                                                               : FieldType::Uint32;
    descriptor.step = 1;
    descriptor.steps = std::is_same_v<Member, bool> ? 1 : sizeof(Member) == 1 ? 255 : 0xFFFFFFFF;
  }
  return descriptor;
}
#define SHOAL_FIELD(Type, member) field<decltype(Type::member)>(#member, offsetof(Type, member))

constexpr FieldDescriptor kNodeFields[] = {SHOAL_FIELD(Node, parent),         SHOAL_FIELD(Node, first_child),
                                           SHOAL_FIELD(Node, last_child),     SHOAL_FIELD(Node, previous),
                                           SHOAL_FIELD(Node, next),           SHOAL_FIELD(Node, child_count),
                                           SHOAL_FIELD(Node, when_destroyed), SHOAL_FIELD(Node, ending)};
constexpr FieldDescriptor kOnTeamFields[] = {SHOAL_FIELD(OnTeam, team)};
constexpr FieldDescriptor kOwnedByFields[] = {SHOAL_FIELD(OwnedBy, player)};
#undef SHOAL_FIELD

template <class T>
constexpr ComponentDescriptor component(std::string_view name, std::span<const FieldDescriptor> fields) {
  // The hash is of the name alone: these components change with the format of the image.
  return {name, fnv1a32(name), fnv1a64(name), sizeof(T), alignof(T), Audience::Everyone, false, fields};
}

constexpr ComponentDescriptor kOwnComponents[] = {component<Node>("shoal.Node", kNodeFields),
                                                  component<OnTeam>("shoal.OnTeam", kOnTeamFields),
                                                  component<OwnedBy>("shoal.OwnedBy", kOwnedByFields)};

}  // namespace

std::span<const ComponentDescriptor> own_component_descriptors() {
  return kOwnComponents;
}

}  // namespace shoal
