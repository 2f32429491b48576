#pragma once

#include <ostream>
#include <string>
#include <utility>

#include "ATen/TensorGeometry.h"
#include "c10/util/Exception.h"

// Checks of the arguments of a custom operator: checkDim("my_op", {x, "x", 1}, 2). Their texts are
// LibTorch's.
namespace at {

using CheckedFrom = const char*;

/// A tensor with its name and its position (from 1) among the arguments.
struct TensorArg {
  TensorArg(const Tensor& argument, const char* argument_name, int position)
      : tensor(argument), name(argument_name), pos(position) {}
  TensorArg(Tensor&&, const char*, int) = delete;
  const Tensor* operator->() const { return &tensor; }
  const Tensor& operator*() const { return tensor; }

  const Tensor& tensor;
  const char* name;
  int pos;
};

/// The sizes and strides of a TensorArg.
struct TensorGeometryArg {
  TensorGeometryArg(const TensorArg& arg) : tensor(arg.tensor), name(arg.name), pos(arg.pos) {}
  TensorGeometryArg(TensorGeometry geometry, const char* argument_name, int position)
      : tensor(std::move(geometry)), name(argument_name), pos(position) {}
  const TensorGeometry* operator->() const { return &tensor; }
  const TensorGeometry& operator*() const { return tensor; }

