// Paths of the files in tests/fixtures.
#pragma once

#include <cstdlib>
#include <string>

namespace hearth::testing {

/// The folder tests/fixtures of the sources. Defined in a generated source: if the tests' own
/// sources contained the path, checkouts could not share their objects in the compiler cache.
extern const char* const fixtures_folder;

/// The path of a file in tests/fixtures. HEARTH_TEST_FIXTURES in the environment overrides the
/// folder, for tests that run on another machine than they were built on.
inline std::string fixture_path(const std::string& name) {
  const char* const folder = std::getenv("HEARTH_TEST_FIXTURES");
  return std::string(folder ? folder : fixtures_folder) + "/" + name;
}

}  // namespace hearth::testing
