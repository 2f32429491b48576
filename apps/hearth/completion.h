#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hearth::app {

/// The shells that completion_script supports.
const std::vector<std::string>& shells();
/// A shell script that completes the program's commands, flags and values.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace hearth::app