  TensorGeometry tensor;
  const char* name;
  int pos;
};
inline std::ostream& operator<<(std::ostream& out, const TensorGeometryArg& arg) {
  if (arg.pos == 0) return out << '\'' << arg.name << '\'';
  return out << "argument #" << arg.pos << " '" << arg.name << '\'';
}

#define HEARTH_CHECK_ARGUMENT(condition, ...) \
  TORCH_CHECK(condition, __VA_ARGS__, " (while checking arguments for ", c, ')')

inline void checkDim(CheckedFrom c, const TensorGeometryArg& t, int64_t dim) {
  HEARTH_CHECK_ARGUMENT(t->dim() == dim, "Expected ", dim, "-dimensional tensor, but got ",
                        t->dim(), "-dimensional tensor for ", t);
}
inline void checkDim(CheckedFrom c, const Tensor& tensor, const char* name, int pos, int64_t dim) {
  checkDim(c, TensorArg(tensor, name, pos), dim);
}
/// Checks begin <= dim < end.
inline void checkDimRange(CheckedFrom c, const TensorGeometryArg& t, int64_t begin, int64_t end) {
  HEARTH_CHECK_ARGUMENT(begin <= t->dim() && t->dim() < end, "Expected ", begin, " to ", end - 1,
                        " dimensions, but got ", t->dim(), "-dimensional tensor for ", t);
}
inline void checkSameDim(CheckedFrom c, const TensorGeometryArg& a, const TensorGeometryArg& b) {
  HEARTH_CHECK_ARGUMENT(a->dim() == b->dim(), "Expected tensor for ", a,
                        " to have same dimension as tensor for ", b, "; but ", a->dim(),
                        " does not equal ", b->dim());
}
inline void checkContiguous(CheckedFrom c, const TensorGeometryArg& t) {
  HEARTH_CHECK_ARGUMENT(t->is_contiguous(), "Expected contiguous tensor, but got ",
                        "non-contiguous tensor for ", t);
}
inline void checkSize(CheckedFrom c, const TensorGeometryArg& t, IntArrayRef sizes) {
  checkDim(c, t, static_cast<int64_t>(sizes.size()));
  HEARTH_CHECK_ARGUMENT(t->sizes().equals(sizes), "Expected tensor of size ", sizes,
                        ", but got tensor of size ", t->sizes(), " for ", t);
}
inline void checkSize(CheckedFrom c, const TensorGeometryArg& t, int64_t dim, int64_t size) {
  HEARTH_CHECK_ARGUMENT(t->size(dim) == size, "Expected tensor to have size ", size,
                        " at dimension ", dim, ", but got size ", t->size(dim), " for ", t);
}
inline void checkNumel(CheckedFrom c, const TensorGeometryArg& t, int64_t numel) {
  HEARTH_CHECK_ARGUMENT(t->numel() == numel, "Expected tensor for ", t, " to have ", numel,
                        " elements; but it actually has ", t->numel(), " elements");
}
inline void checkSameNumel(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
  HEARTH_CHECK_ARGUMENT(a->numel() == b->numel(), "Expected tensor for ", a,
                        " to have same number of elements as tensor for ", b, "; but ", a->numel(),
                        " does not equal ", b->numel());
}
inline void checkSameSize(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
  HEARTH_CHECK_ARGUMENT(a->sizes().equals(b->sizes()), "Expected tensor for ", a,
                        " to have same size as tensor for ", b, "; but ", a->sizes(),
                        " does not equal ", b->sizes());
}
inline void checkSameType(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
  HEARTH_CHECK_ARGUMENT(a->options().type_equal(b->options()), "Expected tensor for ", a,
                        " to have the same type as tensor for ", b, "; but type ", a->toString(),
                        " does not equal ", b->toString());
}
inline void checkScalarType(CheckedFrom c, const TensorArg& t, ScalarType type) {
  HEARTH_CHECK_ARGUMENT(t->scalar_type() == type, "Expected tensor for ", t,
                        " to have scalar type ", type, "; but got ", t->toString(), " instead");
}
inline void checkScalarTypes(CheckedFrom c, const TensorArg& t, ArrayRef<ScalarType> types) {
  bool found = false;
  for (const ScalarType type : types) found |= t->scalar_type() == type;
  HEARTH_CHECK_ARGUMENT(found, "Expected tensor for ", t,
                        " to have one of the following scalar types: ", c10::Join(", ", types),
                        "; but got ", t->toString(), " instead");
}
inline void checkSameGPU(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
  std::string text;
  if (a->is_cpu()) text += c10::str("Tensor for ", a, " is on CPU, ");
  if (b->is_cpu()) text += c10::str("Tensor for ", b, " is on CPU, ");
  HEARTH_CHECK_ARGUMENT(text.empty(), text, "but expected ",
                        a->is_cpu() && b->is_cpu() ? "it" : "them", " to be on GPU");
  HEARTH_CHECK_ARGUMENT(a->device() == b->device(), "Expected tensor for ", a,
                        " to have the same device as tensor for ", b, "; but device ",
                        a->get_device(), " does not equal ", b->get_device());
}
inline void checkDefined(CheckedFrom c, const TensorArg& t) {
  HEARTH_CHECK_ARGUMENT(t->defined(), "Expected tensor for argument #", t.pos, " '", t.name,
                        "' to be non-null, but it was undefined ");
}
inline void checkDeviceType(CheckedFrom c, ArrayRef<Tensor> tensors, DeviceType type) {
  for (const Tensor& t : tensors)
    HEARTH_CHECK_ARGUMENT(!t.defined() || t.device().type() == type, "Expected tensor to have ",
                          type, " DeviceType, but got tensor with ", t.device().type(),
                          " DeviceType");
}
inline void checkLayout(CheckedFrom, ArrayRef<Tensor>, Layout) {}  // all tensors are strided
#undef HEARTH_CHECK_ARGUMENT

// The same for all tensors of a list, or between its first defined tensor and the others.
inline void checkAllDefined(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  for (const TensorArg& t : tensors) checkDefined(c, t);
}
inline void checkAllContiguous(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  for (const TensorArg& t : tensors)
    if (t->defined()) checkContiguous(c, t);
}
#define HEARTH_CHECK_ALL_SAME(What)                                            \
  inline void checkAllSame##What(CheckedFrom c, ArrayRef<TensorArg> tensors) { \
    const TensorArg* first = nullptr;                                          \
    for (const TensorArg& t : tensors) {                                       \
      if (!t->defined()) continue;                                             \
      if (first) checkSame##What(c, *first, t);                                \
      if (!first) first = &t;                                                  \
    }                                                                          \
  }
HEARTH_CHECK_ALL_SAME(Numel)
HEARTH_CHECK_ALL_SAME(GPU)
HEARTH_CHECK_ALL_SAME(Type)
HEARTH_CHECK_ALL_SAME(Size)
#undef HEARTH_CHECK_ALL_SAME

inline void* maybe_data_ptr(const Tensor& t) { return t.defined() ? t.data_ptr() : nullptr; }
inline void* maybe_data_ptr(const TensorArg& t) { return maybe_data_ptr(*t); }

inline void check_dim_size(const Tensor& t, int64_t dim, int64_t dim_size, int64_t size) {
  TORCH_CHECK(t.dim() == dim && t.size(dim_size) == size, "Expected a tensor of dimension ", dim,
              " and tensor.size[", dim_size, "] == ", size, " but got: dimension ", t.dim(),
              " and tensor.size[", dim_size, "] = ", t.size(dim_size));
}

}  // namespace at
