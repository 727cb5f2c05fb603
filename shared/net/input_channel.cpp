#include "shared/net/input_channel.hpp"

#include <algorithm>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"

namespace shoal {
namespace {

// What an input costs beside its payload: its offset, table, the length of the payload and the worst
// alignment; the list itself and the tables' common vtable come once.
constexpr std::size_t kInputOverheadBytes = 28;
constexpr std::size_t kListOverheadBytes = 24;

}  // namespace

bool detail::InputQueue::push(Tick tick, std::span<const std::byte> payload) {
  const bool is_full = count_ == kMaxInputs;
  if (is_full) pop_front();
  Stored& stored = stored_[(first_ + count_) % kMaxInputs];
  stored.tick = tick;
  stored.size = static_cast<std::uint8_t>(payload.size());
  std::copy(payload.begin(), payload.end(), stored.payload.begin());
  ++count_;
  return is_full;
}

void InputSender::push(Tick tick, std::span<const std::byte> payload) {
  SHOAL_ASSERT(payload.size() <= kMaxInputBytes, "an input is at most kMaxInputBytes long");
  SHOAL_ASSERT(!newest_ || tick > *newest_, "inputs are pushed in the order of ticks, one for each");
  newest_ = tick;
  if (queue_.push(tick, payload)) ++dropped_;
}

bool InputSender::acknowledge(Tick newest) {
  if (!newest_ || newest > *newest_) return false;
  while (queue_.size() > 0 && queue_.at(0).tick <= newest) queue_.pop_front();
  return true;
}

// Input: tick, payload. Repeated oldest first, so that a receiver never meets a gap that a later packet
// fills.
InputSender::Inputs InputSender::build(flatbuffers::FlatBufferBuilder& builder,
                                       std::size_t room_bytes) const {
  std::array<flatbuffers::Offset<protocol::Input>, kMaxInputs> inputs;
  std::size_t count = 0;
  std::size_t used = kListOverheadBytes;
  while (count < queue_.size()) {
    const InputView input = queue_.at(count);
    used += kInputOverheadBytes + input.payload.size();
    if (used > room_bytes) break;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(input.payload.data());
    const auto payload = input.payload.empty() ? 0 : builder.CreateVector(bytes, input.payload.size());
    inputs[count++] = protocol::CreateInput(builder, input.tick.value, payload);
  }
  return count == 0 ? Inputs{} : builder.CreateVector(inputs.data(), count);
}

bool InputReceiver::accept(const protocol::ClientUpdate& update) {
  const auto* inputs = update.inputs();
  if (inputs == nullptr) return true;
  if (inputs->size() > kMaxInputs) return false;
  for (flatbuffers::uoffset_t i = 0; i < inputs->size(); ++i) {
    const protocol::Input& input = *inputs->Get(i);
    if (input.payload() != nullptr && input.payload()->size() > kMaxInputBytes) return false;
    if (i > 0 && !(Tick{input.tick()} > Tick{inputs->Get(i - 1)->tick()})) return false;
  }
  for (const protocol::Input* input : *inputs) {
    const Tick tick{input->tick()};
    if (newest_ && tick <= *newest_ && !fault("net-inputs-twice")) continue;
    newest_ = tick;
    const auto* payload = input->payload();
    const auto bytes = payload == nullptr ? std::span<const std::byte>{}
                                          : std::as_bytes(std::span(payload->data(), payload->size()));
    if (queue_.push(tick, bytes)) ++dropped_;
  }
  return true;
}

std::optional<InputView> InputReceiver::peek() const {
  if (queue_.size() == 0) return std::nullopt;
  return queue_.at(0);
}

std::optional<InputView> InputReceiver::next() {
  const std::optional<InputView> input = peek();
  if (input) queue_.pop_front();
  return input;
}

}  // namespace shoal
