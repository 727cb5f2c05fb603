// Two ends of a session's channels and a path between them that loses, delays, reorders and doubles packets, and the
// acknowledgements that go back. It stands for Connection: each sequence ends once, acknowledged or lost, and what
// was called lost may arrive all the same.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "shared/base/limits.hpp"
#include "shared/base/random.hpp"
#include "shared/base/time.hpp"
#include "shared/net/connection.hpp"
#include "shared/net/message_channels.hpp"

namespace shoal {

inline constexpr std::size_t kTestRoom = 1000;

inline std::vector<std::byte> test_bytes(std::uint64_t seed, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 8 == 0) word = mix64(seed * 0x10001 + i);
    bytes[i] = static_cast<std::byte>(word >> (8 * (i % 8)));
  }
  return bytes;
}

/// A Messages table of its own, as the reader of a packet sees it.
class MessagesTable {
 public:
  MessagesTable() = default;
  explicit MessagesTable(std::span<const std::byte> bytes) : bytes_(bytes.begin(), bytes.end()) {}
  MessagesTable(const std::vector<protocol::FragmentEntry>& ordered,
                const std::vector<protocol::FragmentEntry>& unordered, const std::vector<std::byte>& bodies) {
    flatbuffers::FlatBufferBuilder builder;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(bodies.data());
    const auto bodies_at = builder.CreateVector(bytes, bodies.size());
    const auto ordered_at = builder.CreateVectorOfStructs(ordered);
    const auto unordered_at = builder.CreateVectorOfStructs(unordered);
    builder.Finish(protocol::CreateMessages(builder, ordered_at, unordered_at, bodies_at));
    take(builder);
  }
  /// What `channels` would send now; false when it is nothing.
  bool build(MessageChannels& channels, Sequence sequence, std::size_t room = kTestRoom) {
    flatbuffers::FlatBufferBuilder builder;
    const auto table = channels.build(builder, room, sequence);
    if (table.IsNull()) return false;
    EXPECT_LE(builder.GetSize(), room);
    builder.Finish(table);
    take(builder);
    return true;
  }
  const protocol::Messages& get() const {
    const auto* table = verified<protocol::Messages>(bytes_);
    SHOAL_ASSERT(table != nullptr, "the table verifies");
    return *table;
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  void take(const flatbuffers::FlatBufferBuilder& builder) {
    const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
    bytes_.assign(bytes.begin(), bytes.end());
  }
  std::vector<std::byte> bytes_;
};

struct MessageLinkFaults {
  double loss = 0;
  double duplicates = 0;
  Duration latency = milliseconds{20};
  Duration jitter = milliseconds{0};
};

/// One direction: from `sender` to `receiver`, acknowledgements back.
class MessageLink {
 public:
  MessageLink(MessageChannels& sender, MessageChannels& receiver, std::uint64_t seed)
      : sender_(sender), receiver_(receiver), random_(seed) {}

  MessageLinkFaults faults;
  Duration loss_delay = milliseconds{200};
  std::uint64_t sent_bytes = 0;
  std::uint64_t sent_packets = 0;
  std::optional<MessagesError> error;

  /// Sends what may leave, up to `packets`, and brings what has arrived by `now`.
  void run(Time now, int packets = 64) {
    send(now, packets);
    while (!under_way_.empty() && under_way_.begin()->first <= now) {
      const Arrival arrival = std::move(under_way_.begin()->second);
      under_way_.erase(under_way_.begin());
      if (arrival.is_acknowledgement) {
        settle(arrival.sequence, true);
        continue;
      }
      if (!error) error = receiver_.take(arrival.table.get());
      if (error) return;
      if (!random_.chance(faults.loss)) {
        under_way_.emplace(now + delay(), Arrival{arrival.sequence, true, {}});
      }
    }
    while (!open_.empty() && open_.front().second + loss_delay <= now) {
      const Sequence sequence = open_.front().first;
      open_.pop_front();
      settle_now(sequence, false);
    }
  }
  bool is_quiet() const { return open_.empty() && under_way_.empty(); }

 private:
  struct Arrival {
    Sequence sequence;
    bool is_acknowledgement = false;
    MessagesTable table;
  };

  void send(Time now, int packets) {
    for (; packets > 0 && sender_.has_something_to_send() && open_.size() < 1000; --packets) {
      MessagesTable table;
      if (!table.build(sender_, Sequence{next_}, 600 + random_.below(500))) return;
      sent_bytes += table.size();
      ++sent_packets;
      open_.emplace_back(Sequence{next_}, now);
      for (int copies = random_.chance(faults.duplicates) ? 2 : 1; copies > 0; --copies) {
        if (!random_.chance(faults.loss))
          under_way_.emplace(now + delay(), Arrival{Sequence{next_}, false, table});
      }
      ++next_;
    }
  }
  Duration delay() {
    return faults.latency +
           Duration(static_cast<std::int64_t>(random_.uniform() * static_cast<float>(faults.jitter.count())));
  }
  void settle(Sequence sequence, bool acknowledged) {
    const auto at =
        std::find_if(open_.begin(), open_.end(), [&](const auto& o) { return o.first == sequence; });
    if (at == open_.end()) return;  // it was called lost before, or is acknowledged again
    open_.erase(at);
    settle_now(sequence, acknowledged);
  }
  void settle_now(Sequence sequence, bool acknowledged) {
    EXPECT_TRUE(sender_.settle(sequence, acknowledged));
  }

  MessageChannels& sender_;
  MessageChannels& receiver_;
  Random random_;
  std::uint64_t next_ = 1;
  std::deque<std::pair<Sequence, Time>> open_;
  std::multimap<Time, Arrival> under_way_;
};

}  // namespace shoal
