// Unique elements or slices (by sorting), one element or slice of each run of equal neighbours, and
// bincount.
#include <algorithm>

#include "hearth/indexing.h"
#include "ops/define.h"

namespace hearth {

namespace {

struct UniqueArgs {
  bool inverse, counts;
  std::optional<int64_t> dim;
  HEARTH_FIELDS(inverse, counts, dim)
};

/// Whether each of n slices starts a group of equal slices; differs[i] says whether slice i + 1
/// differs from slice i.
Tensor group_starts(const Tensor& differs, int64_t n) {
  if (n == 0) return differs;
  return cat({ones({1}, differs.options()), differs});
}

/// (first slice of each group, group of each slice, sizes of the groups).
TensorTriple groups_of(const Tensor& starts, const UniqueArgs& args) {
  const int64_t n = starts.numel();
  const TensorOptions longs = TensorOptions(kLong).device(starts.device());
  const Tensor first = starts.nonzero().reshape({-1});
  const Tensor none = empty({0}, longs);
  const Tensor end = full({1}, n, longs);
  Tensor counts = none;
  if (args.counts && n > 0) counts = cat({first.narrow(0, 1, first.size(0) - 1), end}).sub(first);
  return {first, args.inverse ? starts.cumsum(0).sub(1) : none, counts};
}

Tensor rows_at(const Tensor& self, const Tensor& index) { return self.index_select(0, index); }

/// The group of each slice in the order before sorting, given the groups of the sorted slices.
Tensor unsorted(const Tensor& group, const Tensor& order, const UniqueArgs& args) {
  return args.inverse ? zeros_like(group).scatter_add(0, order, group) : group;
}

struct Unique {
  using Args = UniqueArgs;
  static constexpr OpInfo info{.name = "_unique2"};
  static TensorTriple compute(const Args& args, const Tensor& self) {
    const auto [sorted, order] = self.detach().reshape({-1}).sort(0);
    const int64_t n = sorted.numel();
    const Tensor differs =
        n == 0 ? sorted.ne(sorted) : sorted.narrow(0, 1, n - 1).ne(sorted.narrow(0, 0, n - 1));
    const auto [first, group, counts] = groups_of(group_starts(differs, n), args);
    const Tensor inverse = unsorted(group, order, args);
    return {rows_at(sorted, first), args.inverse ? inverse.reshape(self.sizes()) : inverse, counts};
  }
};

/// Throws if slices have no elements to compare.
void check_slices(const Tensor& slices) {
  const IntArrayRef sizes = slices.sizes();
  const auto empty_dims = std::count(sizes.begin(), sizes.end(), 0);
  HEARTH_CHECK(slices.size(0) > 0 || empty_dims == 1,
               "Number of zero sized dimensions is more than one, so unique cannot be applied ");
  HEARTH_CHECK(slices.size(0) == 0 || empty_dims == 0,
               "There are 0 sized dimensions, and they aren't selected, so unique cannot be "
               "applied");
}

/// Whether each row but the first differs from the row before it.
Tensor rows_differ(const Tensor& rows) {
  const int64_t n = rows.size(0);
  if (n == 0) return empty({0}, rows.options().dtype(kBool));
  return rows.narrow(0, 1, n - 1).ne(rows.narrow(0, 0, n - 1)).any(1);
}

struct UniqueConsecutive {
  using Args = UniqueArgs;
  static constexpr OpInfo info{.name = "unique_consecutive"};
  static TensorTriple compute(const Args& args, const Tensor& tensor) {
    const Tensor self = tensor.detach();
    const Tensor slices = args.dim ? self.movedim(*args.dim, 0) : self.reshape({-1});
    const int64_t n = slices.size(0);
    check_slices(slices);
    const Tensor rows = slices.reshape({n, n == 0 ? 1 : slices.numel() / n});
    const auto [first, group, counts] = groups_of(group_starts(rows_differ(rows), n), args);
    const Tensor values = rows_at(slices, first);
    return {args.dim ? values.movedim(0, *args.dim) : values,
            args.inverse && !args.dim ? group.reshape(self.sizes()) : group, counts};
  }
};

/// Sorts rows by each column in turn, from last to first; Hearth's argsort is always stable.
struct UniqueDim {
  using Args = UniqueArgs;
  static constexpr OpInfo info{.name = "unique_dim"};
  static TensorTriple compute(const Args& args, const Tensor& tensor) {
    const Tensor slices = tensor.detach().movedim(*args.dim, 0);
    const int64_t n = slices.size(0);
    check_slices(slices);
    const Tensor rows = slices.reshape({n, n == 0 ? 1 : slices.numel() / n});
    Tensor order = arange(n, TensorOptions(kLong).device(tensor.device()));
    for (int64_t column = rows.size(1) - 1; column >= 0; --column)
      order = rows_at(order, rows_at(rows.select(1, column), order).argsort(int64_t{0}));
    const Tensor sorted = rows_at(rows, order);
    const auto [first, group, counts] = groups_of(group_starts(rows_differ(sorted), n), args);
    return {rows_at(slices, rows_at(order, first)).movedim(0, *args.dim),
            unsorted(group, order, args), counts};
  }
};

struct Bincount {
  struct Args {
    int64_t minlength;
    HEARTH_FIELDS(minlength)
  };
  static constexpr OpInfo info{.name = "bincount"};
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& weights) {
    const int64_t largest = self.numel() > 0 ? self.max().item<int64_t>() : -1;
    HEARTH_CHECK(largest < INT64_MAX, "maximum value of input overflowed, it should be < ",
                 INT64_MAX, " but got ", largest);
    const TensorOptions options =
        weights.defined() ? weights.options() : self.options().dtype(kLong);
    const Tensor bins = zeros({std::max(largest + 1, args.minlength)}, options);
    return bins.scatter_add(0, self.to(kLong),
                            weights.defined() ? weights : ones_like(self, kLong));
  }
};

Tensor bincount_of(const Tensor& self, const Tensor& weights, int64_t minlength) {
  const ScalarType type = self.scalar_type();
  HEARTH_CHECK_AS(NotImplementedError, is_integral(type, false),
                  "\"bincount_cpu\" not implemented for '", name_of(type), "'");
  HEARTH_CHECK(minlength >= 0, "minlength should be >= 0");
  HEARTH_CHECK(self.dim() == 1 && (self.numel() == 0 || self.min().item<int64_t>() >= 0),
               "bincount only supports 1-d non-negative integral inputs.");
  // As in ATen, the weights of no elements are not looked at.
  if (!weights.defined() || self.numel() == 0)
    return compose<Bincount>({minlength}, self, Tensor());
  HEARTH_CHECK(weights.sizes().equals(self.sizes()),
               "weights should be 1-d and have the same length as input");
  const Tensor values = weights.detach();
  return compose<Bincount>({minlength}, self,
                           values.scalar_type() == kFloat ? values : values.to(kDouble));
}

}  // namespace

