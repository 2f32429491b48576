#pragma once

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hearth::app {

/// `hearth launch`: starts the ranks of a distributed program. The program's arguments, which
/// take_program_arguments() has removed from the command line, are read when the command runs.
void add_launch(CLI::App& app, std::shared_ptr<const std::vector<std::string>> program_arguments);

}  // namespace hearth::app
