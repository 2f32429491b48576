#pragma once

namespace hearth {

namespace Reduction {

/// What a loss does with its elements' values.
enum Reduction { None, Mean, Sum, END };

}  // namespace Reduction

}  // namespace hearth
