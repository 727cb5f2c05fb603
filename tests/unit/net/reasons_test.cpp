#include "shared/net/reasons.hpp"

#include <gtest/gtest.h>

#include "shared/net/transport_counters.hpp"

namespace shoal {
namespace {

TEST(Reasons, EachHasANameAndARemedy) {
  for (std::uint8_t i = 0; i < kRefuseReasons; ++i) {
    EXPECT_FALSE(to_string(static_cast<RefuseReason>(i)).empty());
    EXPECT_GT(explain(static_cast<RefuseReason>(i)).size(), 20u);
  }
  for (std::uint8_t i = 0; i < kCloseReasons; ++i) {
    EXPECT_FALSE(to_string(static_cast<CloseReason>(i)).empty());
    EXPECT_FALSE(explain(static_cast<CloseReason>(i)).empty());
  }
  for (std::uint8_t i = 0; i < kBadDatagrams; ++i) {
    EXPECT_NE(to_string(static_cast<BadDatagram>(i)), "unknown");
    EXPECT_FALSE(to_string(static_cast<BadDatagram>(i)).empty());
  }
}

// T15
TEST(Reasons, ValuesFromTheWireAreChecked) {
  EXPECT_EQ(refuse_reason_from_wire(2), RefuseReason::SchemaMismatch);
  EXPECT_EQ(refuse_reason_from_wire(200), RefuseReason::Unspecified);
  EXPECT_EQ(close_reason_from_wire(4), CloseReason::Kicked);
  EXPECT_EQ(close_reason_from_wire(200), CloseReason::Unspecified);
  EXPECT_EQ(close_reason_from_wire(static_cast<std::uint8_t>(CloseReason::Refused)), CloseReason::Unspecified)
      << "reasons that are only known locally do not come over the wire";
  for (std::uint8_t value = 0; value < 255; ++value) {
    const CloseReason said = close_reason_from_wire(value);
    const bool is_clients = said == CloseReason::ClientLeft || said == CloseReason::TimedOut ||
                            said == CloseReason::ProtocolError || said == CloseReason::KeyUsedUp;
    EXPECT_EQ(close_reason_from_client(value), is_clients ? said : CloseReason::Unspecified);
  }
}

}  // namespace
}  // namespace shoal
