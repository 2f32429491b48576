// cuDNN 9 marks its older API as deprecated; the newer one needs a header library that Hearth does
// not have.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <cudnn.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

#include "core/modes.h"
#include "kernels/conv.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/libraries.h"
#include "kernels/cuda/loop.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

std::string cudnn_version() { return version_text(cudnnGetVersion(), 10000, 100); }

namespace {

constexpr size_t kMostWorkspace = size_t{1} << 30;
constexpr int kMostAlgorithms = 8;
constexpr size_t kMostChoices = 4096;

void check(cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  detail::fail<Error>("cuDNN error: ", cudnnGetErrorString(status), " in ", call);
}
#define HEARTH_CUDNN(call) check((call), #call)

/// This thread's handle for the stream's device; never destroyed, since the driver may be gone when
/// threads end.
cudnnHandle_t handle_of(const NativeStream& stream) {
  static thread_local cudnnHandle_t handles[kMaxGpus] = {};
  cudnnHandle_t& handle = handles[stream.device];
  if (handle == nullptr) HEARTH_CUDNN(cudnnCreate(&handle));
  HEARTH_CUDNN(cudnnSetStream(handle, stream.stream));
  return handle;
}

/// Owns a cuDNN descriptor.
template <class Handle, cudnnStatus_t (*create)(Handle*), cudnnStatus_t (*destroy)(Handle)>
class Owned {
 public:
  Owned() { HEARTH_CUDNN(create(&handle_)); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { destroy(handle_); }
  operator Handle() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};
using TensorDescription =
    Owned<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using FilterDescription =
    Owned<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using ConvDescription = Owned<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
                              cudnnDestroyConvolutionDescriptor>;

cudnnDataType_t data_type(ScalarType dtype) {
  switch (dtype) {
    case kHalf: return CUDNN_DATA_HALF;
    case kBFloat16: return CUDNN_DATA_BFLOAT16;
    case kDouble: return CUDNN_DATA_DOUBLE;
    default: return CUDNN_DATA_FLOAT;
  }
}

/// cuDNN counts with 32 bits, and from four dimensions on: `missing` is what stands for height.
struct Numbers {
  int values[kMaxSpatial + 2];
  int count = 0;

  Numbers(const int64_t* from, int n, int before, int64_t missing, int spatial) {
    for (int i = 0; i < before; ++i) add(from[i]);
    if (spatial == 1) add(missing);
    for (int i = before; i < n; ++i) add(from[i]);
  }
  void add(int64_t value) {
    HEARTH_CHECK(value <= std::numeric_limits<int>::max(),
                 "cuDNN takes no tensors of sizes or strides beyond 2^31");
    values[count++] = static_cast<int>(value);
  }
};

bool has_order(const View& view, bool channels_last) {
  int64_t expected = 1;
  const auto fits = [&](int d) {
    const bool good = view.sizes[d] == 1 || view.strides[d] == expected;
    expected *= view.sizes[d];
    return good;
  };
  bool good = !channels_last || fits(1);
  for (int d = view.dim - 1; d >= 2; --d) good = fits(d) && good;
  if (!channels_last) good = fits(1) && good;
  return fits(0) && good;
}

void set_order(View& view, bool channels_last) {
  int64_t stride = 1;
  const auto next = [&](int d) {
    view.strides[d] = stride;
    stride *= view.sizes[d];
  };
  if (channels_last) next(1);
  for (int d = view.dim - 1; d >= 2; --d) next(d);
  if (!channels_last) next(1);
  next(0);
}

/// A convolution as cuDNN sees it: all three tensors in one order.
struct Convolution {
  ConvParams p;
  bool channels_last;
  TensorDescription in, out;
  FilterDescription weight;
  ConvDescription conv;

  Convolution(const ConvParams& params, Ctx& ctx) : p(params) {
    const bool may_be_last = p.spatial() > 1 && p.in.dtype != kDouble;
    channels_last = may_be_last && ((has_order(p.in, true) && !has_order(p.in, false)) ||
                                    (has_order(p.out, true) && !has_order(p.out, false)));
    for (View* view : {&p.in, &p.weight, &p.out}) arrange(*view, ctx);
    describe(in, p.in);
    describe(out, p.out);
    const Numbers sizes(p.weight.sizes, p.weight.dim, 2, 1, p.spatial());
    HEARTH_CUDNN(cudnnSetFilterNdDescriptor(weight, data_type(p.weight.dtype),
                                            channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
                                            sizes.count, sizes.values));
    describe_conv(ctx);
  }

