#pragma once

#include <string>

namespace hearth::test {

/// What an elementwise op computes, from its documentation and the standard library alone; `x` are
/// its inputs. The functors' own text is not used.
using PointwiseReference = long double (*)(const long double* x);

/// The reference of "div.trunc", of parameters as the formula tests choose them; null if there is
/// none.
PointwiseReference pointwise_reference(const std::string& full_name);

}  // namespace hearth::test
