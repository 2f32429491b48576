#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hearth/shape.h"

namespace hearth {

/// The elements of a tensor as Python's PyTorch writes them.
struct ElementTexts {
  std::vector<std::string> texts;  // padded to one width
  size_t width = 1;                // what lines are broken by
};

/// All alike, as the finite nonzero ones need it: "2." if all are whole, else "0.5000" or
/// "5.0000e-01".
ElementTexts texts_of(const std::vector<double>& values);
ElementTexts texts_of(const std::vector<int64_t>& values);
ElementTexts texts_of(const std::vector<bool>& values);
/// "1.0000-2.0000j"; takes both lists over.
ElementTexts complex_texts(ElementTexts real, const ElementTexts& imag);

/// Tensors of more elements show only kEdgeItems at either end of each dimension.
inline constexpr int64_t kSummaryThreshold = 1000;
inline constexpr int64_t kEdgeItems = 3;
inline constexpr size_t kLineWidth = 80;

/// Nested brackets around the elements of a tensor. `sizes` are the tensor's own; if `summarized`,
/// the texts are those of the edges only, and "..." stands for what is left out.
std::string bracketed(const ElementTexts& elements, IntArrayRef sizes, bool summarized,
                      size_t indent);

}  // namespace hearth
