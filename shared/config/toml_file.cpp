// TOML, read by toml++, which gives line and column of every value: the configuration file, and documents of any other
// kind as plain values.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <tuple>

#include "shared/config/nearest.hpp"
#include "shared/config/sources.hpp"
#include "shared/config/toml_document.hpp"

namespace shoal {
namespace {

TomlPlace place_of(const toml::source_region& source) {
  return {source.begin.line, source.begin.column};
}

TomlValue plain(const toml::node& node);

TomlTable plain_table(const toml::table& table) {
  TomlTable result;
  for (const auto& [key, node] : table)
    result.push_back({std::string(key.str()), place_of(key.source()), plain(node)});
  // toml++ keeps keys sorted by name; people read from top to bottom.
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.place < b.place; });
  return result;
}

// As deep as the library lets a document nest, which is bounded.
TomlValue plain(const toml::node& node) {
  TomlValue result{TomlOther{}, place_of(node.source())};
  if (const auto* text = node.as_string()) {
    result.value = text->get();
  } else if (const auto* whole = node.as_integer()) {
    result.value = whole->get();
  } else if (const auto* number = node.as_floating_point()) {
    result.value = number->get();
  } else if (const auto* truth = node.as_boolean()) {
    result.value = truth->get();
  } else if (const auto* table = node.as_table()) {
    result.value = plain_table(*table);
  } else if (const auto* array = node.as_array()) {
    TomlArray elements;
    for (const auto& element : *array) elements.push_back(plain(element));
    result.value = std::move(elements);
  }
  return result;
}

std::string not_toml(const toml::parse_error& error, const std::string& path) {
  return fmt::format("{}: this is not TOML: {}", place_text(path, place_of(error.source())),
                     error.description());
}

}  // namespace

std::string TomlValue::describe() const {
  if (const auto* text = get_if<std::string>()) return "a string " + in_quotes(*text);
  if (const auto* whole = get_if<std::int64_t>()) return fmt::format("the whole number {}", *whole);
  if (const auto* number = get_if<double>()) return fmt::format("the number {}", to_text(*number));
  if (const auto* truth = get_if<bool>()) return *truth ? "true" : "false";
  if (get_if<TomlArray>()) return "an array";
  if (get_if<TomlTable>()) return "a table";
  return "a date or time";
}

std::string place_text(std::string_view path, TomlPlace place) {
  return fmt::format("{}:{}:{}", path, place.line, place.column);
}

Result<TomlTable, std::string> parse_toml(std::string_view text, const std::string& path) {
  try {
    return plain_table(toml::parse(text, path));
  } catch (const toml::parse_error& error) {
    return Failure{not_toml(error, path)};
  }
}

}  // namespace shoal

namespace shoal::config_sources {
namespace {

std::string describe(const toml::node& node) {
  return plain(node).describe();
}

// The value as text for the option's check, or nothing when it has the wrong type.
std::optional<std::string> text_of(const toml::node& node, const Option& option) {
  const bool number = option.type == OptionType::Number || option.type == OptionType::Seconds;
  if (const auto* truth = node.as_boolean(); truth != nullptr && option.type == OptionType::Bool) {
    return truth->get() ? "true" : "false";
  }
  if (const auto* whole = node.as_integer();
      whole != nullptr && (number || option.type == OptionType::Integer)) {
    return std::to_string(whole->get());
  }
  if (const auto* value = node.as_floating_point(); value != nullptr && number) return to_text(value->get());
  const auto* text = node.as_string();
  if (text == nullptr) return std::nullopt;
  if (option.type == OptionType::Text || option.type == OptionType::Choice) return text->get();
  if (option.may_be_none && text->get() == "none") return text->get();
  // TOML's integers have 63 bits; a larger seed is written as a string of digits.
  const auto digits = parse_unsigned(text->get(), {0, std::numeric_limits<std::uint64_t>::max()});
  const bool beyond_toml =
      digits.ok() && *digits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (option.type == OptionType::Integer && beyond_toml) return text->get();
  return std::nullopt;
}

class TomlReader {
 public:
  TomlReader(const std::vector<Option>& options, std::string path, Gathered& gathered)
      : options_(options), path_(std::move(path)), gathered_(gathered) {}

