#include "shared/image/json_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

namespace shoal {
namespace {

constexpr std::size_t kMaxDepth = 32;

// Counts what the parser took. Copies share the count.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* count) : at_(at), count_(count) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*count_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  std::size_t* count_;
};

class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(std::string_view text, const std::size_t* taken) : text_(text), taken_(taken) {}

  JsonValue root;
  std::string error;

  bool null() override { return add(JsonValue::Kind::Null) != nullptr; }
  bool boolean(bool value) override {
    JsonValue* added = add(JsonValue::Kind::Bool);
    if (added != nullptr) added->truth = value;
    return added != nullptr;
  }
  bool number_integer(number_integer_t value) override {
    return add_text(JsonValue::Kind::Number, std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return add_text(JsonValue::Kind::Number, std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& written) override {
    return add_text(JsonValue::Kind::Number, written);
  }
  bool string(string_t& value) override { return add_text(JsonValue::Kind::String, std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonValue::Kind::Object); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(JsonValue::Kind::Array); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    Open& object = open_.back();
    std::vector<std::string>& names = object.value->names;
    if (names.size() == kFewNames) object.seen.insert(names.begin(), names.end());
    const bool is_there =
        names.size() < kFewNames ? object.value->find(name) != nullptr : !object.seen.insert(name).second;
    if (is_there) return fail(fmt::format("{} stands twice in one object", json_string(name)));
    names.push_back(std::move(name));
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& exception) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
    error = exception.what();
    if (const std::size_t end = error.find("] "); end != std::string::npos) error.erase(0, end + 2);
    return false;
  }

 private:
  struct Open {
    JsonValue* value;
    std::set<std::string> seen;  // its names once they are many: hostile texts must not cost their square
  };
  static constexpr std::size_t kFewNames = 32;

  bool fail(const std::string& what) {
    JsonValue here;
    here.offset = *taken_;
    error = fmt::format("line {}: {}", line_of(text_, here), what);
    return false;
  }
  JsonValue* add(JsonValue::Kind kind) {
    JsonValue* place = &root;
    if (!open_.empty()) place = &open_.back().value->items.emplace_back();
    place->kind = kind;
    place->offset = *taken_;
    return place;
  }
  bool add_text(JsonValue::Kind kind, std::string text) {
    add(kind)->text = std::move(text);
    return true;
  }
  bool open(JsonValue::Kind kind) {
    if (open_.size() == kMaxDepth) return fail("nested too deeply");
    open_.push_back({add(kind), {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::size_t* taken_;
  // Of the root to the innermost: only the innermost one grows, so the addresses hold.
  std::vector<Open> open_;
};

}  // namespace

std::vector<JsonValue::Member> JsonValue::members() const {
  std::vector<Member> all;
  for (std::size_t i = 0; i < names.size(); ++i) all.push_back({names[i], items[i]});
  return all;
}

const JsonValue* JsonValue::find(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? nullptr : &items[static_cast<std::size_t>(found - names.begin())];
}

std::string_view name_of(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::Null:
      return "null";
    case JsonValue::Kind::Bool:
      return "true or false";
    case JsonValue::Kind::Number:
      return "a number";
    case JsonValue::Kind::String:
      return "a text";
    case JsonValue::Kind::Array:
      return "a list";
    case JsonValue::Kind::Object:
      return "an object";
  }
  return "nothing";
}

Result<JsonValue, ImageError> parse_json(std::string_view text) {
  std::size_t taken = 0;
  TreeBuilder builder(text, &taken);
  const CountingIterator begin(text.data(), &taken);
  const CountingIterator end(text.data() + text.size(), &taken);
  if (!nlohmann::json::sax_parse(begin, end, &builder))
    return Failure{ImageError{ImageFault::BadText, "this is no JSON that can be read: " + builder.error}};
  return std::move(builder.root);
}

std::size_t line_of(std::string_view text, const JsonValue& value) {
  // The last character taken may be one beyond a number.
  const std::size_t end = std::min(text.size(), value.offset == 0 ? 0 : value.offset - 1);
  return 1 + static_cast<std::size_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
}

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace shoal
