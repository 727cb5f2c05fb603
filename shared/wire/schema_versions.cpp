#include "shared/wire/schema_versions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/random.hpp"

namespace shoal {

namespace {

std::string nameless(std::uint32_t wire_id) {
  return fmt::format("component 0x{:08x}", wire_id);
}

}  // namespace

void sort_schema(SchemaVersions& schema) {
  std::sort(schema.begin(), schema.end(),
            [](const SchemaEntry& a, const SchemaEntry& b) { return a.wire_id < b.wire_id; });
}

std::uint64_t schema_hash(std::span<const SchemaEntry> schema) {
  std::uint64_t hash = mix64(schema.size());
  for (const SchemaEntry& entry : schema) hash = mix64(mix64(hash ^ entry.wire_id) ^ entry.hash);
  return hash == 0 ? 1 : hash;
}

std::string describe_schema_difference(std::span<const SchemaEntry> server,
                                       std::span<const SchemaEntry> client, bool client_list_is_cut,
                                       std::size_t max_bytes) {
  const auto name = [](const SchemaEntry& entry) {
    return entry.name.empty() ? nameless(entry.wire_id) : entry.name;
  };
  std::vector<std::string> parts;
  std::size_t s = 0;
  std::size_t c = 0;
  while (s < server.size() || c < client.size()) {
    if (c == client.size() || (s < server.size() && server[s].wire_id < client[c].wire_id)) {
      // Of a cut list the end is missing: what lies beyond it may well be on the client.
      if (c < client.size() || !client_list_is_cut) parts.push_back("only on the server: " + name(server[s]));
      ++s;
    } else if (s == server.size() || client[c].wire_id < server[s].wire_id) {
      parts.push_back("only on the client: " + name(client[c]));
      ++c;
    } else {
      if (server[s].hash != client[c].hash) {
        parts.push_back(fmt::format("{}: server 0x{:016x} client 0x{:016x}", name(server[s]), server[s].hash,
                                    client[c].hash));
      }
      ++s;
      ++c;
    }
  }
  constexpr std::size_t kRoomForRest = 32;
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (text.size() + parts[i].size() + 2 + kRoomForRest > max_bytes) {
      return text + fmt::format("{}and {} more", text.empty() ? "" : "; ", parts.size() - i);
    }
    if (i > 0) text += "; ";
    text += parts[i];
  }
  if (client_list_is_cut) text += text.empty() ? "the client's list was cut" : "; list cut";
  return text;
}

std::string with_own_names(std::string difference, std::span<const SchemaEntry> client) {
  for (const SchemaEntry& entry : client) {
    const std::string id = nameless(entry.wire_id);
    const std::size_t at = difference.find(id);
    if (at != std::string::npos && !entry.name.empty()) difference.replace(at, id.size(), entry.name);
  }
  return difference;
}

}  // namespace shoal
