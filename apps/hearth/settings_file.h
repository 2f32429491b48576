#pragma once

#include <toml++/toml.h>
#include <string>

namespace hearth::app {

/// The content of a TOML file or pipe of at most 64 KiB.
toml::table read_settings(const std::string& path);

/// "settings.toml:3", for errors.
std::string location(const std::string& path, const toml::node& node);

}  // namespace hearth::app
