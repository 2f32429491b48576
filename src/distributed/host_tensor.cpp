#include "distributed/host_tensor.h"

#include "core/tensor_impl.h"
#include "hearth/operators.h"

namespace hearth::distributed {

HostTensor::HostTensor(const Tensor& tensor, Use use) : tensor_(tensor.detach()) {
  if (tensor_.is_cpu() && tensor_.is_contiguous())
    host_ = tensor_;
  else if (use == kWrite)
    host_ = empty(tensor_.sizes(), TensorOptions(tensor_.scalar_type()));
  else
    host_ = tensor_.contiguous().cpu();
}

void HostTensor::write_back() const {
  if (host_.is_same(tensor_))
    impl_of(tensor_).bump_version();
  else
    tensor_.copy_(host_);
}

Tensor host_bytes(int64_t bytes) { return empty({bytes}, TensorOptions(kByte)); }

}  // namespace hearth::distributed
