#include "settings_file.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "hearth/error.h"
#include "names.h"

namespace hearth::app {

namespace {

/// The content of a file or pipe. Its size is limited, because toml++ recurses into dotted keys.
std::string limited_content_of(const std::string& path) {
  constexpr size_t kLargest = 64 << 10;
  std::error_code error;
  HEARTH_CHECK(!std::filesystem::is_directory(path, error), "cannot read '", path,
               "': it is a folder");
  std::ifstream file(path, std::ios::binary);
  HEARTH_CHECK(file, "cannot read '", path, "': ", std::strerror(errno));
  std::string text(kLargest + 1, '\0');
  file.read(text.data(), std::streamsize(text.size()));
  text.resize(size_t(file.gcount()));
  HEARTH_CHECK(text.size() <= kLargest, "cannot read '", path,
               "': a file with settings may have at most ", kLargest, " bytes");
  return text;
}

}  // namespace

toml::table read_settings(const std::string& path) {
  const std::string text = limited_content_of(path);
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw CLI::ValidationError(
        detail::str("cannot read '", path, "'"),
        detail::str("line ", error.source().begin.line, ", column ", error.source().begin.column,
                    ": ", printable(std::string(error.description()))));
  }
}

std::string location(const std::string& path, const toml::node& node) {
  return path + ":" + std::to_string(node.source().begin.line);
}

}  // namespace hearth::app
