#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hearth/shape.h"

namespace hearth {

/// The elements of a tensor as PyTorch prints them in Python.
struct ElementTexts {
  std::vector<std::string> texts;  // of real numbers: padded to `width`
  // The widest finite nonzero element, for line breaks; zeros, infinities and NaN may be wider.
  size_t width = 1;
};

/// Returns the texts of all elements. Floating-point numbers have one format, chosen by the finite
/// nonzero ones: "2." (if all are whole), "0.5000" or "5.0000e-01".
ElementTexts texts_of(const std::vector<double>& values);
ElementTexts texts_of(const std::vector<int64_t>& values);
ElementTexts texts_of(const std::vector<uint64_t>& values);
ElementTexts texts_of(const std::vector<bool>& values);
/// Joins the texts of the parts of complex numbers: "1.0000-2.0000j".
ElementTexts complex_texts(ElementTexts real, const ElementTexts& imag);

/// Tensors with more elements than this are summarized: only kEdgeItems at either end of each
/// dimension are printed.
inline constexpr int64_t kSummaryThreshold = 1000;
inline constexpr int64_t kEdgeItems = 3;
inline constexpr size_t kLineWidth = 80;

/// Joins the elements of a tensor in nested brackets. `sizes` are the whole tensor's. If
/// `summarized`, `elements` has only the elements at the edges, and "..." replaces the others.
std::string bracketed(const ElementTexts& elements, IntArrayRef sizes, bool summarized,
                      size_t indent);

}  // namespace hearth
