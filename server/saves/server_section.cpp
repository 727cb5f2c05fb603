#include "server/saves/server_section.hpp"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>

#include "schema/saves_generated.h"
#include "shared/wire/aligned_elements.hpp"

namespace shoal {

ImageSection encode_server_section(const ServerSection& section) {
  flatbuffers::FlatBufferBuilder builder;
  const auto program = builder.CreateString(section.program);
  const auto players = builder.CreateVectorOfStructs<saves::Player>(
      section.players.size(), [&](std::size_t i, saves::Player* target) {
        const SavedPlayer& player = section.players[i];
        *target = saves::Player(player.entity.bits(), player.number.value, player.id.bytes);
      });
  saves::FinishServerBuffer(
      builder, saves::CreateServer(builder, program, section.tick.value, section.newest_player, players));
  const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return {std::string(kServerSection), {bytes.begin(), bytes.end()}};
}

std::optional<ServerSection> decode_server_section(std::span<const ImageSection> sections) {
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [](const ImageSection& section) { return section.name == kServerSection; });
  // An identifier lies behind the first offset.
  if (found == sections.end() || found->bytes.size() < 12) return std::nullopt;
  // On the heap, hence aligned.
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(found->bytes.data());
  flatbuffers::Verifier verifier(bytes, found->bytes.size());
  if (!saves::VerifyServerBuffer(verifier)) return std::nullopt;
  const saves::Server& server = *saves::GetServer(bytes);
  ServerSection section;
  section.program = server.program()->str();
  section.tick = Tick{server.tick()};
  section.newest_player = server.newest_player();
  if (server.players() == nullptr) return section;
  if (!has_aligned_elements<saves::Player>(server.players())) return std::nullopt;
  for (const saves::Player* player : *server.players()) {
    SavedPlayer& saved = section.players.emplace_back();
    std::copy_n(player->id()->data(), saved.id.bytes.size(), saved.id.bytes.begin());
    saved.number = {player->number()};
    saved.entity = Entity::from_bits(player->entity());
  }
  return section;
}

}  // namespace shoal
