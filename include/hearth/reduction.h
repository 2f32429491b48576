#pragma once

namespace hearth {

namespace Reduction {

/// Reduction of a loss over its elements.
enum Reduction { None, Mean, Sum, END };

}  // namespace Reduction

}  // namespace hearth
