#include "shared/config/process.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace shoal {
namespace {

TEST(ReloadSignal, IsTakenOnce) {
  catch_reload_signal();
  EXPECT_FALSE(take_reload_request());
  ASSERT_EQ(std::raise(SIGHUP), 0);
  ASSERT_EQ(std::raise(SIGHUP), 0);
  EXPECT_TRUE(take_reload_request());
  EXPECT_FALSE(take_reload_request());
  ASSERT_EQ(std::raise(SIGHUP), 0);
  EXPECT_TRUE(take_reload_request()) << "it stays caught";
}

}  // namespace
}  // namespace shoal
