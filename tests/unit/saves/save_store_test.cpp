// One save after the other into one folder: names, what is kept, and what a failing disk leaves.
#include "server/saves/save_store.hpp"

#include <gmock/gmock.h>

#include "memory_disk.hpp"

namespace shoal {
namespace {

using test::MemoryDisk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::byte> image(std::uint8_t number) {
  return std::vector<std::byte>(10, std::byte{number});
}

TEST(SaveStore, NumbersRiseAndTheNewestAreKept) {
  MemoryDisk disk;
  SaveStore store(disk, "saves", 3);
  ASSERT_FALSE(store.open());
  for (std::uint8_t number = 1; number <= 5; ++number) {
    const auto saved = store.save(image(number));
    ASSERT_TRUE(saved) << saved.error();
    EXPECT_EQ(saved->complaint, "");
    EXPECT_EQ(*store.read(saved->name), image(number));
  }
  EXPECT_THAT(store.list()->saves,
              ElementsAre("world-00000005.image", "world-00000004.image", "world-00000003.image"));
}

TEST(SaveStore, OtherFilesAreLeftAlone) {
  MemoryDisk disk;
  for (const char* name : {"lock", "world-.image", "world-1.images", "world-x.image", "notes",
                           "world-5.image.bak", "world-12345678901234567890.image", "1.image"})
    disk.put(name, image(1));
  const auto before = disk.sorted_names();
  SaveStore store(disk, "saves", 1);
  ASSERT_FALSE(store.open());
  EXPECT_TRUE(store.list()->saves.empty());
  ASSERT_TRUE(store.save(image(2)));
  ASSERT_TRUE(store.save(image(3)));
  auto after = disk.sorted_names();
  EXPECT_EQ(std::erase(after, "world-00000002.image"), 1u);
  EXPECT_EQ(after, before);
}

TEST(SaveStore, NoNumberIsGivenTwice) {
  MemoryDisk disk;
  disk.put("world-00000007.image.damaged", image(1));
  disk.put("world-9.image.part", image(1));
  disk.put("world-3.image", image(1));
  SaveStore store(disk, "saves", 5);
  ASSERT_FALSE(store.open());
  EXPECT_THAT(disk.sorted_names(), ElementsAre("world-00000007.image.damaged", "world-3.image"))
      << "unfinished ones are removed";
  EXPECT_EQ(store.save(image(2))->name, "world-00000010.image");
  // Put there while the server runs.
  disk.put("world-00000020.image", image(3));
  EXPECT_EQ(store.save(image(4))->name, "world-00000021.image");
}

TEST(SaveStore, WhatIsSetAsideIsNoSaveAnyMore) {
  MemoryDisk disk;
  disk.put("world-1.image", image(1));
  disk.put("world-2.image", image(2));
  SaveStore store(disk, "saves", 1);
  ASSERT_FALSE(store.open());
  ASSERT_FALSE(store.set_aside("world-2.image"));
  const auto listing = store.list();
  EXPECT_THAT(listing->saves, ElementsAre("world-1.image"));
  EXPECT_THAT(listing->damaged, ElementsAre("world-2.image.damaged"));
  ASSERT_TRUE(store.save(image(3)));
  EXPECT_THAT(disk.sorted_names(), ElementsAre("world-00000003.image", "world-2.image.damaged"))
      << "and is not removed";
}

// Whatever fails, at whatever call: the saves that were there are there, the unfinished one is not, the next one is.
TEST(SaveStore, FailureAtAnyCallLeavesOldSavesAndNothingElse) {
  for (const char* call : {"claim", "list", "create", "write", "sync", "close", "rename", "sync_folder"}) {
    MemoryDisk disk;
    SaveStore store(disk, "saves", 1);
    ASSERT_FALSE(store.open());
    ASSERT_TRUE(store.save(image(1)));
    disk.before = [&](const std::string& at) {
      return at == call ? std::make_error_code(std::errc::io_error) : std::error_code();
    };
    for (int i = 0; i < 3; ++i) {
      const auto failed = store.save(image(2));
      ASSERT_FALSE(failed) << call;
      EXPECT_THAT(failed.error(), HasSubstr("the disk fails")) << call;
      EXPECT_THAT(failed.error(), HasSubstr("saves")) << call;
    }
    disk.before = nullptr;
    EXPECT_EQ(*disk.read("world-00000001.image"), image(1)) << call;
    for (const std::string& name : disk.sorted_names())
      EXPECT_EQ(name.find(".part"), std::string::npos) << call << ": " << name;
    const auto saved = store.save(image(3));
    ASSERT_TRUE(saved) << call;
    EXPECT_THAT(disk.sorted_names(), ElementsAre(saved->name)) << call;
    EXPECT_EQ(*disk.read(saved->name), image(3)) << call;
  }
}

TEST(SaveStore, WhatCouldNotBeRemovedIsSaidAndRemovedLater) {
  MemoryDisk disk;
  SaveStore store(disk, "saves", 1);
  ASSERT_FALSE(store.open());
  ASSERT_TRUE(store.save(image(1)));
  disk.before = [](const std::string& at) {
    return at == "remove" ? std::make_error_code(std::errc::permission_denied) : std::error_code();
  };
  EXPECT_THAT(store.save(image(2))->complaint, HasSubstr("world-00000001.image"));
  disk.before = [](const std::string& at) {
    return at == "remove" || at == "write" ? std::make_error_code(std::errc::no_space_on_device)
                                           : std::error_code();
  };
  ASSERT_FALSE(store.save(image(3)));  // leaves its unfinished file, too
  disk.before = nullptr;
  ASSERT_TRUE(store.save(image(4)));
  EXPECT_THAT(disk.sorted_names(), ElementsAre("world-00000004.image"));
}

TEST(SaveStore, EachErrorNamesItsRemedy) {
  const auto text = [](std::errc error) {
    return describe_disk_error(std::make_error_code(error), "/var/saves");
  };
  EXPECT_THAT(text(std::errc::no_space_on_device), HasSubstr("make room"));
  EXPECT_THAT(text(std::errc::read_only_file_system), HasSubstr("mount"));
  EXPECT_THAT(text(std::errc::permission_denied), HasSubstr("right to write"));
  EXPECT_THAT(text(std::errc::no_such_file_or_directory), HasSubstr("make it, or mount it again"));
  EXPECT_THAT(text(std::errc::file_too_large), HasSubstr("ulimit"));
  EXPECT_THAT(text(std::errc::resource_unavailable_try_again), HasSubstr("/var/saves/lock"));
}

// The power goes off before any call, and of what was not synced anything may be left: the newest save that was told is
// there, every file with the name of a save is whole, and saving goes on.
TEST(SaveStore, LossOfPowerAtAnyCallLosesNoSaveThatWasTold) {
  int losses = 0;
  for (int last_call = 0;; ++last_call) {
    MemoryDisk disk;
    int calls = 0;
    disk.before = [&](const std::string&) {
      return calls++ < last_call ? std::error_code() : std::make_error_code(std::errc::owner_dead);
    };
    SaveStore store(disk, "saves", 2);
    std::uint8_t told = 0;
    if (!store.open()) {
      for (std::uint8_t number = 1; number <= 4; ++number) {
        if (!store.save(image(number))) break;
        told = number;
      }
    }
    for (std::size_t kept = 0; kept <= disk.pending(); ++kept) {
      for (const auto unsynced : {test::Unsynced::Gone, test::Unsynced::Half, test::Unsynced::There}) {
        ++losses;
        const auto left = disk.after_power_loss(kept, unsynced);
        SaveStore again(*left, "saves", 2);
        ASSERT_FALSE(again.open());
        const auto saves = again.list()->saves;
        std::uint8_t newest = 0;
        for (const std::string& name : saves) {
          const auto bytes = again.read(name);
          ASSERT_EQ(bytes->size(), 10u)
              << name << " after call " << last_call << ", " << kept << " names kept";
          newest = std::max(newest, std::to_integer<std::uint8_t>(bytes->front()));
        }
        ASSERT_GE(newest, told) << "after call " << last_call << ", " << kept << " names kept";
        ASSERT_TRUE(again.save(image(9)));
        ASSERT_EQ(*again.read(again.list()->saves.front()), image(9));
      }
    }
    if (told == 4 && calls <= last_call) break;
  }
  EXPECT_GT(losses, 100);
}

}  // namespace
}  // namespace shoal
