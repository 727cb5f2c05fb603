// Messages as tables: a type's name is its number on the wire, a handler gets the verified table. One router serves
// one end: a server's all sessions, a client's its own.
//
// 1. A handler sees no table that the FlatBuffers verifier did not prove. What is inside is the handler's to check.
//    Tables lie at multiples of 8 bytes: `force_align` above that is not for messages.
// 2. A message of a type without a handler is counted, nothing else: the other side may be newer.
// 3. Each request that was accepted is answered once: by its table, or by the reason why none came. Never after
//    end_session, never for another session.
// 4. Requests of a session that wait are at most kMaxRequests.
// Threads: one. Handlers may send, request and close sessions; they must not register, nor call take() or tick().
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "shared/base/assert.hpp"
#include "shared/base/result.hpp"
#include "shared/base/time.hpp"
#include "shared/net/event_gate.hpp"
#include "shared/net/ids.hpp"
#include "shared/net/message_envelope.hpp"
#include "shared/net/message_receiver.hpp"
#include "shared/net/message_sender.hpp"

namespace shoal {

struct MessageSource {
  SessionId session;  // null on a client
  MessageChannel channel = MessageChannel::Ordered;
};

struct EventInfo {
  std::uint64_t entity = 0;
  Tick tick{};
  bool is_late = false;  // the state of that tick is not there
};

enum class RequestError : std::uint8_t {
  TimedOut,      // a late answer is dropped
  SessionEnded,  // whether it was done over there is not known
  NoHandler,     // the other side does not answer this type
};

/// The names behind the numbers: no two types may have the same number.
class MessageTypes {
 public:
  /// The same name again is no error. Else the reason in words.
  std::optional<std::string> add(std::string_view name);

 private:
  std::unordered_map<std::uint32_t, std::string> names_;
};

class MessageRouter {
 public:
  using Builder = flatbuffers::FlatBufferBuilder;
  /// Queues the bytes on a session's channel.
  using Sink =
      std::function<Result<std::uint32_t, QueueError>(SessionId, MessageChannel, std::span<const std::byte>)>;
  /// `holds_events`: they wait for release_events(), as a client wants it, whose session is null; else they are handed
  /// out at once.
  explicit MessageRouter(Sink sink, bool holds_events = false)
      : sink_(std::move(sink)), holds_events_(holds_events) {}
  static constexpr std::size_t kMaxRequests = 64;

  // -------------------------------------------------------------------------------------- registration
  // REQUIRES: one handler for each type and kind; no two names with the same hash.

  /// handler(const MessageSource&, const Table&)
  template <class Table, class F>
  void on(F handler) {
    add(MessageKind::Plain, message_type<Table>(), MessageName<Table>::value, &is_valid<Table>,
        [handler = std::move(handler)](const Call& call) mutable {
          handler(call.source, *root<Table>(call.table));
        });
  }
  /// handler(const MessageSource&, const EventInfo&, const Table&)
  template <class Table, class F>
  void on_event(F handler) {
    add(MessageKind::Event, message_type<Table>(), MessageName<Table>::value, &is_valid<Table>,
        [handler = std::move(handler)](const Call& call) mutable {
          handler(call.source, call.event, *root<Table>(call.table));
        });
  }
  /// handler(const MessageSource&, const Request&, Builder&) returns the Offset of an Answer in the builder.
  template <class Request, class Answer, class F>
  void on_request(F handler) {
    add(MessageKind::Request, message_type<Request>(), MessageName<Request>::value, &is_valid<Request>,
        [this, handler = std::move(handler)](const Call& call) mutable {
          answer_builder_.Clear();
          const flatbuffers::Offset<Answer> answer =
              handler(call.source, *root<Request>(call.table), answer_builder_);
          answer_builder_.Finish(answer);
          send_answer(call, message_type<Answer>());
        });
  }

  // -------------------------------------------------------------------------------------------- sending

