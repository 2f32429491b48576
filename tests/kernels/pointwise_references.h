#pragma once

#include <string>

namespace hearth::testing {

/// The value of an elementwise op for inputs `x`, written from its documentation with the standard
/// library, independently of the functors.
using PointwiseReference = long double (*)(const long double* x);

/// The reference of an op such as "div.trunc", with the parameters of the formula tests; null if
/// none exists.
PointwiseReference pointwise_reference(const std::string& full_name);

}  // namespace hearth::testing
