#include "config.h"

#include <cstdint>
#include <sstream>
#include <type_traits>

#include "../choices.h"
#include "../names.h"
#include "../settings_file.h"
#include "../text_table.h"

namespace hearth::app {

bool is_setting(const CLI::Option& option) {
  const std::string name = option.get_single_name();
  return name != "help" && name != "config" && name != "resume";
}

namespace {

std::vector<std::string> setting_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    if (is_setting(*option)) names.push_back(option->get_single_name());
  return names;
}

/// The TOML value as text that a flag accepts.
std::string flag_text(const std::string& where, const toml::node& node, bool in_list) {
  if (const auto text = node.value_exact<std::string>()) {
    if (in_list && has_empty_item(*text))
      throw CLI::ValidationError(where, "an item of the list '" + *text + "' is empty");
    return *text;
  }
  if (const auto number = node.value_exact<int64_t>()) return std::to_string(*number);
  if (const auto number = node.value_exact<double>()) return shortest(*number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  throw CLI::ValidationError(where, "expected a number, string, bool or a list of them");
}

void apply(CLI::App& command, const std::string& path, const std::string& key,
           const toml::node& node) {
  const std::string where = location(path, node);
  CLI::Option* option = command.get_option_no_throw("--" + key);
  if (!option || !is_setting(*option))
    throw CLI::ValidationError(where, unknown_name("setting", key, setting_names(command)));
  if (option->count() > 0) return;
  const bool is_list = option->get_delimiter() == ',';
  if (!takes_value(*option) && !node.is_boolean())
    throw CLI::ValidationError(where, "'" + key + "' must be true or false");
  if (const toml::array* list = node.as_array()) {
    if (list->empty()) throw CLI::ValidationError(where, "'" + key + "' is an empty list");
    if (list->size() > 1 && option->get_items_expected_max() == 1)
      throw CLI::ValidationError(where, "'" + key + "' takes one value");
    for (const toml::node& item : *list) option->add_result(flag_text(where, item, is_list));
  } else {
    option->add_result(flag_text(where, node, is_list));
  }
  try {
    option->run_callback();
  } catch (const CLI::ParseError& error) {
    throw CLI::ValidationError(where, error.what());
  }
}

std::string toml_of(double value) { return shortest(value); }
std::string toml_of(int64_t value) { return std::to_string(value); }
/// In quotes if TOML, whose integers are signed, cannot express the number.
std::string toml_of(uint64_t value) {
  const std::string digits = std::to_string(value);
  return value > uint64_t{INT64_MAX} ? "'" + digits + "'" : digits;
}
std::string toml_of(bool value) { return value ? "true" : "false"; }
std::string toml_of(const std::string& value) {
  std::ostringstream text;
  text << toml::value<std::string>(value);
  return text.str();
}
template <class T>
std::string toml_of(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "[" : ", ") + toml_of(value);
  return text + "]";
}

}  // namespace

std::string config_text(const TrainOptions& options) {
  std::string text;
  const auto add = [&](const char* key, const auto& value) {
    text.append(key).append(" = ").append(toml_of(value)).append("\n");
  };
  const auto add_axis = [&](const char* key, const std::optional<Range>& range,
                            const auto& values) {
    range ? add(key, range->text) : add(key, values);
  };
  add_axis("lr", options.lr_range, options.lrs);
  add_axis("batch-size", options.batch_range, options.batch_sizes);
  add("num-workers", options.num_workers);
  add("device", options.devices);
  for_each_setting(options, [&](const char* name, const auto& value, Effect) {
    if constexpr (requires { value.has_value(); }) {
      if (value) add(name, *value);
    } else if constexpr (std::is_same_v<decltype(value), const std::vector<std::string>&>) {
      if (!value.empty()) add(name, value);
    } else {
      add(name, value);
    }
  });
  return text;
}

void apply_config(CLI::App& command, const std::string& path) {
  for (const auto& [key, node] : read_settings(path))
    apply(command, path, std::string(key.str()), node);
}

}  // namespace hearth::app
