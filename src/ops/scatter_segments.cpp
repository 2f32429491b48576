// segment_reduce.
#include <limits>

#include "autograd/tangents.h"
#include "hearth/operators.h"
#include "ops/composed_out.h"

namespace hearth {

namespace {

/// The reduction of scatter_reduce that computes a reduction of segments (for mean the sum, divided
/// later), and the value of an empty segment.
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

/// The lengths of the segments, and where they begin and end; the last dimension of each tensor
/// counts the segments.
struct Segments {
  Tensor lengths, starts, ends;
};

/// `given` are the lengths or the offsets, as `name` says.
void check_segment_dims(const Tensor& data, const Tensor& given, const char* name, int64_t axis) {
  HEARTH_CHECK(given.dim() == axis + 1, "Expected ", name, " to have ", axis + 1,
               " dimensions, but got ", given.dim(), ".");
  for (int64_t d = 0; d < axis; ++d)
    HEARTH_CHECK(given.size(d) == data.size(d), "Expected ", name,
                 " and data to agree in size along dimension ", d, ", but got ", given.size(d),
                 " and ", data.size(d), ".");
}

/// Throws if a length is negative or if the lengths do not sum to data's size along axis.
void check_segment_lengths(const Tensor& data, const Tensor& lengths, int64_t axis) {
  if (lengths.numel() == 0) return;
  HEARTH_CHECK(lengths.min().item<int64_t>() >= 0, "lengths contains negative value!");
  HEARTH_CHECK(lengths.sum(-1).eq(data.size(axis)).all().item<bool>(),
               "segment_reduce(): Expected all rows of lengths along axis to sum to "
               "data.size(lengths.dim()-1) when "
               "!unsafe.");
}

/// The segments that are given by their lengths or, if defined, by offsets.
Segments segments_of(const Tensor& data, const Tensor& lengths, const Tensor& offsets, int64_t axis,
                     bool unsafe) {
  HEARTH_CHECK(lengths.defined() || offsets.defined(),
               "segment_reduce(): Either lengths or offsets must be defined.");
  const Tensor& given = offsets.defined() ? offsets : lengths;
  const ScalarType type = given.scalar_type();
  HEARTH_CHECK_AS(NotImplementedError, type == kInt || type == kLong, "\"_segment_reduce_",
                  offsets.defined() ? "offsets" : "lengths", "_cpu_kernel1\" not implemented for '",
                  name_of(type), "'");
  check_segment_dims(data, given, offsets.defined() ? "offsets" : "lengths", axis);
  Segments result;
  if (offsets.defined()) {
    const int64_t count = offsets.size(-1) - 1;
    result.starts = offsets.narrow(-1, 0, count).to(kLong);
    result.ends = offsets.narrow(-1, 1, count).to(kLong);
    result.lengths = result.ends.sub(result.starts);
  } else {
    result.lengths = lengths.to(kLong);
    if (!unsafe) check_segment_lengths(data, result.lengths, axis);
    result.ends = result.lengths.cumsum(-1);
    result.starts = result.ends.sub(result.lengths);
  }
  HEARTH_CHECK(result.lengths.numel() == 0 || result.lengths.min().item<int64_t>() >= 0,
               "Expected segment_length >= 0 to be true, but got false.  (Could this error message "
               "be improved?  If so, please report an enhancement request to PyTorch.)");
  return result;
}

/// Appends dimensions of size 1 until the tensor has `dims` dimensions.
Tensor with_trailing_dims(Tensor tensor, int64_t dims) {
  while (tensor.dim() < dims) tensor = tensor.unsqueeze(-1);
  return tensor;
}

/// The number of the segment of each element along axis; elements outside all segments get the
/// number of segments.
Tensor segment_numbers(const Tensor& data, const Segments& segments, int64_t axis) {
  const int64_t count = segments.lengths.size(-1);
  const Tensor positions = arange(data.size(axis), TensorOptions(kLong).device(data.device()));
  Dims sizes(segments.lengths.sizes());
  sizes[size_t(axis)] = data.size(axis);
  const Tensor places = positions.expand(sizes).contiguous();
  Tensor numbers = searchsorted(segments.ends.contiguous(), places, false, true);
  if (count > 0) numbers = where(places.lt(segments.starts.narrow(-1, 0, 1)), count, numbers);
  return with_trailing_dims(numbers, data.dim()).expand(data.sizes());
}

/// Reduces each segment, beginning with `start`; elements outside all segments are dropped. Without
/// include_start, `start` is only the value of empty segments.
Tensor scattered_segments(const Tensor& data, const Tensor& numbers, int64_t axis, int64_t count,
                          double start, std::string_view reduce, bool include_start = true) {
  Dims sizes(data.sizes());
  sizes[size_t(axis)] = count + 1;
  return full(sizes, start, data.options().requires_grad(false))
      .scatter_reduce(axis, numbers, data, reduce, include_start)
      .narrow(axis, 0, count);
}

/// The result of a segment that contains NaN is NaN; the segment's NaNs share its gradient.
Tensor with_gradient_of_nan(const Tensor& extremes, const Tensor& data, const Tensor& numbers,
                            int64_t axis, int64_t count) {
  const Tensor is_nan = data.detach().isnan();
  const Tensor num_nans =
      scattered_segments(is_nan.to(data.scalar_type()), numbers, axis, count, 0, "sum");
  const Tensor sums = scattered_segments(where(is_nan, data, 0), numbers, axis, count, 0, "sum");
  return where(num_nans.gt(0), sums / num_nans.clamp_min(1), extremes);
}

/// The largest or smallest elements. Elements equal to the initial value get the whole gradient.
Tensor extreme_segments(const Tensor& data, const Tensor& numbers, int64_t axis, int64_t count,
                        const SegmentReduction& reduction, const std::optional<Scalar>& initial) {
  const bool needs_gradient = autograd::wants_derivative(data);
  const Tensor values = needs_gradient ? data.masked_fill(data.isnan(), reduction.empty) : data;
  // An infinite element must not share its gradient with the start.
  Tensor result =
      scattered_segments(values, numbers, axis, count, reduction.empty, reduction.scatter, false);
  if (needs_gradient) result = with_gradient_of_nan(result, data, numbers, axis, count);
  if (!initial) return result;
  const double start = initial->toDouble();
  const Tensor is_kept = reduction.scatter == "amax" ? result.ge(start) : result.le(start);
  return where(is_kept.logical_or(result.isnan()), result, start);
}

Tensor reduced_segments(const Tensor& data, std::string_view reduce, const Segments& segments,
                        int64_t axis, const std::optional<Scalar>& initial) {
  const SegmentReduction reduction = segment_reduction(reduce);
  const int64_t count = segments.lengths.size(-1);
  const Tensor numbers = segment_numbers(data, segments, axis);
  const bool is_extreme = reduction.scatter[0] == 'a';  // amax or amin
  if (is_extreme) return extreme_segments(data, numbers, axis, count, reduction, initial);
  const bool is_mean = reduce == "mean";
  const double start = initial ? initial->toDouble() : is_mean ? 0 : reduction.empty;
  const Tensor reduced = scattered_segments(data, numbers, axis, count, start, reduction.scatter);
  if (!is_mean) return reduced;
  const Tensor lengths = with_trailing_dims(segments.lengths, data.dim());
  const Tensor mean = reduced / lengths.clamp_min(1);
  return initial ? mean : mean.masked_fill(lengths.eq(0), reduction.empty);
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
  segment_reduction(reduce);  // throws for an unknown name first
  const Segments segments =
      segments_of(data, or_undefined(lengths), or_undefined(offsets), axis, unsafe);
  return reduced_segments(data, reduce, segments, axis, initial);
}
HEARTH_DEFINE_WRITE_OUT(segment_reduce,
                        (const Tensor& data, std::string_view reduce,
                         const std::optional<Tensor>& lengths, const std::optional<Tensor>& indices,
                         const std::optional<Tensor>& offsets, int64_t axis, bool unsafe,
                         const std::optional<Scalar>& initial),
                        segment_reduce(data, reduce, lengths, indices, offsets, axis, unsafe,
                                       initial))

}  // namespace hearth
