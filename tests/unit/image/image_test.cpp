#include "shared/image/image.hpp"

#include <cstring>

#include "image_world.hpp"
#include "shared/ecs/world_copy.hpp"
#include "shared/image/json.hpp"

namespace shoal {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Image, RandomWorldsComeBackAsTheyWere) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ImageWorld world, copy;
    live(world, random, 300);
    const auto bytes = saved(world);
    const LoadedImage loaded = load(copy, bytes);
    EXPECT_EQ(loaded.entities, world.alive_count());
    EXPECT_THAT(loaded.notes, IsEmpty());
    expect_same(world, copy);
    EXPECT_EQ(saved(copy), bytes) << "the same world gives the same bytes";
  }
}

// R10: ids that are created after a load collided with saved ones where the free queue was not part of the image.
TEST(Image, SaveLoadCreateGivesTheHandlesThatTheSavedWorldGives) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ImageWorld world, copy;
    live(world, random, 200);
    load(copy, saved(world));
    Random same_a(seed), same_b(seed);
    live(world, same_a, 300);
    live(copy, same_b, 300);
    expect_same(world, copy);
  }
}

// R1, R10
TEST(Image, HandleFromBeforeTheSaveStaysDeadAfterTheLoad) {
  ImageWorld world, copy;
  const Entity dead = world.create();
  world.destroy(dead);
  load(copy, saved(world));
  EXPECT_FALSE(copy.alive(dead));
  const Entity next = copy.create();
  EXPECT_EQ(next.index, dead.index);
  EXPECT_FALSE(copy.alive(dead)) << "the index is back, the life is another one";
}

TEST(Image, RetiredIndexStaysRetired) {
  ImageWorld world, copy;
  const Entity last_life{3, Entity::kMaxGeneration};
  ASSERT_TRUE(world.create_exact(last_life));
  world.destroy(last_life);
  load(copy, saved(world));
  EXPECT_EQ(copy.entity_table().retired_count(), 1u);
  for (int i = 0; i < 10; ++i) EXPECT_NE(copy.create().index, 3u);
}

TEST(Image, ReservedIndicesStayReserved) {
  const RegistryLimits limits{.reserved_indices = 4};
  ImageWorld world(limits), copy(limits), from_json(limits);
  for (const Entity entity : {Entity{1, 7}, Entity{2, 1}, Entity{3, Entity::kMaxGeneration}})
    ASSERT_TRUE(world.create_exact(entity));
  world.destroy({2, 1});
  world.destroy({3, Entity::kMaxGeneration});
  world.destroy(world.create());
  world.emplace<Local>(Entity{1, 7});
  load(copy, saved(world));
  ASSERT_TRUE(load_world_json(from_json, *world_json(world, image_types()), image_types()).ok());
  world.destroy({1, 7});
  EXPECT_THAT(copy.entity_table().state().reserved_free, ElementsAre(0, 1, 2));
  expect_same(world, copy);
  expect_same(world, from_json);
  EXPECT_EQ(copy.create(), (Entity{4, 2}));
  EXPECT_EQ(copy.create(), (Entity{5, 1})) << "create() gives out no reserved index";
  EXPECT_TRUE(copy.create_exact({2, 2}));
}

struct Pinned {  // its values never move
  std::uint32_t number = 0;
};
struct PinnedName {
  std::string text;
};

}  // namespace

template <>
inline constexpr bool kStableAddress<Pinned> = true;
template <>
inline constexpr bool kStableAddress<PinnedName> = true;

