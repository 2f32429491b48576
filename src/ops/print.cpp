// Tensors as text, exactly as Python's PyTorch prints them.
#include <iostream>

#include "core/element_texts.h"
#include "core/tensor_impl.h"
#include "hearth/autograd.h"
#include "hearth/float8.h"

namespace hearth {

namespace {

constexpr std::string_view kPrefix = "tensor(";

/// The elements that a summary shows.
Tensor edges_of(Tensor tensor) {
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    const int64_t size = tensor.size(d);
    if (size > 2 * kEdgeItems)
      tensor = cat(
          {tensor.narrow(d, 0, kEdgeItems), tensor.narrow(d, size - kEdgeItems, kEdgeItems)}, d);
  }
  return tensor;
}

/// The elements of a contiguous CPU tensor of T, converted.
template <class To, class T>
std::vector<To> read(const Tensor& tensor, To (*convert)(T)) {
  const T* data = tensor.data_ptr<T>();
  std::vector<To> values;
  values.reserve(static_cast<size_t>(tensor.numel()));
  for (int64_t i = 0; i < tensor.numel(); ++i) values.push_back(convert(data[i]));
  return values;
}

template <class T>
ElementTexts read_texts(const Tensor& tensor) {
  if constexpr (is_complex(dtype_of<T>)) {
    const auto real = read<double, T>(tensor, [](T value) { return double(value.real_); });
    const auto imag = read<double, T>(tensor, [](T value) { return double(value.imag_); });
    return complex_texts(texts_of(real), texts_of(imag));
  } else if constexpr (is_floating_point(dtype_of<T>)) {
    return texts_of(read<double, T>(tensor, [](T value) { return double(value); }));
  } else if constexpr (dtype_of<T> == kUInt64) {
    return texts_of(read<uint64_t, T>(tensor, [](T value) { return value; }));
  } else if constexpr (dtype_of<T> == kBool) {
    return texts_of(read<bool, T>(tensor, [](T value) { return value; }));
  } else {
    return texts_of(read<int64_t, T>(tensor, [](T value) { return int64_t(value); }));
  }
}

std::string contents(const Tensor& tensor) {
  if (tensor.is_meta()) return "...";
  if (tensor.numel() == 0) return "[]";
  const bool is_summarized = tensor.numel() > kSummaryThreshold;
  const Tensor shown = (is_summarized ? edges_of(tensor) : tensor).cpu().contiguous();
  switch (tensor.scalar_type()) {
#define HEARTH_TEXTS(type, Name) \
  case ScalarType::Name:         \
    return bracketed(read_texts<type>(shown), tensor.sizes(), is_summarized, kPrefix.size());
    HEARTH_ALL_DTYPES(HEARTH_TEXTS)
#undef HEARTH_TEXTS
    default: return "";
  }
}

/// "(2, 3)", "(2,)", "()".
std::string python_tuple(IntArrayRef values) {
  std::string text = to_string(values);
  text.front() = '(';
  text.pop_back();
  return text + (values.size() == 1 ? ",)" : ")");
}

/// Whether the printed elements imply the dtype, so that it is not printed.
bool dtype_is_evident(const Tensor& tensor) {
  const ScalarType type = tensor.scalar_type(), default_type = get_default_dtype();
  if (tensor.is_meta() || tensor.numel() == 0) return type == default_type;
  return type == default_type || type == kLong || type == kBool || type == to_complex(default_type);
}

std::vector<std::string> suffixes_of(const Tensor& tensor) {
  std::vector<std::string> suffixes;
  if (!tensor.is_cpu()) suffixes.push_back("device='" + tensor.device().str() + "'");
  if (tensor.is_meta() || (tensor.numel() == 0 && tensor.dim() != 1))
    suffixes.push_back("size=" + python_tuple(tensor.sizes()));
  if (!dtype_is_evident(tensor))
    suffixes.push_back(detail::str("dtype=torch.", python_name_of(tensor.scalar_type())));
  if (tensor.grad_fn())
    suffixes.push_back("grad_fn=<" + tensor.grad_fn()->name() + ">");
  else if (tensor.requires_grad())
    suffixes.push_back("requires_grad=True");
  return suffixes;
}

/// Appends ", suffix" for each, on a new line where the line would become too long.
std::string with_suffixes(std::string text, const std::vector<std::string>& suffixes) {
  // As in PyTorch, the last line counts as two characters longer than it is.
  const size_t newline = text.rfind('\n');
  size_t width = newline == std::string::npos ? text.size() + 2 : text.size() - newline + 1;
  for (const std::string& suffix : suffixes) {
    if (width + suffix.size() + 2 > kLineWidth) {
      text += ",\n" + std::string(kPrefix.size(), ' ') + suffix;
      width = kPrefix.size() + suffix.size();
    } else {
      text += ", " + suffix;
      width += suffix.size() + 2;
    }
  }
  return text + ")";
}

}  // namespace

std::string as_text(const Tensor& tensor) {
  if (!tensor.defined()) return "[ Tensor (undefined) ]";
  const std::vector<std::string> suffixes = suffixes_of(tensor);
  const AutoGradMode off(false);
  return with_suffixes(std::string(kPrefix) + contents(tensor.detach()), suffixes);
}

std::ostream& operator<<(std::ostream& stream, const Tensor& tensor) {
  return stream << to_string(tensor);
}

void Tensor::print() const { std::cout << to_string(*this) << '\n'; }

}  // namespace hearth
