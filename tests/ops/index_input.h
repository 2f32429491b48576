#pragma once

#include "tests/support/op_table.h"

namespace hearth::testing {

/// An input of indices in [0, below).
inline Input indices(std::vector<int64_t> sizes, int64_t below) {
  return {std::move(sizes), Draw::kIndex, below};
}

}  // namespace hearth::testing
