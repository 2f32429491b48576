#include "hearth/data/transforms.h"

#include "hearth/tensor_literal.h"

namespace hearth::data::transforms {

Example<> Stack<Example<>>::apply_batch(std::vector<Example<>> examples) {
  std::vector<Tensor> data, targets;
  data.reserve(examples.size());
  targets.reserve(examples.size());
  for (Example<>& example : examples) {
    data.push_back(std::move(example.data));
    targets.push_back(std::move(example.target));
  }
  return {stack(data), stack(targets)};
}

TensorExample Stack<TensorExample>::apply_batch(std::vector<TensorExample> examples) {
  std::vector<Tensor> data;
  data.reserve(examples.size());
  for (TensorExample& example : examples) data.push_back(std::move(example.data));
  return stack(data);
}

namespace detail {

Tensor per_channel(ArrayRef<double> values) {
  return tensor(values, kFloat32).unsqueeze(1).unsqueeze(2);
}

Tensor normalize(const Tensor& input, const Tensor& mean, const Tensor& stddev) {
  return input.sub(mean.to(input.device(), kFloat32)).div(stddev.to(input.device(), kFloat32));
}

Tensor image_to_tensor(const Tensor& image) {
  HEARTH_CHECK_AS(ValueError, image.dim() == 2 || image.dim() == 3,
                  "pic should be 2/3 dimensional. Got ", image.dim(), " dimensions.");
  const Tensor planes = image.dim() == 2 ? image.unsqueeze(0) : image.permute({2, 0, 1});
  const Tensor dense = planes.contiguous();
  return dense.scalar_type() == kByte ? dense.to(get_default_dtype()).div(255) : dense;
}

}  // namespace detail
}  // namespace hearth::data::transforms
