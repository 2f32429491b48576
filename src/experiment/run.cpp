#include "hearth/experiment/run.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ostream>

#include "hearth/error.h"
#include "hearth/io/key_hint.h"

namespace hearth::experiment {

namespace {

/// "0.01": the shortest text that reads back as the same number.
std::string shortest(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

[[noreturn]] void fail_conversion(const std::string& name, const Value& value, const char* wanted) {
  hearth::detail::fail<Error>("the parameter '", name, "' has the value '", value.str(),
                              "', which is not ", wanted);
}

}  // namespace

Value::Value(const Device& device) : value_(device.str()) {}

int64_t Value::checked(int64_t value, bool fits) {
  HEARTH_CHECK(fits, "an integer parameter is greater than the greatest int64_t");
  return value;
}

bool Value::to_bool(const std::string& name) const {
  if (const bool* value = std::get_if<bool>(&value_)) return *value;
  fail_conversion(name, *this, "a bool");
}

int64_t Value::to_int(const std::string& name, bool (*fits)(int64_t)) const {
  const int64_t* value = std::get_if<int64_t>(&value_);
  if (!value) fail_conversion(name, *this, "an integer");
  if (!fits(*value)) fail_conversion(name, *this, "in the range of the requested integer type");
  return *value;
}

double Value::to_double(const std::string& name) const {
  if (const double* value = std::get_if<double>(&value_)) return *value;
  if (const int64_t* value = std::get_if<int64_t>(&value_)) return static_cast<double>(*value);
  fail_conversion(name, *this, "a number");
}

const std::string& Value::to_text(const std::string& name) const {
  if (const std::string* value = std::get_if<std::string>(&value_)) return *value;
  fail_conversion(name, *this, "a text");
}

Device Value::to_device(const std::string& name) const {
  const std::string& text = to_text(name);
  try {
    return Device(text);
  } catch (const Error&) {
    fail_conversion(name, *this, "a device (cpu, cuda, cuda:1, …)");
  }
}

std::string Value::str() const {
  if (const auto* text = std::get_if<std::string>(&value_)) return *text;
  if (const auto* number = std::get_if<double>(&value_)) return shortest(*number);
  if (const auto* integer = std::get_if<int64_t>(&value_)) return std::to_string(*integer);
  return std::get<bool>(value_) ? "true" : "false";
}

Run::Run(std::vector<Item> items) : items_(std::move(items)) {
  for (auto item = items_.begin(); item != items_.end(); ++item) {
    HEARTH_CHECK(!item->first.empty(), "the name of a parameter is empty");
    HEARTH_CHECK(std::none_of(items_.begin(), item,
                              [&](const Item& other) { return other.first == item->first; }),
                 "the parameter '", item->first, "' is there twice");
  }
}

bool Run::contains(const std::string& name) const {
  return std::any_of(items_.begin(), items_.end(),
                     [&](const Item& item) { return item.first == name; });
}

const Value& Run::operator[](const std::string& name) const {
  for (const auto& [key, value] : items_)
    if (key == name) return value;
  std::vector<std::string> names;
  for (const Item& item : items_) names.push_back(item.first);
  hearth::detail::fail<Error>("the run has no parameter '", name, "'", io::key_hint(name, names));
}

std::ostream& operator<<(std::ostream& stream, const Run& run) {
  stream << "Run(";
  const char* separator = "";
  for (const auto& [name, value] : run.items()) {
    stream << separator << name << '=' << value.str();
    separator = ", ";
  }
  return stream << ')';
}

}  // namespace hearth::experiment
