// Binary search in sorted rows.
#include "seam/search.h"

#include "ops/composed_out.h"
#include "ops/gather.h"

namespace hearth {

namespace {

struct SearchSorted {
  struct Args {
    bool out_int32, right;
    HEARTH_FIELDS(out_int32, right)
  };
  static constexpr OpInfo info{.name = "searchsorted",
                               .arguments = "sorted_sequence,self",
                               .dtypes = dtypes::kReal,
                               .non_differentiable = out_slot(0)};
  static void infer(const Args& args, InferContext& context) {
    context.set(0, context.in(1).sizes(), args.out_int32 ? kInt : kLong);
  }
  static void launch(const Args& args, LaunchContext& context) {
    run_kernel(context.ctx, SearchParams{context.in(0), context.in(1), context.out(), args.right});
  }
};

void check_rows(const Tensor& sorted, const Tensor& self) {
  constexpr const char* kWhere = "torch.searchsorted(): ";
  HEARTH_CHECK(self.dim() > 0 || sorted.dim() == 1, kWhere,
               "input value can be a scalar only when boundaries tensor dimension is 1, but we got "
               "boundaries tensor dim(",
               sorted.dim(), ") and input value's dim(0) numel(1)");
  const auto rows = [](const Tensor& t) { return t.sizes().slice(0, size_t(t.dim() - 1)); };
  HEARTH_CHECK(sorted.dim() == 1 || (sorted.dim() == self.dim() && rows(sorted).equals(rows(self))),
               kWhere,
               "boundaries tensor should be 1 dimension or the first N-1 dimensions of "
               "boundaries tensor and input value tensor must match, but we got boundaries tensor ",
               sorted.sizes(), " and input value tensor ", self.sizes());
}

Tensor search(const Tensor& sorted, const Tensor& self, bool out_int32, bool right) {
  const ScalarType type = promote_types(sorted.scalar_type(), self.scalar_type());
  return invoke<SearchSorted>({out_int32, right}, sorted.detach().to(type).contiguous(),
                              self.detach().to(type).contiguous())
      .call();
}

bool is_right(bool right, std::optional<std::string_view> side) {
  HEARTH_CHECK(!side || *side == "left" || *side == "right",
               "torch.searchsorted(): side can only be 'left' or 'right' but got ",
               side.value_or(""));
  HEARTH_CHECK(!side || !right || *side == "right",
               "torch.searchsorted(): side and right can't be set to opposites, got side of ",
               side.value_or(""), " while right was True");
  return right || (side && *side == "right");
}

Tensor number_like(const Scalar& value, const Tensor& tensor) {
  const ScalarType type = tensor.scalar_type();
  return full({}, value,
              tensor.options().dtype(is_integral(type, true) && !value.isIntegral(true)
                                         ? get_default_dtype_as_scalartype()
                                         : type));
}

}  // namespace

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const std::optional<Tensor>& sorter) {
  check_rows(sorted_sequence, self);
  const bool has_sorter = sorter && sorter->defined();
  if (has_sorter) {
    HEARTH_CHECK(sorter->sizes().equals(sorted_sequence.sizes()),
                 "torch.searchsorted(): boundary and sorter must have the same size, but got "
                 "boundary tensor ",
                 sorted_sequence.sizes(), "and got sorter tensor ", sorter->sizes());
    HEARTH_CHECK(sorter->scalar_type() == kLong,
                 "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype ",
                 name_of(sorter->scalar_type()));
  }
  const Tensor sorted =
      !has_sorter
          ? sorted_sequence
          : with_index_error(
                *sorter, 0, sorter->size(-1), [&] { return sorted_sequence.gather(-1, *sorter); },
                [](int64_t) {
                  detail::fail<Error>("torch.searchsorted(): sorter index out of range");
                });
  return search(sorted, self, out_int32, is_right(right, side));
}
Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const std::optional<Tensor>& sorter) {
  return searchsorted(sorted_sequence, number_like(self, sorted_sequence), out_int32, right, side,
                      sorter);
}
Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  HEARTH_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(",
               boundaries.dim(), ")");
  return search(boundaries, self, out_int32, right);
}
Tensor bucketize(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  return bucketize(number_like(self, boundaries), boundaries, out_int32, right);
}

HEARTH_DEFINE_WRITE_OUT(searchsorted,
                        (const Tensor& sorted_sequence, const Tensor& self, bool out_int32,
                         bool right, std::optional<std::string_view> side,
                         const std::optional<Tensor>& sorter),
                        searchsorted(sorted_sequence, self, out_int32, right, side, sorter))
HEARTH_DEFINE_WRITE_OUT(searchsorted,
                        (const Tensor& sorted_sequence, const Scalar& self, bool out_int32,
                         bool right, std::optional<std::string_view> side,
                         const std::optional<Tensor>& sorter),
                        searchsorted(sorted_sequence, self, out_int32, right, side, sorter))
HEARTH_DEFINE_WRITE_OUT(bucketize,
                        (const Tensor& self, const Tensor& boundaries, bool out_int32, bool right),
                        bucketize(self, boundaries, out_int32, right))

}  // namespace hearth
