#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace hearth::testing {

/// The message of the exception that f throws.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace hearth::testing

#define EXPECT_ERROR(statement, text)                                            \
  do {                                                                           \
    const std::string message = ::hearth::testing::error_of([&] { statement; }); \
    EXPECT_NE(message.find(text), std::string::npos) << "message: " << message;  \
  } while (false)
