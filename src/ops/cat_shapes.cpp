// hstack, vstack, row_stack, dstack, column_stack, atleast_1d to atleast_3d and block_diag.
#include "ops/composed_out.h"

namespace hearth {

namespace {

void check_not_empty(const char* name, TensorList tensors) {
  HEARTH_CHECK(!tensors.empty(), name, " expects a non-empty TensorList");
}

/// Adds dimensions by `raise` to tensors with fewer than `dims`; 0-d tensors become 1-d first.
template <class Raise>
std::vector<Tensor> raised(TensorList tensors, int64_t dims, const Raise& raise) {
  std::vector<Tensor> result;
  for (const Tensor& t : tensors) {
    result.push_back(t.dim() == 0 ? t.reshape({1}) : t);
    while (result.back().dim() < dims) result.back() = raise(result.back());
  }
  return result;
}

}  // namespace

Tensor atleast_1d(const Tensor& self) { return self.dim() == 0 ? self.reshape({1}) : self; }
Tensor atleast_2d(const Tensor& self) {
  if (self.dim() == 0) return self.reshape({1, 1});
  return self.dim() == 1 ? self.unsqueeze(0) : self;
}
Tensor atleast_3d(const Tensor& self) {
  if (self.dim() == 0) return self.reshape({1, 1, 1});
  if (self.dim() == 1) return self.unsqueeze(0).unsqueeze(-1);
  return self.dim() == 2 ? self.unsqueeze(-1) : self;
}

#define HEARTH_DEFINE_AT_LEAST(name)                           \
  std::vector<Tensor> name(TensorList tensors) {               \
    std::vector<Tensor> result;                                \
    for (const Tensor& t : tensors) result.push_back(name(t)); \
    return result;                                             \
  }
HEARTH_DEFINE_AT_LEAST(atleast_1d)
HEARTH_DEFINE_AT_LEAST(atleast_2d)
HEARTH_DEFINE_AT_LEAST(atleast_3d)
#undef HEARTH_DEFINE_AT_LEAST

Tensor hstack(TensorList tensors) {
  check_not_empty("hstack", tensors);
  const auto inputs = raised(tensors, 1, [](const Tensor& t) { return t; });
  return cat(inputs, inputs[0].dim() == 1 ? 0 : 1);
}
Tensor vstack(TensorList tensors) {
  check_not_empty("vstack", tensors);
  return cat(raised(tensors, 2, [](const Tensor& t) { return t.unsqueeze(0); }), 0);
}
Tensor row_stack(TensorList tensors) { return vstack(tensors); }
Tensor& row_stack_out(Tensor& out, TensorList tensors) { return vstack_out(out, tensors); }
Tensor dstack(TensorList tensors) {
  check_not_empty("dstack", tensors);
  const auto raise = [](const Tensor& t) { return t.unsqueeze(t.dim() == 1 ? 0 : -1); };
  return cat(raised(tensors, 3, raise), 2);
}
Tensor column_stack(TensorList tensors) {
  check_not_empty("column_stack", tensors);
  const auto columns = raised(tensors, 2, [](const Tensor& t) { return t.unsqueeze(1); });
  return cat(columns, 1);
}

HEARTH_DEFINE_WRITE_OUT(hstack, (TensorList tensors), hstack(tensors))
HEARTH_DEFINE_WRITE_OUT(vstack, (TensorList tensors), vstack(tensors))
HEARTH_DEFINE_WRITE_OUT(dstack, (TensorList tensors), dstack(tensors))
HEARTH_DEFINE_WRITE_OUT(column_stack, (TensorList tensors), column_stack(tensors))

Tensor block_diag(TensorList tensors) {
  if (tensors.empty()) return empty({1, 0});
  ScalarType type = tensors[0].scalar_type();
  int64_t width = 0;
  std::vector<Tensor> blocks, rows;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    HEARTH_CHECK(t.device() == tensors[0].device(),
                 "torch.block_diag: input tensors must all be on the same device. Input 0 is on "
                 "device ",
                 tensors[0].device(), " and input ", i, " is on device ", t.device());
    HEARTH_CHECK(t.dim() <= 2,
                 "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input ", i,
                 " has ", t.dim(), " dimensions");
    type = promote_types(type, t.scalar_type());
    blocks.push_back(atleast_2d(t));
    width += blocks.back().size(1);
  }
  int64_t left = 0;
  for (const Tensor& block : blocks) {
    const int64_t right = width - left - block.size(1);
    rows.push_back(block.to(type).constant_pad_nd({left, right}));
    left += block.size(1);
  }
  return cat(rows, 0);
}

}  // namespace hearth
