#pragma once

#include "c10/namespaces.h"
#include "hearth/autograd.h"

// LibTorch declares these names in two namespaces.
namespace hearth::autograd {
using hearth::AutoGradMode;
using hearth::GradMode;
using hearth::InferenceMode;
using hearth::NoGradGuard;
}  // namespace hearth::autograd
