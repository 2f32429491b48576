#pragma once

#include <string_view>
#include <type_traits>

namespace hearth {

/// The padding of a convolution by name. Not a plain string_view, which {0, 0} would convert to.
class PaddingName {
 public:
  template <class S, std::enable_if_t<std::is_convertible_v<const S&, std::string_view>, int> = 0>
  PaddingName(const S& name) : name_(name) {}
  std::string_view name() const { return name_; }

 private:
  std::string_view name_;
};

}  // namespace hearth
