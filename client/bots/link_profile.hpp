// Links of everyday life by name; docs/scenarios.md says where the figures come from.
#pragma once

#include <array>
#include <string_view>

#include "shared/net/link_model.hpp"

namespace shoal {

enum class LinkProfile : std::uint8_t { None, Lan, Wifi, Mobile4g, BadHotel };

struct NamedLink {
  std::string_view word;
  LinkProfile profile;
  LinkFaults faults;  // each way
};

inline constexpr std::array<NamedLink, 5> kLinkProfiles{{
    {"none", LinkProfile::None, {}},
    {"lan",
     LinkProfile::Lan,
     {.latency = std::chrono::microseconds(300), .jitter = std::chrono::microseconds(100)}},
    {"wifi",
     LinkProfile::Wifi,
     {.loss_percent = 0.5,
      .duplicate_percent = 0.05,
      .reorder_percent = 0.5,
      .latency = milliseconds(8),
      .jitter = milliseconds(5)}},
    {"4g",
     LinkProfile::Mobile4g,
     {.loss_percent = 1, .reorder_percent = 1, .latency = milliseconds(30), .jitter = milliseconds(12)}},
    {"bad-hotel",
     LinkProfile::BadHotel,
     {.loss_percent = 6,
      .duplicate_percent = 1,
      .reorder_percent = 3,
      .corrupt_percent = 0.2,
      .latency = milliseconds(70),
      .jitter = milliseconds(50)}},
}};

}  // namespace shoal
