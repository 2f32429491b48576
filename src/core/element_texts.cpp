#include "core/element_texts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace hearth {

namespace {

constexpr int kPrecision = 4;

std::string formatted(const char* format, int precision, double value) {
  char text[400];  // the longest double has 309 digits before the point
  const int length = std::snprintf(text, sizeof text, format, precision, value);
  return std::string(text, static_cast<size_t>(length));
}

/// The common format of all numbers of a tensor.
struct RealFormat {
  bool is_whole = true;
  bool is_scientific = false;

  explicit RealFormat(const std::vector<double>& finite_nonzero) {
    if (finite_nonzero.empty()) return;
    double smallest = INFINITY, largest = 0;
    for (double value : finite_nonzero) {
      is_whole = is_whole && value == std::ceil(value);
      smallest = std::min(smallest, std::abs(value));
      largest = std::max(largest, std::abs(value));
    }
    // PyTorch's thresholds.
    is_scientific = largest / smallest > 1000.0 || largest > 1.0e8 || smallest < 1.0e-4;
  }
  std::string operator()(double value) const {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    if (is_scientific) return formatted("%.*e", kPrecision, value);
    return is_whole ? formatted("%.*f", 0, value) + "." : formatted("%.*f", kPrecision, value);
  }
};

void pad(ElementTexts& elements) {
  for (std::string& text : elements.texts)
    if (text.size() < elements.width) text.insert(0, elements.width - text.size(), ' ');
}

/// Returns the texts of the values, padded to the width of the widest.
template <class Values, class Write>
ElementTexts padded_texts(const Values& values, Write write) {
  ElementTexts elements;
  for (auto value : values) {
    elements.texts.push_back(write(value));
    elements.width = std::max(elements.width, elements.texts.back().size());
  }
  pad(elements);
  return elements;
}

/// Joins the texts of elements in nested brackets.
class Brackets {
 public:
  Brackets(const ElementTexts& elements, IntArrayRef sizes, bool summarized)
      : elements_(elements), sizes_(sizes), summarized_(summarized) {}

  std::string block(size_t dim, size_t indent) {
    if (dim == sizes_.size()) return elements_.texts[next_element_++];
    if (dim + 1 == sizes_.size()) return line(indent);
    std::vector<std::string> parts;
    for (int64_t i = 0; i < num_shown(dim); ++i) {
      if (is_cut(dim) && i == kEdgeItems) parts.push_back("...");
      parts.push_back(block(dim + 1, indent + 1));
    }
    const std::string gap(sizes_.size() - dim - 1, '\n');
    return '[' + joined(parts, ',' + gap + std::string(indent + 1, ' ')) + ']';
  }

 private:
  bool is_cut(size_t dim) const { return summarized_ && sizes_[dim] > 2 * kEdgeItems; }
  int64_t num_shown(size_t dim) const { return is_cut(dim) ? 2 * kEdgeItems : sizes_[dim]; }

  static std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
    std::string text;
    for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : separator) + parts[i];
    return text;
  }

  std::string line(size_t indent) {
    const size_t available = kLineWidth > indent ? kLineWidth - indent : 0;
    const size_t per_line = std::max<size_t>(1, available / (elements_.width + 2));
    const size_t last = sizes_.size() - 1;
    std::vector<std::string> lines, parts;
    const auto add = [&](const std::string& part) {
      if (parts.size() == per_line) {
        lines.push_back(joined(parts, ", "));
        parts.clear();
      }
      parts.push_back(part);
    };
    for (int64_t i = 0; i < num_shown(last); ++i) {
      if (is_cut(last) && i == kEdgeItems) add(" ...");
      add(elements_.texts[next_element_++]);
    }
    lines.push_back(joined(parts, ", "));
    return '[' + joined(lines, ",\n" + std::string(indent + 1, ' ')) + ']';
  }

  const ElementTexts& elements_;
  IntArrayRef sizes_;
  bool summarized_;
  size_t next_element_ = 0;
};

}  // namespace

ElementTexts texts_of(const std::vector<double>& values) {
  std::vector<double> finite_nonzero;
  for (double value : values)
    if (std::isfinite(value) && value != 0) finite_nonzero.push_back(value);
  const RealFormat format(finite_nonzero);
  // Zeros, infinities and NaN do not widen the column.
  ElementTexts elements;
  elements.width = padded_texts(finite_nonzero, format).width;
  for (double value : values) elements.texts.push_back(format(value));
  pad(elements);
  return elements;
}

ElementTexts texts_of(const std::vector<int64_t>& values) {
  return padded_texts(values, [](int64_t value) { return std::to_string(value); });
}

ElementTexts texts_of(const std::vector<uint64_t>& values) {
  return padded_texts(values, [](uint64_t value) { return std::to_string(value); });
}

ElementTexts texts_of(const std::vector<bool>& values) {
  return padded_texts(values, [](bool value) { return std::string(value ? "True" : "False"); });
}

ElementTexts complex_texts(ElementTexts real, const ElementTexts& imag) {
  for (size_t i = 0; i < real.texts.size(); ++i) {
    const std::string part = imag.texts[i].substr(imag.texts[i].find_first_not_of(' '));
    real.texts[i] += (part[0] == '-' ? "" : "+") + part + 'j';
  }
  real.width += imag.width + 1;
  return real;
}

std::string bracketed(const ElementTexts& elements, IntArrayRef sizes, bool summarized,
                      size_t indent) {
  return Brackets(elements, sizes, summarized).block(0, indent);
}

}  // namespace hearth
