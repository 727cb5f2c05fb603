// Message channels and the router above them. Of a liar: any Messages table, after some honest traffic, and any bytes
// as a message. Of an honest pair: any order of queueing, sending, losing, doubling and fetching, after which everything
// must have come once, the ordered ones in order.
//
// An input: a mode (Mode), then operations until it ends.
#include <deque>
#include <set>

#include "shared/base/random.hpp"
#include "shared/net/connection.hpp"
#include "shared/net/message_channels.hpp"
#include "shared/net/message_router.hpp"
#include "tests/fuzz/fuzz_input.hpp"

template <>
struct shoal::MessageName<shoal::protocol::Frame> {
  static constexpr std::string_view value = "fuzz.Frame";
};
template <>
struct shoal::MessageName<shoal::protocol::ClientUpdate> {
  static constexpr std::string_view value = "fuzz.Update";
};

namespace shoal::fuzz {
namespace {

enum class Mode : std::uint8_t { Pair, Entries, Table, Router };
constexpr std::uint32_t kModes = 4;
enum class Operation : std::uint8_t {
  Queue,    // flags (bit 0: unordered, bit 1: from b), size u16
  Send,     // flags (bit 0: from b), room u16
  Deliver,  // which
  Settle,   // which, flags (bit 0: acknowledged, if it was delivered)
  Fetch,    // flags (bit 0: at b)
};
constexpr std::uint32_t kOperations = 5;
constexpr int kMaxOperations = 2000;
constexpr MessageLimits kLimits{{3000, 6000}, {1000, 2000}};
constexpr std::size_t kMaxHeld = 8000 + (48u << 10);
constexpr std::array kChannels{MessageChannel::Ordered, MessageChannel::Unordered};

using Bytes = std::vector<std::byte>;

std::optional<Bytes> next_payload(MessageChannels& channels, std::size_t room, Sequence sequence) {
  flatbuffers::FlatBufferBuilder builder;
  const auto table = channels.build(builder, room, sequence);
  if (table.IsNull()) return std::nullopt;
  SHOAL_ASSERT(builder.GetSize() <= room, "a payload takes no more than its room");
  builder.Finish(table);
  const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return Bytes(bytes.begin(), bytes.end());
}

/// One end of the honest pair, with what it sent and what became of it.
struct End {
  struct Packet {
    Sequence sequence;
    Bytes bytes;
    bool is_delivered = false;
  };
  explicit End(std::uint32_t first) : channels(kLimits, kLimits, {}, first) {}

  void queue(MessageChannel channel, std::size_t size) {
    Bytes message(size);
    for (std::size_t i = 0; i < size; ++i)
      message[i] = static_cast<std::byte>(mix64(queued * 7919 + i / 8) >> (i % 8 * 8));
    ++queued;
    const auto number = channels.queue(channel, message);
    if (!number) return;
    SHOAL_ASSERT(size <= kLimits.of(channel).max_message_bytes, "what never fits is refused");
    sent[static_cast<std::size_t>(channel)].push_back(std::move(message));
  }
  bool send(std::size_t room) {
    if (open.size() >= 1000) return false;
    const Sequence sequence{next++};
    auto bytes = next_payload(channels, room, sequence);
    if (!bytes) return false;
    open.push_back({sequence, std::move(*bytes)});
    return true;
  }
  /// Takes what the other end's channels hand out; each must be one that this end sent and that did not come yet.
  void check(const ReceivedMessage& message) {
    auto& waiting = sent[static_cast<std::size_t>(message.channel)];
    const auto is_this = [&](const Bytes& bytes) { return std::ranges::equal(bytes, message.span()); };
    const auto at = message.channel == MessageChannel::Ordered
                        ? waiting.begin()
                        : std::find_if(waiting.begin(), waiting.end(), is_this);
    SHOAL_ASSERT(at != waiting.end() && is_this(*at), "a message comes once, whole and in order");
    waiting.erase(at);
  }

  MessageChannels channels;
  std::uint64_t next = 1;
  std::uint64_t queued = 0;
  std::vector<Packet> open;
  std::array<std::deque<Bytes>, kMessageChannels> sent;
};

class MessagesFuzz {
 public:
  explicit MessagesFuzz(FuzzInput& input) : input_(input) {}

