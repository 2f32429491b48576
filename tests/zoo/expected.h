// Names, sizes and outputs of models in PyTorch: tests/fixtures/zoo.txt, written by
// tests/oracle/zoo.py.
#pragma once

#include <functional>
#include <string>

#include "hearth/nn/module.h"

namespace hearth::testing {

/// Expects that the model's state has the names and sizes of the fixture's model `name`. Then fills
/// the state with the script's values and expects that run() returns the fixture's output.
void expect_model(const std::string& name, nn::Module& model, const std::function<Tensor()>& run);

}  // namespace hearth::testing
