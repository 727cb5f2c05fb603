// What a build replicates, as the handshake compares it: one entry per component. Two builds with different
// lists cannot understand each other's blocks, and the refusal says where they differ.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shoal {

struct SchemaEntry {
  std::uint32_t wire_id = 0;
  std::uint64_t hash = 0;
  std::string name;  // empty when it is not known: the peer's list was too long for names
};

using SchemaVersions = std::vector<SchemaEntry>;

/// Sorted by wire id, so that lists compare; duplicates stay.
void sort_schema(SchemaVersions& schema);
/// Of all ids and hashes. REQUIRES: sorted. Never 0.
std::uint64_t schema_hash(std::span<const SchemaEntry> schema);

/// "Health: server 0x12 client 0x34; only on the server: Mana; only on the client: Stamina", at most
/// `max_bytes` long ("and 7 more" at the end). Empty when nothing differs. REQUIRES: both sorted.
std::string describe_schema_difference(std::span<const SchemaEntry> server,
                                       std::span<const SchemaEntry> client, bool client_list_is_cut,
                                       std::size_t max_bytes);

/// The same text with names in place of the ids that the server had no name for: the client knows its own.
std::string with_own_names(std::string difference, std::span<const SchemaEntry> client);

}  // namespace shoal
