// Paths of the files in tests/fixtures.
#pragma once

#include <cstdlib>
#include <string>

namespace hearth::testing {

/// The path of a file in tests/fixtures. HEARTH_TEST_FIXTURES in the environment overrides the
/// folder, for tests that run on another machine than they were built on.
inline std::string fixture_path(const std::string& name) {
  const char* const folder = std::getenv("HEARTH_TEST_FIXTURES");
  return std::string(folder ? folder : HEARTH_TEST_FIXTURES) + "/" + name;
}

}  // namespace hearth::testing
