#pragma once

#include <string_view>
#include <type_traits>

namespace hearth {

/// Name of a padding, such as "same". Not a string_view, to which {0, 0} would convert.
class PaddingName {
 public:
  template <class S, std::enable_if_t<std::is_convertible_v<const S&, std::string_view>, int> = 0>
  PaddingName(const S& name) : name_(name) {}
  std::string_view name() const { return name_; }

 private:
  std::string_view name_;
};

}  // namespace hearth
