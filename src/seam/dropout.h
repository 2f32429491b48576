#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// mask = true with probability 1 - p; out = in * mask / (1 - p), rounded as in PyTorch. All views
/// have the same sizes. Numbers are drawn as for RandomParams' kBernoulli; with source.mt, in the
/// memory order of `mask`.
struct DropoutParams {
  View in, out;  // floating, one dtype
  View mask;     // bool
  double p = 0.5;
  RandomSource source;
};

}  // namespace hearth