  /// Copies what does not lie in order; what is computed gets scratch memory.
  void arrange(View& view, Ctx& ctx) const {
    const View given = view;
    const bool good = has_order(view, channels_last);
    set_order(view, channels_last);
    if (good) return;
    view.data = ctx.scratch(size_t(view.numel) * element_size(view.dtype));
    if (&view != &p.computed()) run(copy_params(view, given), ctx);
  }
  void describe(const TensorDescription& description, const View& view) const {
    const Numbers sizes(view.sizes, view.dim, 2, 1, p.spatial());
    const Numbers strides(view.strides, view.dim, 2, view.sizes[2] * view.strides[2], p.spatial());
    HEARTH_CUDNN(cudnnSetTensorNdDescriptor(description, data_type(view.dtype), sizes.count,
                                            sizes.values, strides.values));
  }
  void describe_conv(const Ctx& ctx) const {
    const int n = p.spatial();
    const Numbers padding(p.padding, n, 0, 0, n), stride(p.stride, n, 0, 1, n),
        dilation(p.dilation, n, 0, 1, n);
    const ScalarType dtype = p.in.dtype;
    HEARTH_CUDNN(cudnnSetConvolutionNdDescriptor(
        conv, padding.count, padding.values, stride.values, dilation.values,
        CUDNN_CROSS_CORRELATION, dtype == kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
    HEARTH_CUDNN(cudnnSetConvolutionGroupCount(conv, static_cast<int>(p.groups)));
    set_math(is_reduced_float(dtype)                           ? CUDNN_TENSOR_OP_MATH
             : dtype == kFloat && !ctx.allows(kAllowTF32CuDNN) ? CUDNN_FMA_MATH
                                                               : CUDNN_DEFAULT_MATH);
  }
  void set_math(cudnnMathType_t math) const {
    HEARTH_CUDNN(cudnnSetConvolutionMathType(conv, math));
  }
};

/// The three parts of cuDNN's API, under one set of names.
struct OutApi {
  using Perf = cudnnConvolutionFwdAlgoPerf_t;
  static constexpr auto kGuess = cudnnGetConvolutionForwardAlgorithm_v7;
  static constexpr auto kMeasure = cudnnFindConvolutionForwardAlgorithmEx;
  static constexpr auto kCompute = cudnnConvolutionForward;
};
struct InApi {
  using Perf = cudnnConvolutionBwdDataAlgoPerf_t;
  static constexpr auto kGuess = cudnnGetConvolutionBackwardDataAlgorithm_v7;
  static constexpr auto kMeasure = cudnnFindConvolutionBackwardDataAlgorithmEx;
  static constexpr auto kCompute = cudnnConvolutionBackwardData;
};
struct WeightApi {
  using Perf = cudnnConvolutionBwdFilterAlgoPerf_t;
  static constexpr auto kGuess = cudnnGetConvolutionBackwardFilterAlgorithm_v7;
  static constexpr auto kMeasure = cudnnFindConvolutionBackwardFilterAlgorithmEx;
  static constexpr auto kCompute = cudnnConvolutionBackwardFilter;
};

/// All that the choice of an algorithm depends on.
std::vector<int64_t> key_of(const Convolution& c, const Ctx& ctx) {
  const ConvParams& p = c.p;
  std::vector<int64_t> key{ctx.device().index(), ctx.numerics(),  int64_t(p.in.dtype), p.groups,
                           p.spatial(),          c.channels_last, p.bias.defined()};
  for (const View* view : {&p.in, &p.weight, &p.out})
    key.insert(key.end(), view->sizes, view->sizes + view->dim);
  for (int d = 0; d < p.spatial(); ++d)
    for (const int64_t number : {p.stride[d], p.padding[d], p.dilation[d]}) key.push_back(number);
  return key;
}

/// The first of cuDNN's proposals, best first, that is allowed.
template <class Perf>
Perf first_allowed(const Perf* proposals, int count, const Ctx& ctx) {
  for (int i = 0; i < count; ++i) {
    const bool steady = proposals[i].determinism == CUDNN_DETERMINISTIC;
    if (proposals[i].status == CUDNN_STATUS_SUCCESS && proposals[i].memory <= kMostWorkspace &&
        (steady || !ctx.allows(kDeterministicCuDNN)))
      return proposals[i];
  }
  detail::fail<Error>("cuDNN has no algorithm for this convolution",
                      ctx.allows(kDeterministicCuDNN) ? " that is deterministic" : "");
}

/// cuDNN's algorithm for a convolution: its guess, or under benchmark the fastest; asked for once.
template <class Api, class Ask>
typename Api::Perf choose(const Convolution& c, const Ctx& ctx, const Ask& ask) {
  static auto& mutex = *new std::mutex;
  static auto& choices = *new std::map<std::vector<int64_t>, typename Api::Perf>;
  const std::vector<int64_t> key = key_of(c, ctx);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = choices.find(key); found != choices.end()) return found->second;
  }
  typename Api::Perf proposals[kMostAlgorithms];
  int count = 0;
  ask(&count, proposals);
  const typename Api::Perf best = first_allowed(proposals, count, ctx);
  const std::lock_guard lock(mutex);
  if (choices.size() >= kMostChoices) choices.clear();
  return choices[key] = best;
}

/// Factors of what is computed and of what is there; cuDNN reads doubles for float64.
struct Factors {
  float narrow[2];
  double wide[2];
  bool is_wide;
  Factors(bool adds, ScalarType dtype)
      : narrow{1, adds ? 1.0F : 0.0F}, wide{1, adds ? 1.0 : 0.0}, is_wide(dtype == kDouble) {}
  const void* product() const { return is_wide ? static_cast<const void*>(&wide[0]) : &narrow[0]; }
  const void* present() const { return is_wide ? static_cast<const void*>(&wide[1]) : &narrow[1]; }
};

/// Computes target from a and b, with their descriptors.
template <class Api, class A, class B, class Target>
void compute(const Convolution& c, const A& a_desc, const View& a, const B& b_desc, const View& b,
             const Target& target_desc, const View& target, Ctx& ctx) {
  const cudnnHandle_t handle = handle_of(stream_of(ctx));
  const auto perf = choose<Api>(c, ctx, [&](int* count, typename Api::Perf* proposals) {
    if (!ctx.allows(kBenchmarkCuDNN)) {
      HEARTH_CUDNN(Api::kGuess(handle, a_desc, b_desc, c.conv, target_desc, kMostAlgorithms, count,
                               proposals));
      return;
    }
    constexpr size_t kBytes = size_t{256} << 20;
    HEARTH_CUDNN(Api::kMeasure(handle, a_desc, a.data, b_desc, b.data, c.conv, target_desc,
                               ctx.scratch(size_t(target.numel) * element_size(target.dtype)),
                               kMostAlgorithms, count, proposals, ctx.scratch(kBytes), kBytes));
  });
  c.set_math(perf.mathType);
  const Factors factors(c.p.bias.defined(), target.dtype);
  HEARTH_CUDNN(Api::kCompute(handle, factors.product(), a_desc, a.data, b_desc, b.data, c.conv,
                             perf.algo, ctx.scratch(perf.memory), perf.memory, factors.present(),
                             target_desc, target.data));
}

/// Writes the bias where the result is added to it.
void write_bias(const ConvParams& p, Ctx& ctx) {
  View spread = p.computed();
  spread.data = p.bias.data;
  std::fill_n(spread.strides, spread.dim, 0);
  spread.strides[1] = p.bias.strides[0];
  run(copy_params(p.computed(), spread), ctx);
}

}  // namespace

void run(const ConvParams& params, Ctx& ctx) {
  if (params.computed().numel == 0) return;
  const CurrentDevice device(stream_of(ctx).device);
  const Convolution c(params, ctx);
  const ConvParams& p = c.p;
  if (p.bias.defined()) write_bias(p, ctx);
  switch (p.part) {
    case ConvPart::kOut:
      compute<OutApi>(c, c.in, p.in, c.weight, p.weight, c.out, p.out, ctx);
      break;
    case ConvPart::kIn: compute<InApi>(c, c.weight, p.weight, c.out, p.out, c.in, p.in, ctx); break;
    case ConvPart::kWeight:
      compute<WeightApi>(c, c.in, p.in, c.out, p.out, c.weight, p.weight, ctx);
      break;
  }
  if (p.computed().data != params.computed().data)
    run(copy_params(params.computed(), p.computed()), ctx);
}

}  // namespace hearth::cuda
