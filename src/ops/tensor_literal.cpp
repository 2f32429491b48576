#include "hearth/tensor_literal.h"

#include <cstring>

#include "hearth/autograd.h"
#include "hearth/float8.h"

namespace hearth {

namespace detail {

namespace {

/// Returns "2 3" for {2, 3}.
std::string spaced(IntArrayRef sizes) {
  std::string text;
  for (int64_t size : sizes) text += (text.empty() ? "" : " ") + std::to_string(size);
  return text;
}

/// The number as T. As in PyTorch, types of up to 16 bits round a number beyond their range.
template <class T>
T element(const Scalar& number) {
  constexpr ScalarType kType = dtype_of<T>;
  if constexpr (is_rounded_float(kType))
    return static_cast<T>(static_cast<float>(number.toDouble()));
  else
    return number.to<T>();
}

template <class T>
char* write_number(char* to, const Scalar& number) {
  const T value = element<T>(number);
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

Scalar number_at(const void* data, ScalarType type, int64_t index) {
  switch (type) {
#define HEARTH_READ(cpp_type, Name) \
  case ScalarType::Name: return static_cast<const cpp_type*>(data)[index];
    HEARTH_DTYPES(HEARTH_READ)
#undef HEARTH_READ
    default: return 0;
  }
}

std::string number_text(const Scalar& number) {
  return number.isBoolean() ? std::to_string(int(number.toBool())) : to_string(number);
}

}  // namespace

TensorLiteral::TensorLiteral(std::initializer_list<TensorLiteral> parts)
    : dtype_(parts.begin()->dtype_), kind_(Kind::kList), parts_(parts) {
  const TensorLiteral& first = *parts.begin();
  for (const TensorLiteral& part : parts) {
    HEARTH_CHECK(part.sizes_ == first.sizes_,
                 "Expected all sub-lists to have sizes: ", spaced(first.sizes_), " (e.g. ",
                 first.str(), "), but got sub-list ", part.str(),
                 " with sizes: ", spaced(part.sizes_));
    HEARTH_CHECK(part.dtype_ == first.dtype_,
                 "Expected all elements of the tensor to have the same scalar type: ", first.dtype_,
                 ", but got element of scalar type: ", part.dtype_);
  }
  sizes_ = first.sizes_;
  sizes_.insert(0, int64_t(parts.size()));
}

std::string TensorLiteral::str() const {
  if (kind_ == Kind::kNumber) return number_text(number_);
  std::string text = "{";
  for (int64_t i = 0; i < sizes_[0]; ++i) {
    if (i > 0) text += ", ";
    text +=
        kind_ == Kind::kArray ? number_text(number_at(data_, dtype_, i)) : parts_.begin()[i].str();
  }
  return text + "}";
}

char* TensorLiteral::write(char* to, ScalarType type) const {
  if (kind_ == Kind::kList) {
    for (int64_t i = 0; i < sizes_[0]; ++i) to = parts_.begin()[i].write(to, type);
    return to;
  }
  if (kind_ == Kind::kArray) {
    const Tensor target = from_blob(to, sizes_, type);
    if (sizes_[0] > 0) target.copy_(from_blob(const_cast<void*>(data_), sizes_, dtype_));
    return to + target.nbytes();
  }
  switch (type) {
#define HEARTH_WRITE(cpp_type, Name) \
  case ScalarType::Name: return write_number<cpp_type>(to, number_);
    HEARTH_ALL_DTYPES(HEARTH_WRITE)
#undef HEARTH_WRITE
    default: return to;
  }
}

Tensor tensor_of(const TensorLiteral& values, const TensorOptions& options, LiteralDtype rule) {
  ScalarType type = values.dtype();
  if (rule == LiteralDtype::kAsInPython) {
    if (type == kInt) type = kLong;
    if (type == kFloat || type == kDouble) type = get_default_dtype();
  }
  type = options.dtype_opt().value_or(type);
  HEARTH_CHECK(!is_complex(values.dtype()) || is_complex(type),
               "can not do torch::tensor(complex, dtype=non-complex) "
               "because complex can not be casted to real number without loss of information");
  const bool is_on_host = options.device().is_cpu();
  TensorOptions host = TensorOptions(type).pinned_memory(is_on_host && options.pinned_memory());
  Tensor tensor = empty(values.sizes(), host.layout(options.layout_opt()));
  values.write(static_cast<char*>(tensor.data_ptr()), type);
  if (!is_on_host) tensor = tensor.to(options.device(), type);
  if (options.requires_grad()) tensor.requires_grad_();
  return tensor;
}

}  // namespace detail

Tensor tensor(const detail::TensorLiteral& values, const TensorOptions& options) {
  return detail::tensor_of(values, options, detail::LiteralDtype::kAsInPython);
}

}  // namespace hearth
