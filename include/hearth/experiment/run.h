#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hearth/device.h"
#include "hearth/export.h"

namespace hearth::experiment {

/// A value of a parameter: an integer, a floating-point number, a bool, a text or a device.
class HEARTH_API Value {
 public:
  Value(bool value) : value_(value) {}
  template <std::integral T>
  Value(T value) : value_(checked(static_cast<int64_t>(value), std::in_range<int64_t>(value))) {}
  template <std::floating_point T>
  Value(T value) : value_(static_cast<double>(value)) {}
  Value(std::string text) : value_(std::move(text)) {}
  Value(const char* text) : value_(std::string(text)) {}
  Value(const Device& device);  ///< as text: "cuda:0"
  Value(DeviceType type) : Value(Device(type)) {}

  /// The value as a bool, an integer, a floating-point number, a std::string or a Device. An
  /// integer also converts to a floating-point type, and a text that names a device to a Device;
  /// all other conversions between types throw an error with the parameter's name.
  template <class T>
  T to(const std::string& name = "value") const {
    if constexpr (std::is_same_v<T, bool>)
      return to_bool(name);
    else if constexpr (std::integral<T>)
      return static_cast<T>(to_int(name, [](int64_t value) { return std::in_range<T>(value); }));
    else if constexpr (std::floating_point<T>)
      return static_cast<T>(to_double(name));
    else if constexpr (std::is_same_v<T, Device>)
      return to_device(name);
    else
      return to_text(name);
  }

  std::string str() const;  ///< "0.01", "true", "cuda"; a number reads back as the same number
  const std::variant<std::string, int64_t, double, bool>& variant() const { return value_; }
  bool operator==(const Value& other) const = default;

 private:
  static int64_t checked(int64_t value, bool fits);
  bool to_bool(const std::string& name) const;
  int64_t to_int(const std::string& name, bool (*fits)(int64_t)) const;
  double to_double(const std::string& name) const;
  Device to_device(const std::string& name) const;
  const std::string& to_text(const std::string& name) const;

  std::variant<std::string, int64_t, double, bool> value_;
};

/// One combination of parameter values.
class HEARTH_API Run {
 public:
  using Item = std::pair<std::string, Value>;

  Run() = default;
  Run(std::initializer_list<Item> items) : Run(std::vector<Item>(items)) {}
  explicit Run(std::vector<Item> items);  ///< throws if a name is empty or repeated

  bool contains(const std::string& name) const;
  const Value& operator[](const std::string& name) const;  ///< throws if there is no such parameter
  /// The parameter's value as a T; Value::to has the conversions.
  template <class T>
  T get(const std::string& name) const {
    return (*this)[name].to<T>(name);
  }
  /// The parameter's value, or `otherwise` if there is no such parameter (Python's getattr).
  template <class T>
  T get(const std::string& name, T otherwise) const {
    return contains(name) ? get<T>(name) : otherwise;
  }
  const std::vector<Item>& items() const { return items_; }  ///< in the order of their definition
  bool operator==(const Run& other) const = default;

 private:
  std::vector<Item> items_;
};

/// Run(lr=0.01, batch_size=1000)
HEARTH_API std::ostream& operator<<(std::ostream& stream, const Run& run);

}  // namespace hearth::experiment
