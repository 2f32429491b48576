// segment_reduce.
#include <limits>

#include "hearth/operators.h"
#include "ops/composed_out.h"

namespace hearth {

namespace {

/// A reduction of segments: as scatter_reduce's, and its value for an empty segment.
struct SegmentReduction {
  std::string_view scatter;
  double empty;
};

SegmentReduction segment_reduction(std::string_view name) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (name == "max" || name == "amax") return {"amax", -kInfinity};
  if (name == "mean") return {"sum", std::numeric_limits<double>::quiet_NaN()};
  if (name == "min" || name == "amin") return {"amin", kInfinity};
  if (name == "sum") return {"sum", 0};
  if (name == "prod") return {"prod", 1};
  detail::fail<Error>("reduce argument must be either sum, prod, mean, amax or amin, got ", name);
}

/// Checks the lengths, whose last dimension counts the segments along axis.
void check_segment_lengths(const Tensor& data, const Tensor& lengths, int64_t axis, bool unsafe) {
  HEARTH_CHECK(lengths.dim() == axis + 1, "Expected lengths to have ", axis + 1,
               " dimensions, but got ", lengths.dim(), ".");
  for (int64_t d = 0; d < axis; ++d)
    HEARTH_CHECK(lengths.size(d) == data.size(d), "Expected lengths and data to agree in size ",
                 "along dimension ", d, ", but got ", lengths.size(d), " and ", data.size(d), ".");
  if (unsafe || lengths.numel() == 0) return;
  HEARTH_CHECK(lengths.min().item<int64_t>() >= 0, "lengths contains negative value!");
  HEARTH_CHECK(lengths.sum(-1).eq(data.size(axis)).all().item<bool>(),
               "segment_reduce(): Expected all rows of lengths along axis to sum to "
               "data.size(lengths.dim()-1) when "
               "!unsafe.");
}

/// A tensor of data's number of dimensions, by dimensions of size 1 at its end.
Tensor with_trailing_dims(Tensor tensor, int64_t dims) {
  while (tensor.dim() < dims) tensor = tensor.unsqueeze(-1);
  return tensor;
}

/// The number of the segment of each element along axis.
Tensor segment_numbers(const Tensor& data, const Tensor& lengths, int64_t axis) {
  const Tensor ends = lengths.cumsum(-1);
  const Tensor positions = arange(data.size(axis), TensorOptions(kLong).device(data.device()));
  Dims sizes(lengths.sizes());
  sizes[size_t(axis)] = data.size(axis);
  const Tensor numbers = searchsorted(ends, positions.expand(sizes), false, true);
  return with_trailing_dims(numbers, data.dim()).expand(data.sizes());
}

Tensor reduced_segments(const Tensor& data, std::string_view reduce, const Tensor& lengths,
                        int64_t axis, bool unsafe, const std::optional<Scalar>& initial) {
  const SegmentReduction reduction = segment_reduction(reduce);
  check_segment_lengths(data, lengths, axis, unsafe);
  Dims sizes(data.sizes());
  sizes[size_t(axis)] = lengths.size(-1);
  const bool is_mean = reduce == "mean";
  const double start = initial ? initial->toDouble() : is_mean ? 0 : reduction.empty;
  const Tensor reduced =
      full(sizes, start, data.options().requires_grad(false))
          .scatter_reduce(axis, segment_numbers(data, lengths, axis), data, reduction.scatter);
  if (!is_mean) return reduced;
  const Tensor counts = with_trailing_dims(lengths, data.dim());
  const Tensor mean = reduced / counts.clamp_min(1);
  return initial ? mean : mean.masked_fill(counts.eq(0), reduction.empty);
}

/// The lengths of the segments: given, or the differences of the offsets.
Tensor lengths_of(const Tensor& lengths, const Tensor& offsets) {
  HEARTH_CHECK(lengths.defined() || offsets.defined(),
               "segment_reduce(): Either lengths or offsets must be defined.");
  const Tensor& given = offsets.defined() ? offsets : lengths;
  const ScalarType type = given.scalar_type();
  HEARTH_CHECK_AS(NotImplementedError, type == kInt || type == kLong, "\"_segment_reduce_",
                  offsets.defined() ? "offsets" : "lengths", "_cpu_kernel1\" not implemented for '",
                  name_of(type), "'");
  return (offsets.defined() ? offsets.diff() : lengths).to(kLong);
}

}  // namespace

Tensor segment_reduce(const Tensor& data, std::string_view reduce,
                      const std::optional<Tensor>& lengths, const std::optional<Tensor>& indices,
                      const std::optional<Tensor>& offsets, int64_t axis, bool unsafe,
                      const std::optional<Scalar>& initial) {
  check_defined("segment_reduce", 0, "data", data);
  HEARTH_CHECK(!or_undefined(indices).defined(),
               "segment_reduce(): indices based reduction is not supported yet.");
  HEARTH_CHECK_AS(NotImplementedError, data.is_floating_point(),
                  "\"_segment_reduce_cpu\" not implemented for '", name_of(data.scalar_type()),
                  "'");
  axis = wrap_dim(axis, data.dim());
  return reduced_segments(data, reduce, lengths_of(or_undefined(lengths), or_undefined(offsets)),
                          axis, unsafe, initial);
}
HEARTH_DEFINE_WRITE_OUT(segment_reduce,
                        (const Tensor& data, std::string_view reduce,
                         const std::optional<Tensor>& lengths, const std::optional<Tensor>& indices,
                         const std::optional<Tensor>& offsets, int64_t axis, bool unsafe,
                         const std::optional<Scalar>& initial),
                        segment_reduce(data, reduce, lengths, indices, offsets, axis, unsafe,
                                       initial))

}  // namespace hearth
