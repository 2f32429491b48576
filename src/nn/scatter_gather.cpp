#include "hearth/nn/scatter_gather.h"

#include <algorithm>

#include "hearth/operators.h"

namespace hearth::nn::parallel {

namespace {

void check_has_devices(const std::vector<Device>& devices, const char* function) {
  HEARTH_CHECK(!devices.empty(), "Expected at least one device to ", function, " to");
}

int64_t wrapped_dim(const Tensor& tensor, int64_t dim) {
  HEARTH_CHECK(tensor.dim() > 0,
               "A 0-d tensor cannot be split among devices. Pass a number, which "
               "each device gets, or a tensor with a batch dimension");
  HEARTH_CHECK_AS(IndexError, dim >= -tensor.dim() && dim < tensor.dim(),
                  "Dimension out of range (expected to be in range of [", -tensor.dim(), ", ",
                  tensor.dim() - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + tensor.dim() : dim;
}

/// The length of all chunks but the last.
int64_t chunk_length(int64_t size, size_t devices) {
  const auto count = static_cast<int64_t>(devices);
  return std::max<int64_t>((size + count - 1) / count, 1);
}

Tensor moved(const Tensor& tensor, Device device) {
  return tensor.to(TensorOptions().device(device), /*non_blocking=*/true);
}

}  // namespace

std::vector<Tensor> scatter(const Tensor& input, const std::vector<Device>& devices,
                            const std::optional<std::vector<int64_t>>& chunk_sizes, int64_t dim) {
  check_has_devices(devices, "scatter");
  std::vector<Tensor> parts;
  if (!chunk_sizes) {
    detail::Split split(devices, dim);
    split.count_parts(input);
    for (size_t i = 0; i < split.parts(); ++i) parts.push_back(split.part(input, i));
    return parts;
  }
  HEARTH_CHECK(chunk_sizes->size() == devices.size(),
               "Expected devices and chunk_sizes to be of same length, but got len(devices) = ",
               devices.size(), " and len(chunk_sizes) = ", chunk_sizes->size());
  dim = wrapped_dim(input, dim);
  int64_t total = 0;
  for (const int64_t length : *chunk_sizes) {
    HEARTH_CHECK(length > 0, "Expected chunk_sizes to be positive, but got ", length);
    total += length;
  }
  HEARTH_CHECK(total == input.size(dim), "Expected the sum of chunk_sizes to be ", input.size(dim),
               ", the size of the tensor in dimension ", dim, ", but got ", total);
  int64_t start = 0;
  for (size_t i = 0; i < devices.size(); ++i) {
    const int64_t length = (*chunk_sizes)[i];
    parts.push_back(moved(input.narrow(dim, start, length), devices[i]));
    start += length;
  }
  return parts;
}

Tensor gather(const std::vector<Tensor>& tensors, Device target_device, int64_t dim) {
  HEARTH_CHECK(!tensors.empty(), "Expected at least one tensor to gather from");
  const auto undefined = std::count_if(tensors.begin(), tensors.end(),
                                       [](const Tensor& tensor) { return !tensor.defined(); });
  HEARTH_CHECK_AS(ValueError, undefined == 0 || undefined == std::ssize(tensors),
                  "Some devices returned a tensor and others an undefined one");
  if (undefined > 0) return {};
  const bool all_scalars = std::all_of(tensors.begin(), tensors.end(),
                                       [](const Tensor& tensor) { return tensor.dim() == 0; });
  if (tensors.size() == 1 && !all_scalars) return moved(tensors[0], target_device);
  if (all_scalars && dim == 0)
    warn(
        "Was asked to gather along dimension 0, but all input tensors were scalars; will instead "
        "unsqueeze and return a vector.");
  std::vector<Tensor> on_target;
  on_target.reserve(tensors.size());
  for (const Tensor& tensor : tensors)
    on_target.push_back(moved(all_scalars ? tensor.unsqueeze(0) : tensor, target_device));
  return cat(on_target, dim);
}

void detail::Split::count_parts(const Tensor& tensor) {
  check_has_devices(devices_, "scatter");
  const int64_t size = tensor.size(wrapped_dim(tensor, dim_));
  const int64_t length = chunk_length(size, devices_.size());
  const auto parts = static_cast<size_t>(std::max<int64_t>((size + length - 1) / length, 1));
  HEARTH_CHECK_AS(ValueError, !parts_ || *parts_ == parts,
                  "The arguments do not divide equally among ", devices_.size(),
                  " devices: a tensor of sizes ", tensor.sizes(), " has ", parts,
                  " part(s) in dimension ", dim_, ", another tensor has ", parts_.value_or(0),
                  ". Give all tensors the same batch size; expand those that are shared");
  parts_ = parts;
}

Tensor detail::Split::part(const Tensor& tensor, size_t index) const {
  const int64_t dim = wrapped_dim(tensor, dim_), size = tensor.size(dim);
  const int64_t length = chunk_length(size, devices_.size());
  const int64_t start = static_cast<int64_t>(index) * length;
  if (parts() == 1) return moved(tensor, devices_[0]);
  return moved(tensor.narrow(dim, start, std::min(length, size - start)), devices_[index]);
}

}  // namespace hearth::nn::parallel
