#include "shared/config/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shared/base/assert.hpp"

namespace shoal {
namespace {

constexpr double kLongestSeconds = 1e9;  // 31 years; far below what 63 bits of nanoseconds hold

bool is_word(std::string_view name) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name[0] >= 'a' && name[0] <= 'z' && std::all_of(name.begin(), name.end(), allowed);
}

bool is_reserved(std::string_view name) {
  return name == "help" || name == "version" || name == "config" || name == "print-config";
}

// A limit in the rules is a double; beyond the type's own range, or absent, the type's range holds.
template <class T>
T limit_or(std::optional<double> limit, T of_type) {
  constexpr double kLeast = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double kGreatest = static_cast<double>(std::numeric_limits<T>::max());
  if (!limit || *limit <= kLeast || *limit >= kGreatest) return of_type;
  return static_cast<T>(*limit);
}

std::string describe_range(std::string_view min, std::string_view max) {
  return fmt::format("{} to {}", min, max);
}

std::string describe_range(const OptionRules& rules) {
  if (rules.min && rules.max) return describe_range(to_text(*rules.min), to_text(*rules.max));
  if (rules.min) return "at least " + to_text(*rules.min);
  if (rules.max) return "at most " + to_text(*rules.max);
  return {};
}

// Runs a checker's answer into `set`; the shape that all `accept` functions share.
template <class T, class Set>
std::optional<std::string> take(const Result<T, std::string>& result, Store store, const Set& set) {
  if (!result) return result.error();
  if (store == Store::Yes) set(*result);
  return std::nullopt;
}

}  // namespace

