#include "hearth/nn/any.h"

namespace hearth::nn::detail {

std::vector<AnyValue> with_defaults(std::vector<AnyValue>&& arguments,
                                    const DefaultArgs& defaults) {
  std::vector<AnyValue> result = std::move(arguments);
  for (const auto& [position, value] : defaults)
    if (position >= result.size()) result.push_back(value);
  return result;
}

void check_argument_count(size_t count, size_t expected, const char* type) {
  if (count == expected) return;
  const std::string method = demangle(type) + "'s forward() method";
  std::string advice;
  if (count < expected)
    advice = " If " + method +
             " has default arguments, please make sure the forward() method is declared with a "
             "corresponding `FORWARD_HAS_DEFAULT_ARGS` macro.";
  hearth::detail::fail<Error>(method, " expects ", expected, " argument(s), but received ", count,
                              ".", advice);
}

void check_argument_count(size_t count, size_t required, size_t max_count, const char* type) {
  HEARTH_CHECK(count >= required && count <= max_count, demangle(type),
               "'s forward() method expects at least ", required, " argument(s) and at most ",
               max_count, " argument(s), but received ", count, ".");
}

}  // namespace hearth::nn::detail
