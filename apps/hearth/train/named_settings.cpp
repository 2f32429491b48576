#include "named_settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "../names.h"
#include "hearth/error.h"

namespace hearth::app {

namespace {

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  for (size_t end; (end = text.find(separator, start)) != std::string::npos; start = end + 1)
    parts.push_back(text.substr(start, end - start));
  parts.push_back(text.substr(start));
  return parts;
}

[[noreturn]] void refuse(const std::string& name, const std::string& text, const char* expected) {
  throw ValueError(name + " must be " + expected + ", not '" + printable(text) + "'");
}

template <class Number>
void parse_number(const std::string& name, const std::string& text, const char* expected,
                  Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse(name, text, expected);
}

}  // namespace

NamedSettings parse_named_settings(const std::string& text) {
  const size_t colon = text.find(':');
  NamedSettings result{text.substr(0, colon), {}};
  if (colon == std::string::npos) return result;
  for (const std::string& part : split_at(text.substr(colon + 1), ',')) {
    const size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    HEARTH_CHECK_AS(ValueError, !name.empty(), "a setting of '", printable(result.name),
                    "' has no name: expected ", printable(result.name), ":name=value,name=value");
    for (const auto& [other, value] : result.settings)
      HEARTH_CHECK_AS(ValueError, other != name, "the setting '", printable(name),
                      "' is given twice");
    result.settings.emplace_back(name,
                                 equals == std::string::npos ? "true" : part.substr(equals + 1));
  }
  return result;
}

SettingFields::SettingFields(const NamedSettings& source, std::string list)
    : source_(source), list_(std::move(list)) {
  require_values(false);
}

std::string SettingFields::shown(const std::string& name) const {
  if (list_.empty()) return "'" + printable(name) + "'";
  return "value " + std::to_string(std::stoi(name) + 1) + " of '" + printable(list_) + "'";
}

const std::string* SettingFields::text_of(const std::string& name) const {
  if (std::ranges::find(known_, name) == known_.end()) known_.push_back(name);
  for (const auto& [setting, text] : source_.settings)
    if (setting == name) return &text;
  return nullptr;
}

void SettingFields::field(const std::string& name, bool& value) {
  const std::string* text = text_of(name);
  if (!text) return;
  if (*text != "true" && *text != "false") refuse(shown(name), *text, "true or false");
  value = *text == "true";
}

void SettingFields::field(const std::string& name, int64_t& value) {
  if (const std::string* text = text_of(name))
    parse_number(shown(name), *text, "a whole number", value);
}

void SettingFields::field(const std::string& name, double& value) {
  const std::string* text = text_of(name);
  if (!text) return;
  parse_number(shown(name), *text, "a number", value);
  if (!std::isfinite(value)) refuse(shown(name), *text, "a finite number");
}

void SettingFields::field(const std::string& name, std::string& value) {
  if (const std::string* text = text_of(name)) value = *text;
}

void SettingFields::field(const std::string& name, Tensor&) {
  HEARTH_CHECK_AS(ValueError, !text_of(name), "'", name, "' cannot be set on the command line");
}

void SettingFields::nested(const std::string& name, const std::function<void(Fields&)>& body) {
  const std::string* text = text_of(name);
  NamedSettings items{name, {}};  // the items of a list are named by their index
  if (text)
    for (const std::string& item : split_at(*text, ':'))
      items.settings.emplace_back(std::to_string(items.settings.size()), item);
  SettingFields inner(items, name);
  body(inner);
  HEARTH_CHECK_AS(ValueError, items.settings.size() <= inner.known_.size(), "'", name,
                  "' has at most ", inner.known_.size(), " values separated by colons, not ",
                  items.settings.size());
}

bool SettingFields::is_none(const std::string& name) const {
  const std::string* text = text_of(name);
  return text && *text == "none";
}

void SettingFields::check_all_known() const {
  for (const auto& [name, text] : source_.settings)
    if (std::ranges::find(known_, name) == known_.end())
      throw ValueError(unknown_name("setting of '" + source_.name + "'", name, known_));
}

}  // namespace hearth::app