namespace {

struct GroupWorld : Registry {
  GroupWorld() {
    demo::register_components(*this);
    register_component<Pinned>("test.Pinned");
    register_component<PinnedName>("test.PinnedName");
    declare_group<demo::Position, demo::Velocity>(observe<Pinned>);
    freeze();
  }
  auto members() { return group<demo::Position, demo::Velocity>(observe<Pinned>); }
};
ImageTypes group_types() {
  ImageTypes types;
  types.add(demo::component_descriptors())
      .add_opaque("test.Pinned")
      .add_encoded<PinnedName>(
          "test.PinnedName",
          [](const PinnedName& name, std::vector<std::byte>& target) {
            for (const char letter : name.text) target.push_back(static_cast<std::byte>(letter));
          },
          [](std::span<const std::byte> bytes) {
            PinnedName name;
            for (const std::byte letter : bytes) name.text.push_back(static_cast<char>(letter));
            return std::optional(name);
          });
  return types;
}

// Pools with stable addresses and an owning group, by image and by copy_world.
TEST(Image, GroupsAndStableAddressesComeBack) {
  Random random(9);
  GroupWorld world, loaded, copied;
  for (int step = 0; step < 2000; ++step) {
    const Entity entity = world.entity_at(random.below(world.entity_table().index_end() + 2));
    if (entity.is_null()) {
      world.create();
      continue;
    }
    const std::uint32_t what = random.below(16);
    if (what == 0) world.destroy(entity);
    if (what == 1) world.remove<demo::Position>(entity);
    if (what == 2) world.remove<Pinned>(entity);
    if (what == 3) world.emplace_or_replace<PinnedName>(entity, std::to_string(step));
    if (what >= 4 && what < 8) world.emplace_or_replace<Pinned>(entity, static_cast<std::uint32_t>(step));
    if (what >= 8 && what < 12) world.emplace_or_replace<demo::Velocity>(entity, static_cast<float>(step));
    if (what >= 12) world.emplace_or_replace<demo::Position>(entity, static_cast<float>(step));
  }
  ASSERT_GT(world.members().size(), 10u);
  load(loaded, saved(world, group_types()), group_types());
  copied.create();
  copied.emplace<PinnedName>(Entity{0, 1}, "gone");
  copy_world(world, copied);
  for (GroupWorld* other : {&loaded, &copied}) {
    EXPECT_EQ(saved(*other, group_types()), saved(world, group_types()));
    EXPECT_EQ(other->members().size(), world.members().size());
    for (const Entity entity : living(world)) {
      const Pinned* pinned = std::as_const(world).try_get<Pinned>(entity);
      const PinnedName* name = std::as_const(world).try_get<PinnedName>(entity);
      if (pinned != nullptr) {
        EXPECT_EQ(other->get<const Pinned>(entity).number, pinned->number);
      }
      if (name != nullptr) {
        EXPECT_EQ(other->get<const PinnedName>(entity).text, name->text);
      }
    }
    while (other->alive_count() > 0) other->destroy(living(*other).back());
    EXPECT_EQ(other->members().size(), 0u);
  }
}

TEST(Image, EmptyWorldIsAnImage) {
  ImageWorld world, copy;
  load(copy, saved(world));
  EXPECT_EQ(copy.create(), (Entity{0, 1}));
}

TEST(Image, LoadedWorldIsNewToChangeLogAndBits) {
  ImageWorld world, copy;
  const Entity first = world.create();
  const Entity second = world.create();
  world.emplace<Asleep>(second);
  world.emplace<demo::Position>(second);
  world.emplace<demo::Position>(first);
  world.log().clear();
  world.clear_changes();
  const auto bytes = saved(world);
  load(copy, bytes);
  const ComponentType position = copy.component_type<demo::Position>();
  const ComponentType asleep = copy.component_type<Asleep>();
  EXPECT_THAT(
      copy.log().entries(),
      ElementsAre(LogEntry{first, {}, LogKind::Born}, LogEntry{second, {}, LogKind::Born},
                  LogEntry{second, position, LogKind::Added}, LogEntry{first, position, LogKind::Added},
                  LogEntry{second, asleep, LogKind::Added}));
  EXPECT_TRUE(copy.storage<demo::Position>().is_dirty(first));
  EXPECT_TRUE(copy.storage<Asleep>().is_dirty(second));
}

TEST(Image, LoadFiresSignalsOnlyIfAskedFor) {
  ImageWorld world;
  const Entity first = world.create();
  const Entity second = world.create();
  world.emplace<demo::Health>(second);
  world.emplace<demo::Health>(first);
  const auto bytes = saved(world);
  std::vector<Entity> heard;
  ImageWorld quiet, loud;
  for (Registry* registry : {static_cast<Registry*>(&quiet), static_cast<Registry*>(&loud)})
    registry->on_construct<demo::Health>().connect([&](Registry& changed, Entity entity) {
      heard.push_back(entity);
      EXPECT_TRUE(changed.alive(second)) << "everything is in its place when the first listener is called";
      if (entity == second) changed.destroy(first);
    });
  load(quiet, bytes);
  EXPECT_THAT(heard, IsEmpty());
  load(loud, bytes, image_types(), {.fire_on_construct = true});
  EXPECT_THAT(heard, ElementsAre(second)) << "who lost the component to a listener is not announced";
}

TEST(Image, LocalEntitiesAreSavedAsIfTheyHadBeenDestroyed) {
  ImageWorld world, copy;
  std::vector<Entity> entities;
  for (int i = 0; i < 6; ++i) {
    entities.push_back(world.create());
    world.emplace<demo::Position>(entities.back(), static_cast<float>(i));
    world.emplace<Name>(entities.back(), std::to_string(i));
  }
  world.destroy(entities[5]);
  world.emplace<Local>(entities[3]);
  world.emplace<Local>(entities[1]);
  load(copy, saved(world));
  for (const Entity local : {entities[1], entities[3]}) {
    EXPECT_TRUE(world.alive(local)) << "saving changes nothing";
    world.destroy(local);
  }
  EXPECT_EQ(copy.entity_table().state().generations, world.entity_table().state().generations);
  EXPECT_THAT(copy.entity_table().state().free_queue, ElementsAre(5, 1, 3));
  EXPECT_THAT(copy.storage<demo::Position>().indices(), ElementsAre(0, 2, 4))
      << "the others keep their order";
  EXPECT_EQ(copy.get<const demo::Position>(entities[4]).x, 4);
  EXPECT_EQ(copy.get<const Name>(entities[2]).text, "2");
  EXPECT_TRUE(copy.storage<Local>().empty());
}

TEST(Image, ComponentThatOnlyLocalEntitiesHaveIsNotInTheImage) {
  ImageWorld world, copy;
  world.emplace<Brain>(world.create());
  world.emplace<Local>(world.entity_at(0));
  const auto bytes = saved(world);
  load(copy, bytes);
  EXPECT_EQ(saved(copy), bytes);
}

TEST(Image, WhatIsUnderALocalEntityIsARoot) {
  ImageWorld world, copy;
  const Entity root = world.create(), local = world.create(), left = world.create(), right = world.create(),
               below = world.create(), deeper = world.create();
  attach(world, left, root);
  attach(world, local, root);
  attach(world, right, root);
  attach(world, below, local);
  attach(world, deeper, below);
  world.emplace<Local>(local);
  load(copy, saved(world));
  std::vector<Entity> under_root;
  for (const Entity child : children(copy, root)) under_root.push_back(child);
  EXPECT_THAT(under_root, ElementsAre(left, right));
  EXPECT_EQ(parent_of(copy, below), kNullEntity);
  EXPECT_EQ(parent_of(copy, deeper), below);
  destroy_tree(copy, root);
  EXPECT_EQ(copy.alive_count(), 2u);
}

TEST(Image, PaddingIsSavedAsZeros) {
  ImageWorld dirty, clean;
  for (ImageWorld* world : {&dirty, &clean}) {
    const Entity entity = world->create();
    auto& node = world->emplace<Node>(entity);
    // Behind the last member.
    std::memset(reinterpret_cast<std::byte*>(&node.ending) + 1, world == &dirty ? 0xAB : 0, 2);
  }
  EXPECT_EQ(saved(dirty), saved(clean));
}

TEST(Image, SectionsOfTheGameComeBack) {
  ImageWorld world, copy;
  const std::vector<ImageSection> sections = {{"random", {std::byte{1}, std::byte{0}}}, {"tick", {}}};
  const auto bytes = save_image(world, image_types(), sections);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(load(copy, *bytes).sections, sections);
}

TEST(Image, BytesMayLieAnywhere) {
  ImageWorld world;
  world.emplace<demo::Position>(world.create());
  const auto bytes = saved(world);
  std::vector<std::byte> room(bytes.size() + 8);
  for (std::size_t shift = 0; shift < 8; ++shift) {
    std::copy(bytes.begin(), bytes.end(), room.begin() + static_cast<std::ptrdiff_t>(shift));
    ImageWorld copy;
    load(copy, std::span(room).subspan(shift, bytes.size()));
    EXPECT_EQ(copy.alive_count(), 1u);
  }
}

TEST(Image, TypeWithoutEntryIsRefusedByName) {
  ImageWorld world;
  ImageTypes types;
  types.add(demo::component_descriptors());
  auto refused = save_image(world, types);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().fault, ImageFault::NotListed);
  EXPECT_THAT(refused.error().text, HasSubstr("test.Brain (8 bytes a value): declare it in the schema"));
  types.add_opaque("test.Brain");
  refused = save_image(world, types);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().text, HasSubstr("test.Name"));
  EXPECT_THAT(refused.error().text, HasSubstr("not trivially copyable"));
  types.leave_out("test.Name");
  EXPECT_TRUE(save_image(world, types).ok());
}