TensorTriple _unique2(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  return compose<Unique>({return_inverse, return_counts, {}}, self);
}
/// As in ATen, the inverse and the counts are always returned.
TensorTriple unique_dim(const Tensor& self, int64_t dim, bool, bool, bool) {
  return compose<UniqueDim>({true, true, wrap_dim(dim, self.dim())}, self);
}

// HEARTH_QUALIFIED (as_methods.inc): argument-dependent lookup does not find it.
namespace by_name {

TensorTriple unique(const Tensor& self, bool sorted, bool return_inverse, bool return_counts,
                    std::optional<int64_t> dim) {
  return dim ? unique_dim(self, *dim, sorted, return_inverse, return_counts)
             : _unique2(self, sorted, return_inverse, return_counts);
}

}  // namespace by_name

HEARTH_DEFINE_METHOD(TensorTriple, unique_consecutive,
                     (bool return_inverse, bool return_counts, std::optional<int64_t> dim),
                     compose<UniqueConsecutive>({return_inverse || dim, return_counts || dim,
                                                 dim ? std::optional(wrap_dim(*dim, self.dim()))
                                                     : std::nullopt},
                                                self))

TensorTriple unique_dim_consecutive(const Tensor& self, int64_t dim, bool return_inverse,
                                    bool return_counts) {
  return unique_consecutive(self, return_inverse, return_counts, dim);
}

HEARTH_DEFINE_METHOD(Tensor, bincount, (const std::optional<Tensor>& weights, int64_t minlength),
                     bincount_of(self, weights.value_or(Tensor()), minlength))

}  // namespace hearth
