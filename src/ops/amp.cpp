// The ops of a gradient scaler: gradients are divided by the scale and checked, and the scale is
// updated, without waiting for the device.
#include "seam/amp.h"

#include <algorithm>

#include "hearth/autograd.h"
#include "ops/binding.h"
#include "ops/call.h"

namespace hearth {

namespace {

void check_number(const char* name, const TensorImpl& number) {
  HEARTH_CHECK(number.numel == 1, name, " must be a 1-element tensor.");
  HEARTH_CHECK(number.dtype == kFloat, name, " must be a float tensor.");
}

template <class T>
T* address(const LaunchContext& context, int i) {
  return static_cast<T*>(kernel_address(context.in_impl(i)));
}

/// Inputs: `count` tensors, found_inf, inv_scale.
struct Unscale {
  struct Args {
    int64_t count;
    HEARTH_FIELDS(count)
    int found_inf() const { return int(count); }
    int inv_scale() const { return int(count) + 1; }
  };
  static constexpr OpInfo info{.name = "_amp_foreach_non_finite_check_and_unscale_",
                               .arguments = "self",
                               .dtypes = dtypes::kFloating,
                               .outputs = 0};
  static void infer(const Args& args, InferContext& context) {
    for (int i = 0; i < args.count; ++i) check_no_internal_overlap(context.in(i));
    check_number("found_inf", context.in(args.found_inf()));
    check_number("inv_scale", context.in(args.inv_scale()));
  }
  static void launch(const Args& args, LaunchContext& context) {
    AmpUnscaleParams params;
    params.dtype = context.in_impl(0).dtype;
    params.inv_scale = address<const float>(context, args.inv_scale());
    params.found_inf = address<float>(context, args.found_inf());
    params.tensors.reserve(size_t(args.count));
    for (int i = 0; i < args.count; ++i)
      params.tensors.push_back({address<void>(context, i), context.in_impl(i).numel});
    run_kernel(context.ctx, params);
  }
  static bool mutates(const Args& args, const Inputs&, int i) { return i != args.inv_scale(); }
};

/// Inputs: the scale, growth_tracker, found_inf.
struct UpdateScale {
  struct Args {
    double growth_factor, backoff_factor;
    int64_t growth_interval;
    HEARTH_FIELDS(growth_factor, backoff_factor, growth_interval)
  };
  static constexpr OpInfo info{.name = "_amp_update_scale_",
                               .arguments = "current_scale,growth_tracker,found_inf",
                               .outputs = 0};
  static void infer(const Args&, InferContext& context) {
    check_number("current_scale", context.in(0));
    HEARTH_CHECK(context.in(1).numel == 1, "growth_tracker must be a 1-element tensor.");
    HEARTH_CHECK(context.in(1).dtype == kInt, "growth_tracker must be an int tensor.");
    check_number("found_inf", context.in(2));
  }
  static void launch(const Args& args, LaunchContext& context) {
    AmpUpdateScaleParams params;
    params.scale = address<float>(context, 0);
    params.growth_tracker = address<int32_t>(context, 1);
    params.found_inf = address<const float>(context, 2);
    params.growth_factor = args.growth_factor;
    params.backoff_factor = args.backoff_factor;
    params.growth_interval = args.growth_interval;
    run_kernel(context.ctx, params);
  }
  static bool mutates(const Args&, const Inputs&, int i) { return i != 2; }
};

/// Unscales tensors of one dtype; a tensor that is not dense is copied to a dense one and back.
void unscale(const std::vector<Tensor>& tensors, const Tensor& found_inf, const Tensor& inv_scale) {
  std::vector<Tensor> dense;
  dense.reserve(tensors.size());
  for (const Tensor& tensor : tensors)
    dense.push_back(tensor.is_non_overlapping_and_dense() ? tensor : tensor.contiguous());
  invoke<Unscale>({int64_t(dense.size())}, TensorList(dense), found_inf, inv_scale).all();
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!dense[i].is_same(tensors[i])) tensors[i].copy_(dense[i]);
}

}  // namespace

void _amp_foreach_non_finite_check_and_unscale_(TensorList self, Tensor& found_inf,
                                                const Tensor& inv_scale) {
  std::vector<ScalarType> done;
  for (size_t i = 0; i < self.size(); ++i) {
    check_defined(Unscale::info.name, int(i), "self", self[i]);
    const ScalarType dtype = self[i].scalar_type();
    if (std::find(done.begin(), done.end(), dtype) != done.end()) continue;
    done.push_back(dtype);
    std::vector<Tensor> same;
    for (const Tensor& tensor : self)
      if (tensor.defined() && tensor.scalar_type() == dtype) same.push_back(tensor);
    unscale(same, found_inf, inv_scale);
  }
}

Tensor& _amp_update_scale_(Tensor& self, Tensor& growth_tracker, const Tensor& found_inf,
                           double scale_growth_factor, double scale_backoff_factor,
                           int64_t growth_interval) {
  invoke<UpdateScale>({scale_growth_factor, scale_backoff_factor, growth_interval}, self,
                      growth_tracker, found_inf)
      .all();
  return self;
}

}  // namespace hearth