  /// build(Builder&) returns the Offset of a Table.
  template <class Table, class F>
  Result<std::uint32_t, QueueError> send(SessionId session, MessageChannel channel, F build) {
    return sink_(session, channel, encode<Table>(MessageHeader{message_type<Table>()}, build));
  }
  template <class Table, class F>
  Result<std::uint32_t, QueueError> send_event(SessionId session, MessageChannel channel,
                                               std::uint64_t entity, Tick tick, F build) {
    return sink_(session, channel, encode_event<Table>(entity, tick, build));
  }
  /// For several sessions: the bytes of a message or an event, for the sink. Good until the next call that sends.
  template <class Table, class F>
  std::span<const std::byte> encode_plain(F build) {
    return encode<Table>(MessageHeader{message_type<Table>()}, build);
  }
  template <class Table, class F>
  std::span<const std::byte> encode_event(std::uint64_t entity, Tick tick, F build) {
    return encode<Table>(MessageHeader{message_type<Table>(), MessageKind::Event, 0, entity, tick}, build);
  }
  /// callback(Result<const Answer*, RequestError>) is called once, later, unless this returns an error. QueueFull
  /// also when kMaxRequests wait.
  template <class Request, class Answer, class F, class Callback>
  Result<std::uint32_t, QueueError> request(SessionId session, MessageChannel channel, F build, Time now,
                                            Duration time_out, Callback callback) {
    if (requests_of(session) >= kMaxRequests) return Failure{QueueError::QueueFull};
    const MessageHeader header{message_type<Request>(), MessageKind::Request, next_request()};
    auto queued = sink_(session, channel, encode<Request>(header, build));
    if (!queued) return queued;
    requests_[header.request] = {session, message_type<Answer>(), now + time_out, &is_valid<Answer>,
                                 [callback = std::move(callback)](std::optional<RequestError> error,
                                                                  std::span<const std::byte> table) mutable {
                                   using Outcome = Result<const Answer*, RequestError>;
                                   callback(error ? Outcome(Failure{*error}) : Outcome(root<Answer>(table)));
                                 }};
    return header.request;
  }

  // ------------------------------------------------------------------------------------------ receiving

  /// Takes a message that the channels handed out. False: no peer of ours sends that; end the session.
  [[nodiscard]] bool take(SessionId session, ReceivedMessage message, Time now);
  /// Hands out the events whose state is there; call after frames were taken, at least ten times a second.
  void release_events(Time now, const EventGate::IsThere& is_there);
  /// Ends requests that waited too long.
  void tick(Time now);
  /// Ends the session's requests, and drops the events that wait.
  void end_session(SessionId session);

  std::size_t waiting_requests() const { return requests_.size(); }
  const EventGate& events() const { return gate_; }
  /// Messages of types that nobody handles here.
  std::uint64_t unknown_count() const { return unknown_count_; }
  /// Answers to requests that had ended before.
  std::uint64_t late_answer_count() const { return late_answer_count_; }
  /// Answers that found no room in the queue; whoever asked is told by its time-out.
  std::uint64_t dropped_answer_count() const { return dropped_answer_count_; }

 private:
  struct Call {
    MessageSource source;
    EventInfo event;
    std::uint32_t request = 0;
    std::span<const std::byte> table;
  };
  using Verify = bool (*)(std::span<const std::byte>);
  struct Handler {
    Verify verify = nullptr;
    std::function<void(const Call&)> call;
  };
  struct Waiting {
    SessionId session;
    std::uint32_t answer_type = 0;
    Time deadline{};
    Verify verify = nullptr;
    std::function<void(std::optional<RequestError>, std::span<const std::byte>)> callback;
  };

  static flatbuffers::Verifier verifier(std::span<const std::byte> table);
  template <class Table>
  static bool is_valid(std::span<const std::byte> table) {
    return verifier(table).VerifyBuffer<Table>(nullptr);
  }
  template <class Table>
  static const Table* root(std::span<const std::byte> table) {
    return flatbuffers::GetRoot<Table>(table.data());
  }
  template <class Table, class F>
  std::span<const std::byte> encode(const MessageHeader& header, F& build) {
    builder_.Clear();
    const flatbuffers::Offset<Table> table = build(builder_);
    builder_.Finish(table);
    return envelope(header, builder_);
  }
  std::span<const std::byte> envelope(const MessageHeader& header, const Builder& builder);
  void add(MessageKind kind, std::uint32_t type, std::string_view name, Verify verify,
           std::function<void(const Call&)> call);
  Handler* find(MessageKind kind, std::uint32_t type);
  std::uint32_t next_request();
  std::size_t requests_of(SessionId session) const;
  void send_answer(const Call& call, std::uint32_t type);
  bool take_answer(SessionId session, const MessageHeader& header, std::span<const std::byte> table);
  void hand_out_events();

  Sink sink_;
  bool holds_events_;
  MessageTypes types_;
  std::map<std::pair<MessageKind, std::uint32_t>, Handler> handlers_;
  std::map<std::uint32_t, Waiting> requests_;
  std::uint32_t newest_request_ = 0;
  EventGate gate_;
  std::vector<EventGate::Event> released_;
  std::uint64_t ended_sessions_ = 0;
  Builder builder_{1024};
  Builder answer_builder_{1024};
  std::vector<std::byte> bytes_;
  std::uint64_t unknown_count_ = 0;
  std::uint64_t late_answer_count_ = 0;
  std::uint64_t dropped_answer_count_ = 0;
};

}  // namespace shoal
