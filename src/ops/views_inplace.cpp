// Operators that change sizes and strides in place, not elements.
#include "autograd/node.h"
#include "autograd/state.h"
#include "autograd/tangents.h"
#include "ops/define.h"

namespace hearth {

namespace {

/// Gives self the sizes and strides of one of its views.
Tensor& become(const Tensor& self, const Tensor& view) {
  autograd::check_inplace(self, false);
  autograd::become_view(self, view);
  return const_cast<Tensor&>(self);
}

/// The history of a tensor whose memory was replaced.
class ReplacedMemory final : public autograd::Node {
 public:
  std::string name() const override { return "NotImplemented"; }

 protected:
  autograd::variable_list apply(autograd::variable_list&&) override {
    detail::fail<NotImplementedError>("derivative for set_ is not implemented");
  }
};

/// The node of a call of set_; null if neither tensor requires a gradient.
autograd::NodePtr node_of_set(const Tensor& self, const Tensor& source) {
  autograd::NodePtr node;
  if (!modes.records()) return node;
  for (const Tensor* tensor : {&self, &source}) {
    if (!tensor->defined() || !tensor->requires_grad()) continue;
    if (!node) node = autograd::NodePtr::adopt(new ReplacedMemory);
    node->add_next_edge(autograd::gradient_edge(*tensor));
  }
  return node;
}

/// Replaces self's memory and geometry. Like LibTorch, keeps the history, and a view's link to its
/// base, if no graph is recorded.
Tensor& set_memory(const Tensor& self, StoragePtr storage, int64_t offset, IntArrayRef size,
                   IntArrayRef stride, const Tensor& source = {}) {
  autograd::check_inplace(self, modes.records() && source.defined() && source.requires_grad());
  autograd::refuse_tangent(self, "set_");
  autograd::refuse_tangent(source, "set_");
  HEARTH_CHECK(offset >= 0, "Tensor: invalid storage offset ", offset);
  TensorImpl& impl = impl_of(self);
  HEARTH_CHECK(storage && storage->device == impl.device,
               "set_: the storage must be on the tensor's device");
  checked_numel(size);
  const Dims strides = stride.empty() ? contiguous_strides(size) : Dims(stride);
  const size_t needed = span_bytes(size, strides, offset, element_size(impl.dtype));
  Tensor holder = empty({0}, self.options().requires_grad(false));
  TensorImpl& held = impl_of(holder);
  held.set_geometry(size, strides);
  held.offset = offset;
  if (needed > storage->nbytes) grow_storage(*storage, needed);
  held.storage = std::move(storage);
  const auto node = node_of_set(self, source);
  self.set_data(holder);
  impl.bump_version();
  if (node) {
    node->add_input_metadata(self);
    autograd::rewrite_history(self, node);
  }
  return const_cast<Tensor&>(self);
}

/// Throws unless the tensors have one dtype.
const TensorImpl& same_typed(const Tensor& self, const Tensor& source) {
  check_defined("set_", 1, "source", source);
  HEARTH_CHECK(source.scalar_type() == self.scalar_type(), "Could not set tensor of type ",
               source.dtype().name(), " to a tensor of type ", self.dtype().name());
  return impl_of(source);
}

StoragePtr pointer_to(const Storage& storage) {
  return StoragePtr::share(storage.unsafeGetStorageImpl());
}

}  // namespace

Tensor& Tensor::set_(const Tensor& source) const {
  const TensorImpl& from = same_typed(*this, source);
  return set_memory(*this, from.storage, from.offset, from.sizes(), from.strides(), source);
}
Tensor& Tensor::set_(const Tensor& source, int64_t offset, IntArrayRef size,
                     IntArrayRef stride) const {
  return set_memory(*this, same_typed(*this, source).storage, offset, size, stride, source);
}
Tensor& Tensor::set_(Storage source) const {
  const auto count = static_cast<int64_t>(source.nbytes() / itemsize());
  return set_memory(*this, pointer_to(source), 0, IntArrayRef(count), IntArrayRef(1));
}
Tensor& Tensor::set_(Storage source, int64_t offset, IntArrayRef size, IntArrayRef stride) const {
  return set_memory(*this, pointer_to(source), offset, size, stride);
}
Tensor& Tensor::set_() const { return set_(empty({0}, options().requires_grad(false))); }

bool Tensor::is_set_to(const Tensor& tensor) const {
  check_defined("is_set_to", 0, "self", *this);
  check_defined("is_set_to", 1, "tensor", tensor);
  const TensorImpl &a = impl_of(*this), &b = impl_of(tensor);
  return a.storage.get() == b.storage.get() && a.offset == b.offset && a.dtype == b.dtype &&
         a.sizes().equals(b.sizes()) && a.strides().equals(b.strides());
}

HEARTH_DEFINE_INPLACE_AS(t_, (), become(self, self.t()))
HEARTH_DEFINE_INPLACE_AS(transpose_, (int64_t dim0, int64_t dim1),
                         become(self, self.transpose(dim0, dim1)))
HEARTH_DEFINE_INPLACE_AS(swapaxes_, (int64_t axis0, int64_t axis1),
                         become(self, self.transpose(axis0, axis1)))
HEARTH_DEFINE_INPLACE_AS(swapdims_, (int64_t dim0, int64_t dim1),
                         become(self, self.transpose(dim0, dim1)))
HEARTH_DEFINE_INPLACE_AS(squeeze_, (), become(self, self.squeeze()))
HEARTH_DEFINE_INPLACE_AS(squeeze_, (int64_t dim), become(self, self.squeeze(dim)))
HEARTH_DEFINE_INPLACE_AS(squeeze_, (IntArrayRef dim), become(self, self.squeeze(dim)))
HEARTH_DEFINE_INPLACE_AS(unsqueeze_, (int64_t dim), become(self, self.unsqueeze(dim)))
HEARTH_DEFINE_INPLACE_AS(as_strided_,
                         (IntArrayRef size, IntArrayRef stride, std::optional<int64_t> offset),
                         become(self, self.as_strided(size, stride, offset)))

}  // namespace hearth
