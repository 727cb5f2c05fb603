#include "tests/simulation/mail.hpp"

#include <fmt/core.h>

#include <vector>

#include "tests/simulation/mail_generated.h"

namespace shoal::simulation {
namespace {

constexpr std::uint64_t kServerSide = std::uint64_t{1} << 63;

}  // namespace

// Never the same for two sessions, nor for both sides of one.
std::uint64_t Mail::id_of(std::size_t client) const {
  return (std::uint64_t{client} << 32) | clients_.at(client).sessions;
}
std::uint64_t Mail::id_of(SessionId session) const {
  return kServerSide | (server_number_ << 48) | (std::uint64_t{session.index} << 32) | session.generation;
}

// Mostly a few bytes; some are fragments of several datagrams.
std::uint32_t Mail::any_length() {
  const float dice = random_.uniform();
  return random_.below(dice < 0.9f ? 120 : dice < 0.99f ? 3000 : 20'000);
}

// --- writing -----------------------------------------------------------------------------------------------

template <class Send>
void Mail::write_letter(std::uint64_t writer, Send send) {
  const MessageChannel channel = any_channel();
  Books& books = books_[writer];
  std::uint32_t& number = books.written[static_cast<std::size_t>(channel)];
  const std::vector<std::uint8_t> filler(any_length());
  const auto queued = send(channel, [&](MessageRouter::Builder& builder) {
    return CreateLetter(builder, secret_, writer, number, builder.CreateVector(filler));
  });
  if (queued) ++number;
}

void Mail::register_server(GameMessages& messages) {
  messages.messages().on<Letter>([this](const MessageSource& source, const Letter& letter) {
    if (letter.secret() == secret_)
      take_letter(id_of(source.session), letter.writer(), source.channel, letter.number());
  });
  messages.messages().on_request<Question, Answer>(
      [](const MessageSource&, const Question& question, MessageRouter::Builder& builder) {
        return CreateAnswer(builder, question.number());
      });
}

void Mail::write_from_server(const Registry& registry, GameMessages& messages) {
  messages.for_each_session([&](SessionId session) {
    if (!random_.chance(0.05)) return;
    write_letter(id_of(session), [&](MessageChannel channel, auto build) {
      return messages.messages().send<Letter>(session, channel, build);
    });
  });
  if (random_.chance(0.3)) write_event(registry, messages);
}

void Mail::write_event(const Registry& registry, GameMessages& messages) {
  std::vector<Entity> seen;
  registry.for_each_entity([&](Entity entity) { seen.push_back(entity); });
  if (seen.empty()) return;
  const Entity entity = seen[random_.below(static_cast<std::uint32_t>(seen.size()))];
  std::vector<SessionId> viewers;
  messages.for_each_session([&](SessionId session) {
    if (messages.sees(session, entity)) viewers.push_back(session);
  });
  news_of_[++news_] = server_number_;
  const std::size_t sent = messages.send_event_to_all<News>(
      any_channel(), entity,
      [&](MessageRouter::Builder& builder) { return CreateNews(builder, secret_, news_); });
  if (sent > viewers.size())
    fail(fmt::format("news {} went to {} of {} who see it", news_, sent, viewers.size()));
  if (sent != viewers.size()) return;  // some had no room; who, is not told
  for (const SessionId viewer : viewers) ++books_[id_of(viewer)].events_written;
}

void Mail::write_from_client(std::size_t number) {
  Correspondent& correspondent = clients_.at(number);
  MessageRouter& messages = correspondent.client->messages();
  if (random_.chance(0.05)) {
    write_letter(id_of(number), [&](MessageChannel channel, auto build) {
      return messages.send<Letter>({}, channel, build);
    });
  }
  if (!random_.chance(0.02)) return;
  const std::uint32_t question = ++correspondent.questions;
  const auto asked = messages.request<Question, Answer>(
      {}, any_channel(),
      [&](MessageRouter::Builder& builder) { return CreateQuestion(builder, secret_, question); },
      correspondent.clock->now(), seconds(1 + random_.below(4)),
      [this, number, question](Result<const Answer*, RequestError> answer) {
        if (answer.ok() && (*answer)->number() != question)
          fail(fmt::format("client {} asked {} and got the answer to {}", number, question,
                           (*answer)->number()));
        if (clients_.at(number).open_questions.erase(question) == 0)
          fail(fmt::format("client {} was told twice what became of question {}", number, question));
      });
  if (asked) correspondent.open_questions.insert(question);
}

// --- reading -----------------------------------------------------------------------------------------------

void Mail::register_client(std::size_t number, Client& client, const Clock& clock) {
  clients_[number].client = &client;
  clients_[number].clock = &clock;
  client.messages().on<Letter>([this, number](const MessageSource& source, const Letter& letter) {
    take_letter(id_of(number), letter.writer(), source.channel, letter.number());
  });
  client.messages().on_event<News>(
      [this, number](const MessageSource& source, const EventInfo& event, const News& news) {
        take_news(number, event, source.channel, news.number());
      });
}

void Mail::take_letter(std::uint64_t reader, std::uint64_t writer, MessageChannel channel,
                       std::uint32_t number) {
  Books& books = books_[reader];
  const auto from = reader_of_.try_emplace(writer, reader).first;
  if (!books.writer) books.writer = writer;
  if (*books.writer != writer || from->second != reader)
    return fail(fmt::format("session {:x} got the mail of session {:x}", reader, from->second));
  const auto sent = books_.find(writer);
  if (sent == books_.end() || number >= sent->second.written[static_cast<std::size_t>(channel)])
    return fail(fmt::format("session {:x} got letter {}, which nobody wrote", reader, number));
  if (channel == MessageChannel::Unordered) {
    if (!books.unordered.insert(number).second)
      fail(fmt::format("session {:x} got letter {} twice, unordered", reader, number));
    return;
  }
  if (number != books.next_ordered)
    fail(fmt::format("session {:x} got letter {} instead of {}, in order", reader, number,
                     books.next_ordered));
  ++books.next_ordered;
}

void Mail::take_news(std::size_t number, const EventInfo& event, MessageChannel channel, std::uint32_t news) {
  Books& books = books_[id_of(number)];
  ++events_heard_;
  late_events_ += event.is_late;
  if (!books.events.insert(news).second) fail(fmt::format("client {} heard news {} twice", number, news));
  if (channel == MessageChannel::Ordered) {
    std::uint32_t& newest = books.newest_event[event.entity];
    if (news < newest) fail(fmt::format("client {} heard news {} after {}", number, news, newest));
    newest = news;
  }
  const auto from = news_of_.find(news);
  if (from == news_of_.end())
    return fail(fmt::format("client {} heard news {}, which nobody told", number, news));
  if (event.is_late || from->second != server_number_) return;
  const Entity entity = Entity::from_bits(event.entity);
  const Client& client = *clients_.at(number).client;
  const bool is_there = client.registry()->alive(entity)
                            ? shows_state_of(*client.mirror(), entity, event.tick)
                            : !server_->registry().alive(entity);
  if (!is_there) {
    fail(fmt::format("client {} heard news {} of {}:{} before its state of tick {}", number, news,
                     entity.index, entity.generation, event.tick.value));
  }
}

// Some chunk of the mirror binds the entity, as new as the event.
bool Mail::shows_state_of(const Mirror& mirror, Entity entity, Tick tick) const {
  bool found = false;
  server_->chunks().for_each([&](ChunkIndex, const Chunk& chunk) {
    const ChunkVersion* version = mirror.shown(chunk.id());
    if (!version || version->tick() < tick) return;
    for_each_slot(version->bound(), [&](Slot slot) { found = found || version->id(slot) == entity; });
  });
  return found;
}

void Mail::check_bounds(std::size_t number) {
  const Correspondent& correspondent = clients_.at(number);
  const MessageRouter& messages = correspondent.client->messages();
  if (messages.events().size() > EventGate::kMaxEvents || messages.events().bytes() > EventGate::kMaxBytes)
    fail(fmt::format("client {} holds {} events of {} bytes", number, messages.events().size(),
                     messages.events().bytes()));
  if (messages.waiting_requests() != correspondent.open_questions.size())
    fail(fmt::format("client {} waits for {} answers to {} questions", number, messages.waiting_requests(),
                     correspondent.open_questions.size()));
}

std::string Mail::undelivered() const {
  for (const auto& [number, correspondent] : clients_) {
    if (correspondent.client->state() != ClientState::Connected) continue;
    const std::uint64_t here = id_of(number);
    const auto books = books_.find(here);
    if (books == books_.end()) continue;
    const auto reader = reader_of_.find(here);
    const auto there = books->second.writer         ? books->second.writer
                       : reader != reader_of_.end() ? std::optional(reader->second)
                                                    : std::nullopt;
    if (!there) continue;  // neither has heard of the other
    SessionId session;
    server_->for_each_session([&](SessionId open) {
      if (id_of(open) == *there) session = open;
    });
    if (session.is_null()) continue;
    const auto compare = [&](const Books& writer, const Books& reader_books) -> std::string {
      if (writer.written[0] != reader_books.next_ordered ||
          writer.written[1] != reader_books.unordered.size()) {
        return fmt::format("{} of {} ordered letters and {} of {} unordered ones came",
                           reader_books.next_ordered, writer.written[0], reader_books.unordered.size(),
                           writer.written[1]);
      }
      if (reader_books.events.size() < writer.events_written)
        return fmt::format("{} of {} events came", reader_books.events.size(), writer.events_written);
      return {};
    };
    static const Books kNone{};
    const auto other = books_.find(*there);
    const Books& other_books = other == books_.end() ? kNone : other->second;
    if (auto missing = compare(books->second, other_books); !missing.empty())
      return fmt::format("client {} to server: {}", number, missing);
    if (auto missing = compare(other_books, books->second); !missing.empty())
      return fmt::format("server to client {}: {}", number, missing);
  }
  return {};
}

}  // namespace shoal::simulation
