#pragma once

#include "ATen/core/ivalue.h"
#include "hearth/io/jit.h"

namespace torch::jit {
using hearth::IValue;
using hearth::jit::load;
using hearth::jit::Module;
namespace script {
using hearth::jit::Module;
}
}  // namespace torch::jit