TEST(Image, WhatIsLeftOutIsNotSavedAndNotLoaded) {
  ImageWorld world, copy;
  const Entity entity = world.create();
  world.emplace<Name>(entity, "n");
  ImageTypes without;
  without.add(demo::component_descriptors()).add_opaque("test.Brain").leave_out("test.Name");
  load(copy, saved(world, without));
  EXPECT_FALSE(copy.all_of<Name>(entity));
  ImageWorld other;
  EXPECT_THAT(load(other, saved(world), without).notes,
              ElementsAre(HasSubstr("test.Name is left out here: 1 ent")));
  EXPECT_FALSE(other.all_of<Name>(entity));
}

TEST(ImageDeathTest, MisuseSaysWhatToDo) {
  ImageWorld world;
  ImageTypes types = image_types();
  EXPECT_DEATH(types.add_opaque("test.Brain"), "test.Brain has an entry already");
  world.create();
  EXPECT_DEATH((void)load_image(world, saved(world), types), "not empty: clear\\(\\) it first");
  ImageTypes wrong;
  wrong.add(demo::component_descriptors()).add_opaque("test.Brain").add_opaque("test.Name");
  EXPECT_DEATH((void)save_image(world, wrong), "test.Name: add_opaque is for trivially copyable");
}

}  // namespace
}  // namespace shoal
