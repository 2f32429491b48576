#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/threads.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/onednn_engine.h"

namespace hearth::cpu::onednn {

namespace {

using Desc = dnnl::memory::desc;
using Sizes = dnnl::memory::dims;

constexpr double kLeastWork = 1 << 18;  // multiplications that are worth a library call
constexpr int64_t kFewChannels = 4;     // of a gradient that oneDNN is slow for
constexpr size_t kMostPlans = 1024;

/// A primitive and the layouts it wants.
struct Plan {
  dnnl::primitive primitive;
  Desc in, weight, out, scratchpad;
};

Desc plain_desc(const View& view) {
  return {Sizes(view.sizes, view.sizes + view.dim), data_type(view.dtype),
          Sizes(view.strides, view.strides + view.dim)};
}

/// Groups are a dimension of their own.
Desc weight_desc(const View& view, int64_t groups) {
  Sizes sizes(view.sizes, view.sizes + view.dim), strides(view.strides, view.strides + view.dim);
  if (groups > 1) {
    sizes[0] /= groups;
    sizes.insert(sizes.begin(), groups);
    strides.insert(strides.begin(), strides[0] * sizes[1]);
  }
  return {sizes, data_type(view.dtype), strides};
}

/// The same sizes in whatever layout oneDNN likes.
Desc any_layout(const Desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return {desc.get_dims(), desc.get_data_type(), dnnl::memory::format_tag::any};
#else
  return {desc.dims(), desc.data_type(), dnnl::memory::format_tag::any};
#endif
}

struct Geometry {
  Sizes stride, dilation, before, after;

  explicit Geometry(const ConvParams& p) {
    for (int d = 0; d < p.spatial(); ++d) {
      stride.push_back(p.stride[d]);
      dilation.push_back(p.dilation[d] - 1);
      before.push_back(p.padding[d]);
      const int64_t reach = p.dilation[d] * (p.weight.sizes[d + 2] - 1) + 1;
      after.push_back((p.out.sizes[d + 2] - 1) * p.stride[d] + reach - p.in.sizes[d + 2] -
                      p.padding[d]);
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

template <class Description>
bool is_slow(const Description& description) {
  return std::string_view(description.impl_info_str()).starts_with("ref");
}

constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;

/// The plan for a convolution, or null where oneDNN has no fast one.
std::shared_ptr<const Plan> make_plan(const ConvParams& p, const Desc& in, const Desc& weight,
                                      const Desc& out) {
  using Forward = dnnl::convolution_forward;
  using BackwardIn = dnnl::convolution_backward_data;
  using BackwardWeight = dnnl::convolution_backward_weights;
  const Geometry g(p);
  constexpr auto kKind = dnnl::prop_kind::forward_training;
  if (p.part == ConvPart::kOut && p.bias.defined()) {
    const Desc bias(Sizes{p.bias.numel}, data_type(p.bias.dtype), Sizes{1});
    const auto d = describe<Forward>(kKind, kAlgorithm, in, weight, bias, out, g.stride, g.dilation,
                                     g.before, g.after);
    if (is_slow(d)) return nullptr;
    return std::make_shared<Plan>(
        Plan{Forward(d), d.src_desc(), d.weights_desc(), d.dst_desc(), d.scratchpad_desc()});
  }
  const auto forward = describe<Forward>(kKind, kAlgorithm, in, weight, out, g.stride, g.dilation,
                                         g.before, g.after);
  if (p.part == ConvPart::kOut) {
    if (is_slow(forward)) return nullptr;
    return std::make_shared<Plan>(Plan{Forward(forward), forward.src_desc(), forward.weights_desc(),
                                       forward.dst_desc(), forward.scratchpad_desc()});
  }
  if (p.part == ConvPart::kIn) {
    const auto d = describe_backward<BackwardIn>(forward, kAlgorithm, in, weight, out, g.stride,
                                                 g.dilation, g.before, g.after);
    if (is_slow(d)) return nullptr;
    return std::make_shared<Plan>(Plan{BackwardIn(d), d.diff_src_desc(), d.weights_desc(),
                                       d.diff_dst_desc(), d.scratchpad_desc()});
  }
  const auto d = describe_backward<BackwardWeight>(forward, kAlgorithm, in, weight, out, g.stride,
                                                   g.dilation, g.before, g.after);
  if (is_slow(d)) return nullptr;
  return std::make_shared<Plan>(Plan{BackwardWeight(d), d.src_desc(), d.diff_weights_desc(),
                                     d.diff_dst_desc(), d.scratchpad_desc()});
}

bool channels_last(const View& view) { return !view.contiguous(); }

/// All that a plan depends on.
std::vector<int64_t> key_of(const ConvParams& p) {
  std::vector<int64_t> key{int64_t(p.part),           int64_t(p.in.dtype), p.groups,
                           int64_t(p.bias.defined()), get_num_threads(),   p.in.dim,
                           channels_last(p.in),       channels_last(p.out)};
  for (const View* view : {&p.in, &p.weight, &p.out})
    key.insert(key.end(), view->sizes, view->sizes + view->dim);
  for (int d = 0; d < p.spatial(); ++d)
    for (const int64_t number : {p.stride[d], p.padding[d], p.dilation[d]}) key.push_back(number);
  return key;
}

/// The plans of this process; null for convolutions that oneDNN is not to be asked for.
std::shared_ptr<const Plan> plan_for(const ConvParams& p) {
  static auto& mutex = *new std::mutex;
  static auto& plans = *new std::map<std::vector<int64_t>, std::shared_ptr<const Plan>>;
  const std::vector<int64_t> key = key_of(p);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = plans.find(key); found != plans.end()) return found->second;
  }
  std::shared_ptr<const Plan> plan;
  const auto wanted = [](const View& view) {
    return channels_last(view) ? plain_desc(view) : any_layout(plain_desc(view));
  };
  try {
    plan = make_plan(p, wanted(p.in), any_layout(weight_desc(p.weight, p.groups)), wanted(p.out));
  } catch (const dnnl::error&) {
  }
  const std::lock_guard lock(mutex);
  if (plans.size() >= kMostPlans) plans.clear();
  return plans[key] = plan;
}

/// A tensor as it lies, and in the layout that the primitive wants.
struct Reordered {
  dnnl::memory plain, wanted;

