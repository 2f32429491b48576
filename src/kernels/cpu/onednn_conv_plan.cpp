// Makes the plans of oneDNN's convolutions and keeps up to 1024 of them, one for each key_of()
// (shape, layout, dtype, stride and others), because oneDNN compiles code for each.
#include "kernels/cpu/onednn_conv_plan.h"

#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/process_end.h"

namespace hearth::cpu::onednn {

namespace {

using Desc = dnnl::memory::desc;
using Sizes = dnnl::memory::dims;

constexpr size_t kMaxPlans = 1024;

/// Returns a descriptor of the same sizes, whose layout oneDNN may choose.
Desc any_layout(const Desc& desc, DataType type) {
#if DNNL_VERSION_MAJOR >= 3
  return {desc.get_dims(), type, dnnl::memory::format_tag::any};
#else
  return {desc.dims(), type, dnnl::memory::format_tag::any};
#endif
}

/// The arguments of oneDNN's convolutions, which count dilation from 0.
struct Geometry {
  Sizes stride, dilation, padding_before, padding_after;

  explicit Geometry(const ConvParams& p) {
    for (int d = 0; d < p.spatial(); ++d) {
      stride.push_back(p.stride[d]);
      dilation.push_back(p.dilation[d] - 1);
      padding_before.push_back(p.padding[d]);
      const int64_t kernel_extent = p.dilation[d] * (p.weight.sizes[d + 2] - 1) + 1;
      padding_after.push_back((p.out.sizes[d + 2] - 1) * p.stride[d] + kernel_extent -
                              p.in.sizes[d + 2] - p.padding[d]);
    }
  }
};

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);  // plans are shared between threads
  return attr;
}

template <class Primitive, class... A>
typename Primitive::primitive_desc describe(const A&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), arguments..., attributes()};
#else
  return {typename Primitive::desc(arguments...), attributes(), engine()};
#endif
}
template <class Primitive, class Hint, class... A>
typename Primitive::primitive_desc describe_backward(const Hint& hint, const A&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), arguments..., hint, attributes()};
#else
  return {typename Primitive::desc(arguments...), attributes(), engine(), hint};
#endif
}

/// Whether oneDNN would run its reference implementation.
template <class Description>
bool is_slow(const Description& description) {
  return std::string_view(description.impl_info_str()).starts_with("ref");
}

constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;

/// Returns the plan for a convolution, or null if oneDNN has no fast implementation.
std::shared_ptr<const ConvPlan> make_plan(const ConvParams& p, const Desc& in, const Desc& weight,
                                          const Desc& out) {
  using Forward = dnnl::convolution_forward;
  using BackwardIn = dnnl::convolution_backward_data;
  using BackwardWeight = dnnl::convolution_backward_weights;
  const Geometry g(p);
  constexpr auto kForward = dnnl::prop_kind::forward_training;
  if (p.part == ConvPart::kOut && p.bias.defined()) {
    const Desc bias(Sizes{p.bias.numel}, data_type(p.bias.dtype), Sizes{1});
    const auto d = describe<Forward>(kForward, kAlgorithm, in, weight, bias, out, g.stride,
                                     g.dilation, g.padding_before, g.padding_after);
    if (is_slow(d)) return nullptr;
    return std::make_shared<ConvPlan>(
        ConvPlan{Forward(d), d.src_desc(), d.weights_desc(), d.dst_desc(), d.scratchpad_desc()});
  }
  const auto forward = describe<Forward>(kForward, kAlgorithm, in, weight, out, g.stride,
                                         g.dilation, g.padding_before, g.padding_after);
  if (p.part == ConvPart::kOut) {
    if (is_slow(forward)) return nullptr;
    return std::make_shared<ConvPlan>(ConvPlan{Forward(forward), forward.src_desc(),
                                               forward.weights_desc(), forward.dst_desc(),
                                               forward.scratchpad_desc()});
  }
  if (p.part == ConvPart::kIn) {
    const auto d = describe_backward<BackwardIn>(forward, kAlgorithm, in, weight, out, g.stride,
                                                 g.dilation, g.padding_before, g.padding_after);
    if (is_slow(d)) return nullptr;
    return std::make_shared<ConvPlan>(ConvPlan{BackwardIn(d), d.diff_src_desc(), d.weights_desc(),
                                               d.diff_dst_desc(), d.scratchpad_desc()});
  }
  const auto d = describe_backward<BackwardWeight>(forward, kAlgorithm, in, weight, out, g.stride,
                                                   g.dilation, g.padding_before, g.padding_after);
  if (is_slow(d)) return nullptr;
  return std::make_shared<ConvPlan>(ConvPlan{BackwardWeight(d), d.src_desc(), d.diff_weights_desc(),
                                             d.diff_dst_desc(), d.scratchpad_desc()});
}

/// For views that are contiguous or channels_last, as conv() requires.
bool is_channels_last(const View& view) { return !view.contiguous(); }

/// Returns a key of everything that a plan depends on.
std::vector<int64_t> key_of(const ConvParams& p) {
  std::vector<int64_t> key{
      int64_t(p.part),        int64_t(p.in.dtype),    p.groups, int64_t(p.bias.defined()), p.in.dim,
      is_channels_last(p.in), is_channels_last(p.out)};
  for (const View* view : {&p.in, &p.weight, &p.out})
    key.insert(key.end(), view->sizes, view->sizes + view->dim);
  for (int d = 0; d < p.spatial(); ++d)
    for (const int64_t number : {p.stride[d], p.padding[d], p.dilation[d]}) key.push_back(number);
  return key;
}

}  // namespace

Desc plain_desc(const View& view) {
  return {Sizes(view.sizes, view.sizes + view.dim), data_type(view.dtype),
          Sizes(view.strides, view.strides + view.dim)};
}

Desc weight_desc(const View& view, int64_t groups) {
  Sizes sizes(view.sizes, view.sizes + view.dim), strides(view.strides, view.strides + view.dim);
  if (groups > 1) {
    sizes[0] /= groups;
    sizes.insert(sizes.begin(), groups);
    strides.insert(strides.begin(), strides[0] * sizes[1]);
  }
  return {sizes, data_type(view.dtype), strides};
}

std::shared_ptr<const ConvPlan> plan_for(const ConvParams& p) {
  static auto& mutex = *new std::mutex;
  static auto& plans = *new std::map<std::vector<int64_t>, std::shared_ptr<const ConvPlan>>;
  const std::vector<int64_t> key = key_of(p);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = plans.find(key); found != plans.end()) return found->second;
  }
  check_free_memory();
  std::shared_ptr<const ConvPlan> plan;
  const auto preferred_desc = [](const View& view) {
    return is_channels_last(view) ? plain_desc(view)
                                  : any_layout(plain_desc(view), data_type(view.dtype));
  };
  const DataType weight_type =
      p.part == ConvPart::kWeight ? DataType::f32 : data_type(p.weight.dtype);
  try {
    plan =
        make_plan(p, preferred_desc(p.in), any_layout(weight_desc(p.weight, p.groups), weight_type),
                  preferred_desc(p.out));
  } catch (const dnnl::error&) {
  }
  protect_new_statics();
  const std::lock_guard lock(mutex);
  if (plans.size() >= kMaxPlans) plans.clear();
  return plans[key] = plan;
}

}  // namespace hearth::cpu::onednn
