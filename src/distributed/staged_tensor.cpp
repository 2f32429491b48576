#include "distributed/staged_tensor.h"

#include "core/tensor_impl.h"
#include "hearth/operators.h"

namespace hearth::distributed {

StagedTensor::StagedTensor(const Tensor& tensor, Use use, Device device)
    : tensor_(tensor.detach()) {
  if (tensor_.device() == device && tensor_.is_contiguous())
    staged_ = tensor_;
  else if (use == kWrite)
    staged_ = empty(tensor_.sizes(), TensorOptions(tensor_.scalar_type()).device(device));
  else
    staged_ = tensor_.contiguous().to(device);
}

void StagedTensor::write_back() const {
  if (staged_.is_same(tensor_))
    impl_of(tensor_).bump_version();
  else
    tensor_.copy_(staged_);
}

StagedTensors::StagedTensors(const std::vector<Tensor>& tensors, Device device) {
  int64_t count = 0;
  for (const Tensor& tensor : tensors) {
    tensors_.push_back(tensor.detach());
    count += tensor.numel();
  }
  if (tensors.empty()) return;
  staged_ = empty({count}, TensorOptions(tensors[0].scalar_type()).device(device));
  int64_t begin = 0;
  for (const Tensor& tensor : tensors) {
    parts_.push_back(staged_.narrow(0, begin, tensor.numel()).view(tensor.sizes()));
    begin += tensor.numel();
  }
}

std::vector<int64_t> StagedTensors::bytes() const {
  std::vector<int64_t> bytes;
  for (const Tensor& part : parts_) bytes.push_back(static_cast<int64_t>(part.nbytes()));
  return bytes;
}

void StagedTensors::read() const {
  for (size_t i = 0; i < parts_.size(); ++i) parts_[i].copy_(tensors_[i]);
}

void StagedTensors::write_back() const {
  for (size_t i = 0; i < parts_.size(); ++i) tensors_[i].copy_(parts_[i]);
}

}  // namespace hearth::distributed
