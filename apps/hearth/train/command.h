#pragma once

namespace CLI {
class App;
}

namespace hearth::app {

/// `hearth train`: trains a network for each combination of the given settings.
void add_train(CLI::App& app);

}  // namespace hearth::app
