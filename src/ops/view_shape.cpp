#include "ops/view_shape.h"

#include <algorithm>

namespace hearth {

Dims infer_sizes(IntArrayRef wanted, int64_t numel) {
  Dims sizes(wanted);
  int64_t known_numel = 1;
  int unknown_dim = -1;
  bool overflows = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == -1) {
      HEARTH_CHECK(unknown_dim < 0, "only one dimension can be inferred");
      unknown_dim = int(d);
      continue;
    }
    HEARTH_CHECK(sizes[d] >= 0, "invalid shape dimension ", sizes[d], " at index ", d, " of shape ",
                 wanted);
    overflows |= __builtin_mul_overflow(known_numel, sizes[d], &known_numel);
  }
  const bool fits = !overflows && (unknown_dim < 0 ? known_numel == numel
                                                   : known_numel > 0 && numel % known_numel == 0);
  if (!fits && unknown_dim >= 0 && known_numel == 0 && numel == 0)
    detail::fail<Error>(
        "cannot reshape tensor of 0 elements into shape ", wanted,
        " because the unspecified dimension size -1 can be any value and is ambiguous");
  HEARTH_CHECK(fits, "shape '", wanted, "' is invalid for input of size ", numel);
  if (unknown_dim >= 0) sizes[size_t(unknown_dim)] = numel / known_numel;
  return sizes;
}

DimSet dim_set(const Tensor& self, IntArrayRef dims) {
  DimSet set;
  for (int64_t dim : dims) {
    const int64_t d = wrap_dim(dim, self.dim());
    HEARTH_CHECK(!(set.bits >> d & 1u), "dim ", d, " appears multiple times in the list of dims");
    set.bits |= 1u << d;
  }
  return set;
}

std::optional<Dims> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef wanted) {
  Dims result = Dims::uninitialized(wanted.size());
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end())
    return sizes.equals(wanted) ? Dims(strides) : contiguous_strides(wanted);
  // From the innermost dimension outwards: the new dimensions must divide each run of contiguous
  // old ones exactly.
  size_t next = wanted.size();
  int64_t run = 1, run_stride = sizes.empty() ? 1 : strides.back();
  int64_t covered = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    run *= sizes[d];
    const bool ends_run = d == 0 || (sizes[d - 1] != 1 && strides[d - 1] != run * run_stride);
    if (!ends_run) continue;
    while (next > 0 && (covered < run || wanted[next - 1] == 1)) {
      --next;
      result[next] = covered * run_stride;
      covered *= wanted[next];
    }
    if (covered != run) return std::nullopt;
    if (d > 0) {
      run_stride = strides[d - 1];
      run = covered = 1;
    }
  }
  while (next > 0 && wanted[next - 1] == 1) result[--next] = covered * run_stride;
  return next == 0 ? std::optional(result) : std::nullopt;
}

View broadcast_view(const View& in, const View& to) {
  View view = to;
  view.data = in.data;
  view.dtype = in.dtype;
  for (int d = 0; d < to.dim; ++d) {
    const int from = d - (to.dim - in.dim);
    view.strides[d] = from < 0 || in.sizes[from] == 1 ? 0 : in.strides[from];
  }
  return view;
}

std::string type_text(const TensorImpl& impl) {
  const char* device = impl.device.is_cuda() ? "CUDA" : impl.device.is_meta() ? "Meta" : "CPU";
  return detail::str(device, name_of(impl.dtype), "Type");
}

}  // namespace hearth
