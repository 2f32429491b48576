// Where the tests' files lie.
#pragma once

#include <cstdlib>
#include <string>

namespace hearth::testing {

/// The path of a file of tests/data, which HEARTH_TEST_DATA in the environment may name where the
/// tests run elsewhere than they were built.
inline std::string data_file(const std::string& name) {
  const char* const folder = std::getenv("HEARTH_TEST_DATA");
  return std::string(folder ? folder : HEARTH_TEST_DATA) + "/" + name;
}

}  // namespace hearth::testing