  void run() {
    switch (static_cast<Mode>(input_.below(kModes))) {
      case Mode::Pair:
        return run_pair();
      case Mode::Entries:
        return run_entries();
      case Mode::Table:
        return run_table();
      case Mode::Router:
        return run_router();
    }
  }

 private:
  // ------------------------------------------------------------------------------------------- honest

  void run_pair() {
    const std::uint32_t first = input_.flag() ? 0xFFFFFFF0u : 0;
    End a(first);
    End b(first);
    for (int i = 0; i < kMaxOperations && !input_.empty(); ++i) {
      const auto operation = static_cast<Operation>(input_.below(kOperations));
      const unsigned flags = input_.byte();
      End& end = (flags & 2) != 0 ? b : a;
      End& other = (flags & 2) != 0 ? a : b;
      switch (operation) {
        case Operation::Queue:
          end.queue(kChannels[flags & 1], input_.u16() % 4000);
          break;
        case Operation::Send:
          (void)end.send(200 + input_.u16() % 1000);
          break;
        case Operation::Deliver:
          if (!end.open.empty()) deliver(end.open[input_.byte() % end.open.size()], other);
          break;
        case Operation::Settle:
          if (!end.open.empty()) settle(end, input_.byte() % end.open.size(), (flags & 1) != 0);
          break;
        case Operation::Fetch:
          if (const auto message = other.channels.next()) end.check(*message);
          break;
      }
      require_bounded(a.channels);
      require_bounded(b.channels);
    }
    finish(a, b);
  }

  static void deliver(End::Packet& packet, End& to) {
    const auto* table = verified<protocol::Messages>(packet.bytes);
    SHOAL_ASSERT(table != nullptr, "what is built verifies");
    SHOAL_ASSERT(!to.channels.take(*table), "an honest end never breaks a rule");
    packet.is_delivered = true;
  }
  static void settle(End& end, std::size_t which, bool acknowledged) {
    const End::Packet& packet = end.open[which];
    SHOAL_ASSERT(end.channels.settle(packet.sequence, acknowledged && packet.is_delivered),
                 "it is one of its packets");
    end.open.erase(end.open.begin() + static_cast<std::ptrdiff_t>(which));
  }
  /// Without losses everything comes.
  static void finish(End& a, End& b) {
    const auto is_over = [](const End& end) { return end.channels.sender().is_empty() && end.open.empty(); };
    // At least one round: what came and is acknowledged may still lie there to be fetched.
    for (int round = 0; round == 0 || (round < 5000 && !(is_over(a) && is_over(b))); ++round) {
      for (auto [from, to] : {std::pair(&a, &b), std::pair(&b, &a)}) {
        (void)from->send(1000);
        while (!from->open.empty()) {
          deliver(from->open.front(), *to);
          settle(*from, 0, true);
        }
        while (const auto message = to->channels.next()) from->check(*message);
      }
    }
    for (const End* end : {&a, &b}) {
      SHOAL_ASSERT(is_over(*end), "it comes to an end");
      SHOAL_ASSERT(end->sent[0].empty() && end->sent[1].empty(), "everything came");
    }
  }

  // -------------------------------------------------------------------------------------------- liars

  static void require_bounded(const MessageChannels& channels) {
    SHOAL_ASSERT(channels.receiver().memory_bytes() <= kMaxHeld, "what is held is bounded");
    for (const MessageChannel name : kChannels) {
      SHOAL_ASSERT(channels.receiver().held_bytes(name) <= kLimits.of(name).window_bytes, "the window holds");
    }
  }

  /// Something to lie about: messages under way.
  void make_state(MessageChannels& channels) {
    for (std::uint32_t count = input_.below(8); count > 0; --count) {
      (void)channels.queue(kChannels[input_.below(2)], Bytes(input_.byte() * 4u));
    }
    (void)next_payload(channels, 1000, Sequence{1});
  }