  Reordered(const View& view, const Desc& plain_layout, const Desc& wanted_layout, Ctx& ctx)
      : plain(plain_layout, engine(), view.data), wanted(plain) {
    if (plain_layout != wanted_layout)
      wanted = {wanted_layout, engine(), ctx.scratch(wanted_layout.get_size())};
  }
  bool differ() const { return plain.get_data_handle() != wanted.get_data_handle(); }
};

void move(const dnnl::memory& from, const dnnl::memory& to, dnnl::stream& stream) {
  dnnl::memory source = from, target = to;
  dnnl::reorder(source, target).execute(stream, source, target);
}

}  // namespace

bool suits_conv(const ConvParams& p) {
  const int64_t in = p.weight.sizes[1], out = p.out.sizes[1] / p.groups;
  if (double(p.out.numel) * double(p.weight.numel / p.weight.sizes[0]) < kLeastWork) return false;
  if (in == 1 && out == 1 && p.groups > 1) return p.groups >= 8;
  return p.part != ConvPart::kIn || in > kFewChannels;
}

bool conv(const ConvParams& p, Ctx& ctx) {
  const LibraryThreadsGuard guard;
  const auto plan = plan_for(p);
  if (!plan) return false;
  const Reordered in(p.in, plain_desc(p.in), plan->in, ctx);
  const Reordered weight(p.weight, weight_desc(p.weight, p.groups), plan->weight, ctx);
  const Reordered out(p.out, plain_desc(p.out), plan->out, ctx);
  const Reordered* const parts[] = {&out, &in, &weight};  // as ConvPart numbers them
  const dnnl::memory scratchpad(plan->scratchpad, engine(),
                                ctx.scratch(plan->scratchpad.get_size()));
  dnnl::stream stream(engine());
  for (int i = 0; i < 3; ++i)
    if (i != int(p.part) && parts[i]->differ()) move(parts[i]->plain, parts[i]->wanted, stream);
  const bool gives_in = p.part == ConvPart::kIn, gives_weight = p.part == ConvPart::kWeight;
  std::unordered_map<int, dnnl::memory> arguments{
      {gives_in ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, in.wanted},
      {gives_weight ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, weight.wanted},
      {gives_in || gives_weight ? DNNL_ARG_DIFF_DST : DNNL_ARG_DST, out.wanted},
      {DNNL_ARG_SCRATCHPAD, scratchpad}};
  if (p.part == ConvPart::kOut && p.bias.defined())
    arguments.insert(
        {DNNL_ARG_BIAS, dnnl::memory(Desc(Sizes{p.bias.numel}, data_type(p.bias.dtype), Sizes{1}),
                                     engine(), p.bias.data)});
  plan->primitive.execute(stream, arguments);
  const Reordered& result = *parts[int(p.part)];
  if (result.differ()) move(result.wanted, result.plain, stream);
  stream.wait();
  return true;
}

}  // namespace hearth::cpu::onednn
