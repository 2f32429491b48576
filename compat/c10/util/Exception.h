#pragma once

#include <string>

#include "c10/macros/Macros.h"
#include "c10/namespaces.h"
#include "c10/util/StringUtil.h"
#include "c10/util/Warning.h"
#include "hearth/error.h"

/// Throws Type with the concatenated message parts, or with `default_message` if there are none. A
/// plain `if`, because programs may use LibTorch's checks without a semicolon.
#define HEARTH_CHECK_STREAMED(Type, condition, default_message, ...)                               \
  if (!(condition)) [[unlikely]] {                                                                 \
    ::hearth::detail::fail<::c10::Type>(sizeof(#__VA_ARGS__) == 1 ? ::std::string(default_message) \
                                                                  : ::c10::str(__VA_ARGS__));      \
  }

#define TORCH_CHECK_WITH(Type, condition, ...)                                             \
  HEARTH_CHECK_STREAMED(Type, condition,                                                   \
                        "Expected " #condition                                             \
                        " to be true, but got false.  (Could this "                        \
                        "error message be improved?  If so, please report an enhancement " \
                        "request.)" __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK(condition, ...) TORCH_CHECK_WITH(Error, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) TORCH_CHECK_WITH(IndexError, condition, __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) TORCH_CHECK_WITH(ValueError, condition, __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) TORCH_CHECK_WITH(TypeError, condition, __VA_ARGS__)
#define TORCH_CHECK_LINALG(condition, ...) TORCH_CHECK_WITH(LinAlgError, condition, __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  TORCH_CHECK_WITH(NotImplementedError, condition, __VA_ARGS__)
#define TORCH_CHECK_ARG(condition, position, ...) \
  TORCH_CHECK(condition, "invalid argument ", position, ": ", __VA_ARGS__)

#define TORCH_CHECK_OP(a, b, op) \
  TORCH_CHECK((a)op(b), "Check failed: " #a " " #op " " #b " (", (a), " vs. ", (b), "). ")
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK_OP(a, b, ==)
#define TORCH_CHECK_NE(a, b) TORCH_CHECK_OP(a, b, !=)
#define TORCH_CHECK_LE(a, b) TORCH_CHECK_OP(a, b, <=)
#define TORCH_CHECK_LT(a, b) TORCH_CHECK_OP(a, b, <)
#define TORCH_CHECK_GE(a, b) TORCH_CHECK_OP(a, b, >=)
#define TORCH_CHECK_GT(a, b) TORCH_CHECK_OP(a, b, >)

/// Checks an invariant that only a bug in the program can violate.
#define TORCH_INTERNAL_ASSERT(condition, ...)                                                     \
  TORCH_CHECK(condition, #condition " INTERNAL ASSERT FAILED at \"" __FILE__ "\":" C10_STRINGIZE( \
                             __LINE__) ", please report a bug. " __VA_OPT__(, ) __VA_ARGS__)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  while (false) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
#define C10_THROW_ERROR(Type, message) \
  throw ::c10::Type({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, message)
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_INTERNAL_ASSERT(condition, __VA_ARGS__)
#define AT_ERROR(...) TORCH_CHECK(false, __VA_ARGS__)
