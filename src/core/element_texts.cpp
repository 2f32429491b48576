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
  bool whole = true;
  bool scientific = false;

  explicit RealFormat(const std::vector<double>& regular) {
    if (regular.empty()) return;
    double least = INFINITY, most = 0;
    for (double value : regular) {
      whole = whole && value == std::ceil(value);
      least = std::min(least, std::abs(value));
      most = std::max(most, std::abs(value));
    }
    scientific = most / least > 1000.0 || most > 1.0e8 || least < 1.0e-4;
  }
  std::string operator()(double value) const {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    if (scientific) return formatted("%.*e", kPrecision, value);
    return whole ? formatted("%.*f", 0, value) + "." : formatted("%.*f", kPrecision, value);
  }
};

void pad(ElementTexts& elements) {
  for (std::string& text : elements.texts)
    if (text.size() < elements.width) text.insert(0, elements.width - text.size(), ' ');
}

/// The texts of the values, padded to the width of the widest.
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

/// Writes the brackets dimension by dimension.
class Brackets {
 public:
  Brackets(const ElementTexts& elements, IntArrayRef sizes, bool summarized)
      : elements_(elements), sizes_(sizes), summarized_(summarized) {}

  std::string block(size_t dim, size_t indent) {
    if (dim == sizes_.size()) return elements_.texts[next_++];
    if (dim + 1 == sizes_.size()) return line(indent);
    std::vector<std::string> parts;
    for (int64_t i = 0; i < shown(dim); ++i) {
      if (cut(dim) && i == kEdgeItems) parts.push_back("...");
      parts.push_back(block(dim + 1, indent + 1));
    }
    const std::string gap(sizes_.size() - dim - 1, '\n');
    return '[' + joined(parts, ',' + gap + std::string(indent + 1, ' ')) + ']';
  }

 private:
  bool cut(size_t dim) const { return summarized_ && sizes_[dim] > 2 * kEdgeItems; }
  int64_t shown(size_t dim) const { return cut(dim) ? 2 * kEdgeItems : sizes_[dim]; }

  static std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
    std::string text;
    for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : separator) + parts[i];
    return text;
  }

  std::string line(size_t indent) {
    const size_t room = kLineWidth > indent ? kLineWidth - indent : 0;
    const size_t per_line = std::max<size_t>(1, room / (elements_.width + 2));
    const size_t last = sizes_.size() - 1;
    std::vector<std::string> lines, parts;
    const auto add = [&](const std::string& part) {
      if (parts.size() == per_line) {
        lines.push_back(joined(parts, ", "));
        parts.clear();
      }
      parts.push_back(part);
    };
    for (int64_t i = 0; i < shown(last); ++i) {
      if (cut(last) && i == kEdgeItems) add(" ...");
      add(elements_.texts[next_++]);
    }
    lines.push_back(joined(parts, ", "));
    return '[' + joined(lines, ",\n" + std::string(indent + 1, ' ')) + ']';
  }

  const ElementTexts& elements_;
  IntArrayRef sizes_;
  bool summarized_;
  size_t next_ = 0;  // element
};

}  // namespace

ElementTexts texts_of(const std::vector<double>& values) {
  std::vector<double> regular;
  for (double value : values)
    if (std::isfinite(value) && value != 0) regular.push_back(value);
  const RealFormat format(regular);
  // Zeros, infinities and NaN do not widen the column.
  ElementTexts elements;
  elements.width = padded_texts(regular, format).width;
  for (double value : values) elements.texts.push_back(format(value));
  pad(elements);
  return elements;
}

ElementTexts texts_of(const std::vector<int64_t>& values) {
  return padded_texts(values, [](int64_t value) { return std::to_string(value); });
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
