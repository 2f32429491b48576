// Saved tensors that are kept in the host's memory.
#include "autograd/saved_tensor.h"
#include "core/tensor_impl.h"
#include "hearth/autograd_hooks.h"
#include "hearth/operators.h"

namespace hearth::autograd::graph {

namespace {

/// A saved tensor of `device`, kept in the host's memory.
struct OnHost {
  Tensor tensor;
  Device device;
  int64_t version;  // of a tensor that was not copied
};

OnHost pack(const Tensor& tensor, bool pin) {
  if (tensor.is_cpu()) return {tensor, tensor.device(), tensor._version()};
  if (!pin) return {tensor.cpu(), tensor.device(), 0};
  const TensorOptions pinned = TensorOptions(tensor.scalar_type()).pinned_memory(true);
  Tensor host = tensor.is_non_overlapping_and_dense()
                    ? empty_strided(tensor.sizes(), tensor.strides(), pinned)
                    : empty(tensor.sizes(), pinned);
  return {host.copy_(tensor), tensor.device(), 0};
}

Tensor unpack(const OnHost& packed, bool pinned) {
  if (!packed.device.is_cpu()) return packed.tensor.to(packed.device, /*non_blocking=*/pinned);
  const Tensor& tensor = packed.tensor;
  if (tensor._version() != packed.version)
    fail_modified(hearth::detail::str("[", tensor.toString(), " ", tensor.sizes(), "]"),
                  tensor._version(), packed.version,
                  "(save_on_cpu keeps tensors of the CPU without a copy)");
  return tensor;
}

}  // namespace

save_on_cpu::save_on_cpu(bool pin_memory)
    : hooks_([pin_memory](const Tensor& tensor) -> std::any { return pack(tensor, pin_memory); },
             [pin_memory](const std::any& packed) {
               return unpack(std::any_cast<const OnHost&>(packed), pin_memory);
             }) {}

}  // namespace hearth::autograd::graph