  void run_entries() {
    MessageChannels channels(kLimits, kLimits);
    make_state(channels);
    for (int i = 0; i < kMaxOperations && !input_.empty(); ++i) {
      std::array<std::vector<protocol::FragmentEntry>, 2> lists;
      std::size_t bytes = 0;
      for (auto& list : lists) {
        for (std::uint32_t count = input_.below(6); count > 0; --count) {
          const unsigned shape = input_.byte();
          // Mostly near what is allowed, so that many are taken.
          const std::uint32_t message = (shape & 1) != 0 ? input_.byte() : input_.u32();
          const std::uint32_t total = (shape & 2) != 0 ? input_.byte() * 16u : input_.u32();
          const auto first = static_cast<std::uint16_t>((shape & 4) != 0 ? input_.below(8) : input_.u16());
          const auto units =
              static_cast<std::uint16_t>((shape & 8) != 0 ? 1 + input_.below(8) : input_.u16());
          list.push_back({message, total, first, units});
          if (first + units <= message_units(total)) bytes += fragment_bytes(total, first, units);
        }
      }
      const unsigned extra = input_.byte();
      if (extra > 250) bytes += extra - 250;
      const std::vector<std::uint8_t> bodies(std::min<std::size_t>(bytes, 8192),
                                             static_cast<std::uint8_t>(extra & 1));
      flatbuffers::FlatBufferBuilder builder;
      const auto bodies_at = builder.CreateVector(bodies);
      const auto ordered = builder.CreateVectorOfStructs(lists[0]);
      const auto unordered = builder.CreateVectorOfStructs(lists[1]);
      const auto limit = [&]() -> flatbuffers::Optional<std::uint32_t> {
        return input_.flag() ? flatbuffers::Optional<std::uint32_t>(input_.u32()) : flatbuffers::nullopt;
      };
      const auto ordered_limit = limit();
      const auto unordered_limit = limit();
      builder.Finish(
          protocol::CreateMessages(builder, ordered, unordered, bodies_at, ordered_limit, unordered_limit));
      if (!take(channels, std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())))) return;
    }
  }

  void run_table() {
    MessageChannels channels(kLimits, kLimits);
    make_state(channels);
    for (int i = 0; i < kMaxOperations && !input_.empty(); ++i) {
      if (!take(channels, input_.bytes(input_.u16()))) return;
    }
  }

  bool take(MessageChannels& channels, std::span<const std::byte> bytes) {
    const Bytes copy(bytes.begin(), bytes.end());  // aligned
    const auto* table = verified<protocol::Messages>(copy);
    if (table == nullptr) return true;
    const auto error = channels.take(*table);
    require_bounded(channels);
    if (error) {
      SHOAL_ASSERT(!to_string(*error).empty(), "an error has words");
      return false;  // the session ends
    }
    while (const auto message = channels.next()) {
      SHOAL_ASSERT(message->size <= kLimits.of(message->channel).max_message_bytes, "no larger than allowed");
    }
    (void)channels.has_something_to_send();
    return true;
  }

  void run_router() {
    int called_back = 0;
    int accepted = 0;
    MessageRouter router([](SessionId, MessageChannel,
                            std::span<const std::byte>) -> Result<std::uint32_t, QueueError> { return 0u; },
                         input_.flag());
    const auto look = [](const protocol::Frame& frame) {
      for (std::size_t i = 0; frame.blocks() != nullptr && i < frame.blocks()->size(); ++i)
        (void)frame.blocks()->Get(static_cast<flatbuffers::uoffset_t>(i))->chunk();
    };
    router.on<protocol::Frame>([&](const MessageSource&, const protocol::Frame& frame) { look(frame); });
    router.on_event<protocol::Frame>(
        [&](const MessageSource&, const EventInfo&, const protocol::Frame& frame) { look(frame); });
    router.on_request<protocol::Frame, protocol::ClientUpdate>(
        [&](const MessageSource&, const protocol::Frame& frame, MessageRouter::Builder& builder) {
          look(frame);
          return protocol::CreateClientUpdate(builder);
        });
    const auto ask = [&](MessageRouter::Builder& builder) { return protocol::CreateFrame(builder); };
    Time now{};
    for (int i = 0; i < 200 && !input_.empty(); ++i) {
      const unsigned flags = input_.byte();
      if ((flags & 1) != 0) {
        const auto number = router.request<protocol::Frame, protocol::ClientUpdate>(
            {}, MessageChannel::Ordered, ask, now, milliseconds{100},
            [&](Result<const protocol::ClientUpdate*, RequestError>) { ++called_back; });
        accepted += number ? 1 : 0;
      }
      now = now + milliseconds{flags};
      const auto bytes = input_.bytes(input_.byte());
      ReceivedMessage message{MessageChannel::Ordered, std::make_unique<std::byte[]>(bytes.size() + 1),
                              static_cast<std::uint32_t>(bytes.size())};
      std::copy(bytes.begin(), bytes.end(), message.bytes.get());
      if (!router.take({}, std::move(message), now)) break;
      router.release_events(now, [flags](std::uint64_t entity, Tick) { return (entity & flags & 2) != 0; });
      router.tick(now);
      SHOAL_ASSERT(router.events().bytes() <= EventGate::kMaxBytes, "events that wait are bounded");
    }
    router.end_session({});
    SHOAL_ASSERT(called_back == accepted, "each request is answered once");
  }

