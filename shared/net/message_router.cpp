#include "shared/net/message_router.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace shoal {

std::optional<std::string> MessageTypes::add(std::string_view name) {
  const auto [known, is_new] = names_.try_emplace(fnv1a32(name), name);
  if (is_new || known->second == name) return std::nullopt;
  return fmt::format("the messages {} and {} have the same number 0x{:08x}: rename one", known->second, name,
                     known->first);
}

flatbuffers::Verifier MessageRouter::verifier(std::span<const std::byte> table) {
  // Tables of a buffer may share parts, so that its size does not bound what there is to look at.
  constexpr flatbuffers::uoffset_t kMaxDepth = 32;
  constexpr flatbuffers::uoffset_t kMaxTables = 1u << 16;
  return {reinterpret_cast<const std::uint8_t*>(table.data()), table.size(), kMaxDepth, kMaxTables};
}

void MessageRouter::add(MessageKind kind, std::uint32_t type, std::string_view name, Verify verify,
                        std::function<void(const Call&)> call) {
  const auto error = types_.add(name);
  SHOAL_ASSERT(!error, error->c_str());
  const bool is_new = handlers_.try_emplace({kind, type}, Handler{verify, std::move(call)}).second;
  SHOAL_ASSERT(is_new, "a type of message has one handler for each kind");
}

MessageRouter::Handler* MessageRouter::find(MessageKind kind, std::uint32_t type) {
  const auto found = handlers_.find({kind, type});
  return found == handlers_.end() ? nullptr : &found->second;
}

// ------------------------------------------------------------------------------------------------ sending

std::span<const std::byte> MessageRouter::envelope(const MessageHeader& header, const Builder& builder) {
  bytes_.clear();
  write_message_header(header, bytes_);
  const auto table = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  bytes_.insert(bytes_.end(), table.begin(), table.end());
  return bytes_;
}

std::uint32_t MessageRouter::next_request() {
  do {
    ++newest_request_;
  } while (newest_request_ == 0 || requests_.contains(newest_request_));
  return newest_request_;
}

std::size_t MessageRouter::requests_of(SessionId session) const {
  return static_cast<std::size_t>(
      std::count_if(requests_.begin(), requests_.end(),
                    [session](const auto& each) { return each.second.session == session; }));
}

void MessageRouter::send_answer(const Call& call, std::uint32_t type) {
  const MessageHeader header{type, MessageKind::Answer, call.request};
  if (!sink_(call.source.session, call.source.channel, envelope(header, answer_builder_)))
    ++dropped_answer_count_;
}

// ---------------------------------------------------------------------------------------------- receiving

bool MessageRouter::take(SessionId session, ReceivedMessage message, Time now) {
  std::span<const std::byte> table;
  const auto header = read_message_header(message.span(), table);
  if (!header) return false;
  if (header->kind == MessageKind::Answer || header->kind == MessageKind::Refusal) {
    return take_answer(session, *header, table);
  }
  Handler* const handler = find(header->kind, header->type);
  if (handler == nullptr) {
    ++unknown_count_;
    if (header->kind == MessageKind::Request) {
      bytes_.clear();
      write_message_header({header->type, MessageKind::Refusal, header->request}, bytes_);
      if (!sink_(session, message.channel, bytes_)) ++dropped_answer_count_;
    }
    return true;
  }
  if (!handler->verify(table)) return false;
  if (header->kind == MessageKind::Event && holds_events_) {
    gate_.push({header->entity, header->tick, std::move(message), now}, released_);
    hand_out_events();
    return true;
  }
  handler->call({{session, message.channel}, {header->entity, header->tick}, header->request, table});
  return true;
}

bool MessageRouter::take_answer(SessionId session, const MessageHeader& header,
                                std::span<const std::byte> table) {
  const auto found = requests_.find(header.request);
  // Of another session it cannot be: each has its own channels, and whoever guesses a number gets nothing for it.
  if (found == requests_.end() || found->second.session != session) {
    ++late_answer_count_;
    return true;
  }
  std::optional<RequestError> error;
  if (header.kind == MessageKind::Refusal) {
    error = RequestError::NoHandler;
  } else if (header.type != found->second.answer_type || !found->second.verify(table)) {
    return false;  // the request ends with the session
  }
  const Waiting waiting = std::move(found->second);
  requests_.erase(found);  // before the call, which may ask for more
  waiting.callback(error, table);
  return true;
}

void MessageRouter::release_events(Time now, const EventGate::IsThere& is_there) {
  gate_.release(now, is_there, released_);
  hand_out_events();
}

void MessageRouter::hand_out_events() {
  std::vector<EventGate::Event> events;
  events.swap(released_);
  const std::uint64_t sessions_before = ended_sessions_;
  for (const EventGate::Event& event : events) {
    std::span<const std::byte> table;
    const auto header = read_message_header(event.message.span(), table);
    Handler* const handler = find(MessageKind::Event, header->type);
    handler->call({{{}, event.message.channel}, {event.entity, event.tick, event.is_late}, 0, table});
    if (ended_sessions_ != sessions_before) break;  // by the handler: the others were of that session, too
  }
  events.clear();
  if (released_.empty()) released_.swap(events);  // keeps its memory
}

void MessageRouter::tick(Time now) {
  std::vector<Waiting> over;
  for (auto at = requests_.begin(); at != requests_.end();) {
    if (at->second.deadline > now) {
      ++at;
      continue;
    }
    over.push_back(std::move(at->second));
    at = requests_.erase(at);
  }
  for (const Waiting& waiting : over) waiting.callback(RequestError::TimedOut, {});
}

void MessageRouter::end_session(SessionId session) {
  gate_.clear();
  ++ended_sessions_;
  std::vector<Waiting> over;
  for (auto at = requests_.begin(); at != requests_.end();) {
    if (at->second.session != session) {
      ++at;
      continue;
    }
    over.push_back(std::move(at->second));
    at = requests_.erase(at);
  }
  for (const Waiting& waiting : over) waiting.callback(RequestError::SessionEnded, {});
}

}  // namespace shoal