  void read(const toml::table& root) {
    read_section("", root);
    // toml++ keeps keys sorted by name; people read from top to bottom.
    std::stable_sort(complaints_.begin(), complaints_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.line, a.column) < std::tie(b.line, b.column);
    });
    for (auto& complaint : complaints_) gathered_.errors.push_back(std::move(complaint.text));
  }

 private:
  struct Complaint {
    std::uint32_t line, column;
    std::string text;
  };

  void read_section(const std::string& section, const toml::table& table) {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (section.empty() && is_section(name)) {
        if (const auto* inner = node.as_table()) {
          read_section(name, *inner);
        } else {
          complain(node.source(),
                   fmt::format("{} is a section, write [{}]; found {}", name, name, describe(node)));
        }
        continue;
      }
      const auto option = std::find_if(options_.begin(), options_.end(), [&](const Option& candidate) {
        return candidate.section == section && candidate.file_key() == name;
      });
      if (option == options_.end()) {
        complain_of_unknown(section, name, key.source(), node);
      } else {
        read_value(*option, node);
      }
    }
  }

  void read_value(const Option& option, const toml::node& node) {
    const auto text = text_of(node, option);
    if (!text) {
      complain(node.source(), fmt::format("{}: expected {}, found {}{}", option.full_key(),
                                          option.type_name(), describe(node), allowed_suffix(option)));
      return;
    }
    const std::string where = place(node.source());
    Gathered one;
    add_setting(options_, static_cast<std::size_t>(&option - options_.data()), *text, OptionSource::File,
                where, option.full_key(), one);
    for (auto& setting : one.settings) gathered_.settings.push_back(std::move(setting));
    for (const auto& error : one.errors) complain(node.source(), error);
  }

  void complain_of_unknown(const std::string& section, const std::string& name,
                           const toml::source_region& source, const toml::node& node) {
    const std::string full = section.empty() ? name : section + "." + name;
    if (section.empty() && node.is_table()) {
      complain(source, fmt::format("unknown section [{}]{}", name, suggestion(name, sections())));
      return;
    }
    complain(source, fmt::format("unknown key {}{}", full, meant_key(section, name)));
  }

  // A right key in a wrong section is the likeliest mistake, then a mistyped one of this section, then of
  // any.
  std::string meant_key(const std::string& section, const std::string& name) const {
    std::vector<std::string> here, everywhere;
    for (const Option& option : options_) {
      everywhere.push_back(option.file_key());
      if (option.section == section) here.push_back(option.file_key());
    }
    const bool elsewhere = std::find(everywhere.begin(), everywhere.end(), name) != everywhere.end();
    const std::string near_here = elsewhere ? std::string() : nearest(name, here);
    const std::string key = near_here.empty() ? nearest(name, everywhere) : near_here;
    for (const Option& option : options_) {
      const bool candidate = option.file_key() == key && (near_here.empty() || option.section == section);
      if (candidate) return fmt::format("; did you mean {}?", option.full_key());
    }
    return {};
  }

  bool is_section(std::string_view name) const {
    return !name.empty() &&
           std::any_of(options_.begin(), options_.end(), [&](const Option& o) { return o.section == name; });
  }

  std::vector<std::string> sections() const {
    std::vector<std::string> names;
    for (const Option& option : options_) {
      if (!option.section.empty() && (names.empty() || names.back() != option.section))
        names.push_back(option.section);
    }
    return names;
  }

  std::string place(const toml::source_region& source) const { return place_text(path_, place_of(source)); }

  void complain(const toml::source_region& source, const std::string& what) {
    complaints_.push_back(
        {source.begin.line, source.begin.column, fmt::format("{}: {}", place(source), what)});
  }

  const std::vector<Option>& options_;
  std::string path_;
  Gathered& gathered_;
  std::vector<Complaint> complaints_;
};

}  // namespace

void read_toml(const std::vector<Option>& options, std::string_view text, const std::string& path,
               Gathered& gathered) {
  try {
    TomlReader(options, path, gathered).read(toml::parse(text, path));
  } catch (const toml::parse_error& error) {
    gathered.errors.push_back(not_toml(error, path));
  }
}

}  // namespace shoal::config_sources
