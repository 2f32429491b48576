#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hearth/shape.h"

namespace hearth {

/// The elements of a tensor as PyTorch prints them in Python.
struct ElementTexts {
  std::vector<std::string> texts;  // padded to one width
  size_t width = 1;                // of one element, for line breaks
};

/// The texts of all elements, in one format chosen by the finite nonzero ones: "2." if all are
/// whole, else "0.5000" or "5.0000e-01".
ElementTexts texts_of(const std::vector<double>& values);
ElementTexts texts_of(const std::vector<int64_t>& values);
ElementTexts texts_of(const std::vector<bool>& values);
/// Complex numbers from the texts of their parts: "1.0000-2.0000j".
ElementTexts complex_texts(ElementTexts real, const ElementTexts& imag);

/// Of tensors with more elements, only kEdgeItems at either end of each dimension are printed.
inline constexpr int64_t kSummaryThreshold = 1000;
inline constexpr int64_t kEdgeItems = 3;
inline constexpr size_t kLineWidth = 80;

/// The elements of a tensor in nested brackets. `sizes` are those of the whole tensor; if
/// `summarized`, the texts are those of the edges only, and "..." replaces the omitted elements.
std::string bracketed(const ElementTexts& elements, IntArrayRef sizes, bool summarized,
                      size_t indent);

}  // namespace hearth
