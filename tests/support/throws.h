#pragma once

#include <gtest/gtest.h>

#include <string>

#include "hearth/error.h"

namespace hearth::testing {

/// What `call` throws; empty if nothing.
template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace hearth::testing

#define EXPECT_THROWS_WITH(statement, text)                                              \
  do {                                                                                   \
    const std::string message = ::hearth::testing::message_of([&] { statement; });       \
    EXPECT_NE(message.find(text), std::string::npos) << "it says: \"" << message << '"'; \
  } while (false)
