#include "hearth/nn/any.h"

namespace hearth::nn::detail {

std::vector<AnyValue> with_defaults(std::vector<AnyValue>&& arguments,
                                    const DefaultArgs& defaults) {
  std::vector<AnyValue> result = std::move(arguments);
  for (const auto& [position, value] : defaults)
    if (position >= result.size()) result.push_back(value);
  return result;
}

void check_argument_count(size_t given, size_t expected, const char* type) {
  if (given == expected) return;
  const std::string method = demangle(type) + "'s forward() method";
  std::string advice;
  if (given < expected)
    advice = " If " + method +
             " has default arguments, please make sure the forward() method is declared with a "
             "corresponding `FORWARD_HAS_DEFAULT_ARGS` macro.";
  hearth::detail::fail<Error>(method, " expects ", expected, " argument(s), but received ", given,
                              ".", advice);
}

void check_argument_count(size_t given, size_t required, size_t maximum, const char* type) {
  HEARTH_CHECK(given >= required && given <= maximum, demangle(type),
               "'s forward() method expects at least ", required, " argument(s) and at most ",
               maximum, " argument(s), but received ", given, ".");
}

}  // namespace hearth::nn::detail
