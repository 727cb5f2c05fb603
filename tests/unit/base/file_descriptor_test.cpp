#include "shared/base/file_descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace shoal {
namespace {

bool is_open_in_the_kernel(int descriptor) {
  return ::fcntl(descriptor, F_GETFD) != -1;
}
FileDescriptor open_something() {
  return FileDescriptor(::open("/dev/null", O_WRONLY | O_CLOEXEC));
}

TEST(FileDescriptor, ClosesWithItsScope) {
  int number = -1;
  {
    const FileDescriptor file = open_something();
    ASSERT_TRUE(file.is_open());
    number = file.get();
    EXPECT_TRUE(is_open_in_the_kernel(number));
  }
  EXPECT_FALSE(is_open_in_the_kernel(number));
}

TEST(FileDescriptor, MovingClosesWhatWasThereAndNothingElse) {
  FileDescriptor file = open_something();
  FileDescriptor other = open_something();
  const int first = file.get();
  const int second = other.get();
  file = std::move(other);
  EXPECT_FALSE(is_open_in_the_kernel(first));
  EXPECT_TRUE(is_open_in_the_kernel(second));
  EXPECT_EQ(file.get(), second);
  FileDescriptor& itself = file;
  file = std::move(itself);
  EXPECT_TRUE(is_open_in_the_kernel(second));
}

TEST(FileDescriptor, WhatWasReleasedStaysOpen) {
  int number = -1;
  {
    FileDescriptor file = open_something();
    number = file.release();
    EXPECT_FALSE(file.is_open());
  }
  EXPECT_TRUE(is_open_in_the_kernel(number));
  EXPECT_EQ(::close(number), 0);
}

// Where a file may have ten bytes the system takes ten of twenty and says so; only the next call says why.
TEST(WriteAll, GoesOnWhereTheSystemTookAPart) {
  const FileDescriptor file(::memfd_create("shoal-test", MFD_CLOEXEC));
  ASSERT_TRUE(file.is_open());
  const std::array<std::byte, 20> bytes{};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit ten{10, before.rlim_max};
  const auto old_action = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &ten), 0);
  const std::error_code error = write_all(file, bytes);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, old_action);
  EXPECT_EQ(error.value(), EFBIG);
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_END), 10);
}

TEST(WriteAll, SaysWhatStoppedIt) {
  const FileDescriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.is_open());
  const std::array<std::byte, 1> bytes{};
  EXPECT_EQ(write_all(full, bytes).value(), ENOSPC);
  EXPECT_EQ(write_all(FileDescriptor(), bytes).value(), EBADF);
  EXPECT_FALSE(write_all(FileDescriptor(), {})) << "nothing is written nowhere";
}

}  // namespace
}  // namespace shoal