Environment environment_from(const char* const* block) {
  Environment environment;
  for (; block != nullptr && *block != nullptr; ++block) {
    const std::string_view line = *block;
    const auto equals = line.find('=');
    if (!line.starts_with("SHOAL_") || equals == std::string_view::npos) continue;
    environment.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return environment;
}

void OptionTable::section(std::string name) {
  SHOAL_ASSERT(is_word(name), "a section is named with lower-case letters, digits and '-'");
  SHOAL_ASSERT(std::find(sections_.begin(), sections_.end(), name) == sections_.end(),
               "a section is opened once; keep its options together");
  std::replace(name.begin(), name.end(), '-', '_');
  sections_.push_back(name);
  section_ = std::move(name);
}

Option OptionTable::make(std::string name, OptionType type, OptionRules rules) const {
  SHOAL_ASSERT(is_word(name), "an option is named with lower-case letters, digits and '-'");
  SHOAL_ASSERT(!is_reserved(name), "help, version, config and print-config belong to every program");
  SHOAL_ASSERT(!rules.help.empty(), "every option says what it is for");
  for (const Option& other : options_) {
    SHOAL_ASSERT(other.name != name, "an option of this name is there already");
    SHOAL_ASSERT(other.type != OptionType::Bool || "no-" + other.name != name,
                 "--no-… belongs to the option that it negates");
  }
  Option option;
  option.section = section_;
  option.name = std::move(name);
  option.type = type;
  option.rules = std::move(rules);
  return option;
}

void OptionTable::add_checked(Option option) {
  option.default_text = option.current();
  SHOAL_ASSERT(!option.accept(option.default_text, Store::No),
               "the default of an option obeys its own rules");
  options_.push_back(std::move(option));
}

void OptionTable::add(std::string name, bool* target, OptionRules rules) {
  Option option = make(std::move(name), OptionType::Bool, std::move(rules));
  option.allowed = "true or false";
  option.current = [target] { return std::string(*target ? "true" : "false"); };
  option.accept = [target](std::string_view text, Store store) {
    return take(parse_bool(text), store, [&](bool value) { *target = value; });
  };
  add_checked(std::move(option));
}

void OptionTable::add_signed(Option option, SignedRange of_type, SetSigned set) {
  const SignedRange range{limit_or(option.rules.min, of_type.min), limit_or(option.rules.max, of_type.max)};
  SHOAL_ASSERT(range.min <= range.max, "min of an option is not above its max");
  option.allowed = describe_range(std::to_string(range.min), std::to_string(range.max));
  option.accept = [range, set](std::string_view text, Store store) {
    return take(parse_signed(text, range), store, set);
  };
  add_checked(std::move(option));
}

void OptionTable::add_unsigned(Option option, UnsignedRange of_type, SetUnsigned set) {
  const UnsignedRange range{limit_or(option.rules.min, of_type.min), limit_or(option.rules.max, of_type.max)};
  SHOAL_ASSERT(range.min <= range.max, "min of an option is not above its max");
  option.allowed = describe_range(std::to_string(range.min), std::to_string(range.max));
  option.accept = [range, set](std::string_view text, Store store) {
    return take(parse_unsigned(text, range), store, set);
  };
  add_checked(std::move(option));
}

void OptionTable::add_number(Option option, NumberRange of_type, std::function<void(double)> set) {
  const NumberRange range{option.rules.min.value_or(of_type.min), option.rules.max.value_or(of_type.max)};
  SHOAL_ASSERT(range.min <= range.max, "min of an option is not above its max");
  option.allowed = describe_range(option.rules);
  option.accept = [range, set](std::string_view text, Store store) {
    return take(parse_number(text, range), store, set);
  };
  add_checked(std::move(option));
}

void OptionTable::add(std::string name, float* target, OptionRules rules) {
  Option option = make(std::move(name), OptionType::Number, std::move(rules));
  option.current = [target] { return to_text(*target); };
  constexpr double kMost = std::numeric_limits<float>::max();
  add_number(std::move(option), {-kMost, kMost},
             [target](double value) { *target = static_cast<float>(value); });
}

void OptionTable::add(std::string name, double* target, OptionRules rules) {
  Option option = make(std::move(name), OptionType::Number, std::move(rules));
  option.current = [target] { return to_text(*target); };
  constexpr double kMost = std::numeric_limits<double>::max();
  add_number(std::move(option), {-kMost, kMost}, [target](double value) { *target = value; });
}

void OptionTable::add(std::string name, std::optional<double>* target, OptionRules rules) {
  constexpr double kMost = std::numeric_limits<double>::max();
  const NumberRange range{rules.min.value_or(-kMost), rules.max.value_or(kMost)};
  SHOAL_ASSERT(range.min <= range.max, "min of an option is not above its max");
  Option option = make(std::move(name), OptionType::Number, std::move(rules));
  option.may_be_none = true;
  const std::string numbers = describe_range(option.rules);
  option.allowed = numbers.empty() ? "a number, or none" : numbers + ", or none";
  option.current = [target] { return *target ? to_text(**target) : std::string("none"); };
  option.accept = [target, range](std::string_view text, Store store) -> std::optional<std::string> {
    if (text != "none") return take(parse_number(text, range), store, [&](double value) { *target = value; });
    if (store == Store::Yes) target->reset();
    return std::nullopt;
  };
  add_checked(std::move(option));
}

void OptionTable::add(std::string name, Duration* target, OptionRules rules) {
  rules.min = std::max(rules.min.value_or(0), -kLongestSeconds);
  rules.max = std::min(rules.max.value_or(kLongestSeconds), kLongestSeconds);
  rules.unit = std::string("s");  // g++ 12 warns wrongly of the assignment of a literal
  Option option = make(std::move(name), OptionType::Seconds, std::move(rules));
  option.current = [target] { return seconds_to_text(*target); };
  add_number(std::move(option), {-kLongestSeconds, kLongestSeconds},
             [target](double value) { *target = duration_from_seconds(value); });
}

void OptionTable::add(std::string name, std::string* target, OptionRules rules) {
  const bool listed = !rules.choices.empty();
  Option option = make(std::move(name), listed ? OptionType::Choice : OptionType::Text, std::move(rules));
  option.current = [target] { return *target; };
  if (listed) {
    const std::vector<std::string> choices = option.rules.choices;
    add_choice(std::move(option), [target, choices](std::size_t choice) { *target = choices[choice]; });
    return;
  }
  option.accept = [target](std::string_view text, Store store) -> std::optional<std::string> {
    if (store == Store::Yes) *target = text;
    return std::nullopt;
  };
  add_checked(std::move(option));
}

void OptionTable::add_choice(Option option, std::function<void(std::size_t)> set) {
  SHOAL_ASSERT(!option.rules.choices.empty(), "a choice offers at least one word");
  option.allowed = join_words(option.rules.choices);
  option.accept = [choices = option.rules.choices, set](std::string_view text,
                                                        Store store) -> std::optional<std::string> {
    const auto found = std::find(choices.begin(), choices.end(), text);
    if (found == choices.end()) return "is not one of the allowed words";
    if (store == Store::Yes) set(static_cast<std::size_t>(found - choices.begin()));
    return std::nullopt;
  };
  add_checked(std::move(option));
}

}  // namespace shoal
