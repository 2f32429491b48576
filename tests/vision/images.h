// The inputs of the tests of transforms.
#pragma once

#include "hearth/operators.h"
#include "hearth/vision.h"

namespace hearth::testing {

/// The image of tests/oracle/vision_cases.py.
inline Tensor image() {
  const Tensor i = arange(3 * 7 * 9);
  return i.mul(37).add(i.div(9, "floor").mul(11)).remainder(256).to(kByte).view({3, 7, 9});
}

inline vision::transforms::Corners corners() { return {{{0, 0}, {8, 0}, {8, 6}, {0, 6}}}; }

}  // namespace hearth::testing
