// The inverse of max pooling.
#include "ops/pool.h"

namespace hearth {

namespace {

/// Throws if an index is outside the output. Checks CPU tensors only; on GPUs, scatter checks.
void check_indices(const Tensor& indices, IntArrayRef output) {
  if (!indices.is_cpu() || indices.numel() == 0) return;
  int64_t volume = 1;
  std::string text;
  for (const int64_t size : output) {
    volume *= size;
    text += detail::str(text.empty() ? "" : "x", size);
  }
  const int64_t smallest = indices.min().item<int64_t>(), largest = indices.max().item<int64_t>();
  HEARTH_CHECK(smallest >= 0 && largest < volume,
               "Found an invalid max index: ", smallest < 0 ? smallest : largest,
               " (output volumes are of size ", text, ")");
}

void check_unpool(const Tensor& self, const Tensor& indices, IntArrayRef output) {
  const size_t spatial = output.size(), dim = size_t(self.dim());
  HEARTH_CHECK(indices.scalar_type() == kLong, "elements in indices should be type int64 but got: ",
               name_of(indices.scalar_type()));
  HEARTH_CHECK(dim == spatial + 1 || dim == spatial + 2, "Input to max_unpooling", spatial,
               "d should be a ", spatial + 1, "d or ", spatial + 2,
               "d Tensor, but got a tensor with ", dim, " dimensions.");
  HEARTH_CHECK(self.sizes() == indices.sizes(),
               "Expected shape of indices to be same as that of the input tensor (", self.sizes(),
               ") but got indices tensor with shape: ", indices.sizes());
  check_not_empty(
      spatial == 2 ? "max_unpooling2d_forward_out_cpu" : "max_unpooling3d_forward_out_cpu",
      self.sizes(), 1);
  for (const int64_t size : output)
    HEARTH_CHECK(size >= 0, "max_unpooling", spatial,
                 "d(): output_size must contain non-negative spatial dimensions, but got "
                 "output_size=",
                 output);
  HEARTH_CHECK_AS(NotImplementedError, self.is_floating_point(), "\"max_unpool", spatial,
                  "d\" not implemented for '", name_of(self.scalar_type()), "'");
}

template <size_t spatial>
struct MaxUnpool {
  struct Args {
    Dims output_size;
    HEARTH_FIELDS(output_size)
  };
  static constexpr OpInfo info{.name = spatial == 2 ? "max_unpool2d" : "max_unpool3d",
                               .arguments = "self,indices",
                               .amp_cpu = Amp::kFloat32};
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& indices) {
    check_unpool(self, indices, args.output_size);
    const int64_t first = self.dim() - int64_t(spatial);
    Dims sizes(self.sizes().slice(0, size_t(first)));
    for (const int64_t size : args.output_size) sizes.push_back(size);
    Tensor positions = indices.flatten(first), values = self.flatten(first);
    Tensor result = zeros(sizes, self.options()).flatten(first);
    if (result.numel() == 0) {  // no element has a place, whatever its index
      positions = positions.narrow(first, 0, 0);
      values = values.narrow(first, 0, 0);
    } else {
      check_indices(indices, args.output_size);
    }
    result = result.scatter_(first, positions, values).view(sizes);
    return spatial == 2 ? result.contiguous(self.suggest_memory_format()) : result;
  }
};

}  // namespace

Tensor max_unpool2d(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  HEARTH_CHECK(output_size.size() == 2,
               "There should be exactly two elements (height, width) in output_size, but got ",
               output_size.size(), " elements.");
  return compose<MaxUnpool<2>>({output_size}, self, indices);
}

Tensor max_unpool3d(const Tensor& self, const Tensor& indices, IntArrayRef output_size,
                    IntArrayRef stride, IntArrayRef padding) {
  constexpr const char* kText = "There should be exactly three elements (depth, height, width) in ";
  HEARTH_CHECK(output_size.size() == 3, kText, "output_size, but got ", output_size.size(),
               " elements.");
  HEARTH_CHECK(stride.size() == 3, kText, "stride, but got: ", stride.size(), " elements.");
  HEARTH_CHECK(padding.size() == 3, kText, "padding, but got: ", padding.size(), " elements.");
  for (const int64_t step : stride)
    HEARTH_CHECK(step > 0, "strides should be greater than zero, but got stride: ", stride);
  return compose<MaxUnpool<3>>({output_size}, self, indices);
}

}  // namespace hearth