  FuzzInput& input_;
};

unsigned number(Operation operation) {
  return static_cast<unsigned>(operation);
}
unsigned number(Mode mode) {
  return static_cast<unsigned>(mode);
}

/// A message about a Frame, as a peer would send it.
Bytes frame_message(const MessageHeader& header) {
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<protocol::BlockEntry> blocks(2);
  const auto blocks_at = builder.CreateVectorOfStructs(blocks);
  protocol::FrameBuilder frame(builder);
  frame.add_tick(5);
  frame.add_blocks(blocks_at);
  builder.Finish(frame.Finish());
  Bytes message;
  write_message_header(header, message);
  const auto table = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  message.insert(message.end(), table.begin(), table.end());
  return message;
}

}  // namespace

std::vector<Seed> seeds() {
  std::vector<Seed> result;
  const auto add = [&](std::string name, const SeedWriter& writer) {
    result.push_back({std::move(name), writer.written()});
  };
  SeedWriter pair;
  pair.byte(number(Mode::Pair)).byte(1);
  for (unsigned i = 0; i < 12; ++i) {
    pair.byte(number(Operation::Queue)).byte(i % 4).u16(100 + i * 317);
    pair.byte(number(Operation::Send)).byte(i % 3).u16(i * 100);
    pair.byte(number(Operation::Send)).byte(2 - i % 3).u16(900);
    pair.byte(number(Operation::Deliver)).byte(0).byte(i);
    pair.byte(number(Operation::Deliver)).byte(2).byte(i / 2);
    pair.byte(number(Operation::Settle)).byte(i % 4).byte(i);
    if (i % 2 == 0) pair.byte(number(Operation::Fetch)).byte(i % 4);
  }
  add("pair", pair);

  SeedWriter entries;
  entries.byte(number(Mode::Entries)).byte(2).byte(0).byte(30).byte(1).byte(10);
  for (unsigned i = 0; i < 6; ++i) {
    entries.byte(2).byte(15).byte(i).byte(8).byte(0).byte(1).byte(15).byte(i + 1).byte(8).byte(1).byte(0);
    entries.byte(1).byte(15).byte(i).byte(20).byte(i % 5).byte(0);
    entries.byte(0).byte(0).byte(0);
  }
  add("entries", entries);

  flatbuffers::FlatBufferBuilder builder;
  const std::vector<protocol::FragmentEntry> list = {{0, 100, 0, 2}, {1, 0, 0, 1}};
  const auto bodies = builder.CreateVector(std::vector<std::uint8_t>(100, 1));
  const auto ordered = builder.CreateVectorOfStructs(list);
  builder.Finish(protocol::CreateMessages(builder, ordered, 0, bodies, 6000));
  const auto table = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  add("table", SeedWriter()
                   .byte(number(Mode::Table))
                   .byte(1)
                   .byte(0)
                   .byte(20)
                   .u16(static_cast<unsigned>(table.size()))
                   .bytes(table));

  for (const unsigned holds : {0u, 1u}) {
    SeedWriter router;
    router.byte(number(Mode::Router)).byte(holds);
    const std::uint32_t type = message_type<protocol::Frame>();
    for (const MessageHeader& header :
         {MessageHeader{type}, MessageHeader{type, MessageKind::Event, 0, 7, Tick{3}},
          MessageHeader{type, MessageKind::Request, 1}, MessageHeader{type, MessageKind::Answer, 1},
          MessageHeader{1, MessageKind::Request, 2}}) {
      const Bytes message = frame_message(header);
      router.byte(3).byte(static_cast<unsigned>(message.size())).bytes(message);
    }
    add(holds == 0 ? "router" : "router_with_events", router);
  }
  return result;
}

}  // namespace shoal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return shoal::fuzz::run_bounded<shoal::fuzz::MessagesFuzz>(bytes, size);
}
