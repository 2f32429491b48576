// The oracle's models: tests/fixtures/zoo.txt, written by tests/oracle/zoo.py.
#pragma once

#include <functional>
#include <string>

#include "hearth/nn/module.h"

namespace hearth::testing {

/// Expects that the model's state has the names and sizes of the oracle's model `name`, and after
/// filling it with the script's values, that run() gives the same output.
void expect_model(const std::string& name, nn::Module& model, const std::function<Tensor()>& run);

}  // namespace hearth::testing
