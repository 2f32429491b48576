#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace hearth::testing {

/// The message of the exception that f throws; "no error" if it throws none.
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

/// Checks that the statement throws an exception whose message contains the text.
#define EXPECT_ERROR(statement, text)                                                      \
  do {                                                                                     \
    const std::string message_of_error_ = ::hearth::testing::error_of([&] { statement; }); \
    EXPECT_NE(message_of_error_.find(text), std::string::npos)                             \
        << "message: " << message_of_error_;                                               \
  } while (false)
