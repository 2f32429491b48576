#pragma once

#include <string>

namespace hearth::app {

/// An executable file, or why there is none.
struct ProgramFile {
  std::string path;
  std::string problem;
};

/// Finds a program as a shell does: a name with a slash is a path, others are searched in PATH.
/// Relative paths start at the directory, which may be empty for the current one.
ProgramFile find_program(const std::string& name, const std::string& directory);

/// A text that differs for files with different contents; empty if the file cannot be read.
std::string fingerprint(const std::string& path);

}  // namespace hearth::app
