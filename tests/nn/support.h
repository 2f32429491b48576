#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/throws.h"

namespace hearth::testing {

inline ::testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << text << "\" does not contain \"" << part << "\"";
}

}  // namespace hearth::testing
