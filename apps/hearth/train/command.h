#pragma once

namespace CLI {
class App;
}

namespace hearth::app {

/// `hearth train`: trains a network for each point of a grid of settings.
void add_train(CLI::App& app);

}  // namespace hearth::app
