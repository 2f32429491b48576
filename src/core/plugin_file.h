#pragma once

#include <string>
#include <string_view>

namespace hearth {

/// A plugin file to open, and its description in error texts.
struct PluginFile {
  std::string path;
  std::string description;
  bool beside = false;  ///< in the folder of this library
};

/// Finds a plugin: the file that the environment variable names, else the file beside this library,
/// else the one that the loader finds.
PluginFile find_plugin(const char* file, const char* variable);

/// The name of a missing library in a message of the loader; empty if the message is another one.
std::string_view missing_library(std::string_view message);

/// Opens a plugin; on failure returns null and sets the loader's message.
void* open_plugin(const PluginFile& file, std::string& message);

}  // namespace hearth
