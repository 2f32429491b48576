#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace hearth::app {

/// Accepts the names of devices.
CLI::Validator device_name();

/// Throws if one of the devices does not exist, and says why.
void check_devices(const std::vector<std::string>& names);

/// A line with the full name of each device. If the user chose none, it says why no GPU was found.
std::string devices_text(const std::vector<std::string>& names, bool by_user);

}  // namespace hearth::app
