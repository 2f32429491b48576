#pragma once

#include "c10/namespaces.h"
#include "hearth/autograd.h"

// LibTorch has these names in two places.
namespace hearth::autograd {
using hearth::AutoGradMode;
using hearth::GradMode;
using hearth::InferenceMode;
using hearth::NoGradGuard;
}  // namespace hearth::autograd
