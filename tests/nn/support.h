#pragma once

#include <gtest/gtest.h>

#include <string>

#include "hearth/error.h"

namespace hearth::testing {

/// What the function throws says.
template <class F>
std::string error_of(F&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

inline ::testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << text << "\" does not contain \"" << part << "\"";
}

}  // namespace hearth::testing

#define EXPECT_ERROR(statement, part)      \
  EXPECT_TRUE(::hearth::testing::contains( \
      ::hearth::testing::error_of([&] { static_cast<void>(statement); }), part))
