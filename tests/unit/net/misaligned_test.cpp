// What FlatBuffers' verifier lets through.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "shared/net/handshake.hpp"

namespace shoal {
namespace {

/// A Response with so many components, which are written as words, and so stand wherever `pad` moves them.
std::vector<std::byte> response_with(std::size_t count, std::size_t pad) {
  flatbuffers::FlatBufferBuilder builder;
  builder.StartVector(count * 4, 4);
  for (std::uint32_t word = 0; word < count * 4; ++word) builder.PushElement(word);
  const flatbuffers::Offset<flatbuffers::Vector<const protocol::ComponentVersion*>> components(
      builder.EndVector(count));
  const auto credentials = builder.CreateVector(std::vector<std::uint8_t>(pad));
  const protocol::Key key;
  const protocol::Signature signature;
  protocol::ResponseBuilder response(builder);
  response.add_components(components);
  response.add_credentials(credentials);
  response.add_player_key(&key);
  response.add_player_signature(&signature);
  builder.Finish(response.Finish());
  const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return {bytes.begin(), bytes.end()};
}

// T15: undefined behaviour that a stranger could cause. Found by fuzzing.
TEST(Misaligned, ResponseWhoseComponentsStandWhereNoneMayIsMalformed) {
  int read = 0;
  for (const std::size_t pad : {0u, 4u}) {
    const std::vector<std::byte> body = response_with(1, pad);
    const auto* response = flatbuffers::GetRoot<protocol::Response>(body.data());
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(response->components()->Data()) % 8 == 0;
    EXPECT_EQ(read_response(body).has_value(), is_aligned);
    EXPECT_EQ(read_response_components(body).size(), is_aligned ? 1u : 0u);
    read += is_aligned;
  }
  EXPECT_EQ(read, 1) << "one of each kind";
}

TEST(Misaligned, ListOfNothingMayStandAnywhere) {
  for (const std::size_t pad : {0u, 4u}) EXPECT_TRUE(read_response(response_with(0, pad)));
}

}  // namespace
}  // namespace shoal
