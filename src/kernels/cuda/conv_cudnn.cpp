// Convolutions by cudnnConvolutionForward, gradients by cudnnConvolutionBackwardData and
// BackwardFilter. Before the call, tensors are copied into one memory order where they differ, the
// bias is written into the result, and an algorithm is chosen by cuDNN's heuristic or by timing,
// and kept. Large convolutions are bound by arithmetic, small ones by the launches.

// cuDNN 9 marks its older API as deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "core/modes.h"
#include "kernels/cuda/cudnn_library.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/loop.h"
#include "kernels/cuda/stream.h"
#include "seam/conv.h"

namespace hearth::cuda {

namespace {

constexpr size_t kMaxWorkspace = size_t{1} << 30;  // bytes; algorithms that need more are skipped
constexpr int kMaxAlgorithms = 8;
constexpr size_t kMaxChoices = 4096;  // of one computation; before another one, all are forgotten

using TensorDescription = Owned<cudnnTensorDescriptor_t, &Cudnn::cudnnCreateTensorDescriptor,
                                &Cudnn::cudnnDestroyTensorDescriptor>;
using FilterDescription = Owned<cudnnFilterDescriptor_t, &Cudnn::cudnnCreateFilterDescriptor,
                                &Cudnn::cudnnDestroyFilterDescriptor>;
using ConvDescription =
    Owned<cudnnConvolutionDescriptor_t, &Cudnn::cudnnCreateConvolutionDescriptor,
          &Cudnn::cudnnDestroyConvolutionDescriptor>;

/// One number per dimension for cuDNN, which requires 32-bit numbers and at least two spatial
/// dimensions: if there is only one, `height` is inserted after the first num_leading numbers.
struct Numbers {
  int values[kMaxSpatial + 2];
  int count = 0;

  Numbers(const int64_t* from, int length, int num_leading, int64_t height, int spatial) {
    for (int i = 0; i < num_leading; ++i) add(from[i]);
    if (spatial == 1) add(height);
    for (int i = num_leading; i < length; ++i) add(from[i]);
  }
  void add(int64_t value) {
    HEARTH_CHECK(value <= std::numeric_limits<int>::max(),
                 "cuDNN supports only sizes, strides, padding and dilation below 2^31");
    values[count++] = static_cast<int>(value);
  }
};

bool has_order(const View& view, bool channels_last) {
  int64_t expected = 1;
  const auto fits = [&](int d) {
    const bool matches = view.sizes[d] == 1 || view.strides[d] == expected;
    expected *= view.sizes[d];
    return matches;
  };
  bool all_match = !channels_last || fits(1);
  for (int d = view.dim - 1; d >= 2; --d) all_match = fits(d) && all_match;
  if (!channels_last) all_match = fits(1) && all_match;
  return fits(0) && all_match;
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

/// Whether `in` or `out` is channels_last but not contiguous, and cuDNN supports that order.
bool use_channels_last(const ConvParams& p) {
  const bool supports_channels_last = p.spatial() > 1 && p.in.dtype != kDouble;
  return supports_channels_last && ((has_order(p.in, true) && !has_order(p.in, false)) ||
                                    (has_order(p.out, true) && !has_order(p.out, false)));
}

/// A convolution with cuDNN's descriptors; all three tensors have one memory order.
struct Convolution {
  ConvParams p;
  bool channels_last;
  bool exact;  // float32 without TensorFloat-32
  TensorDescription in, out;
  FilterDescription weight;
  ConvDescription conv;

  Convolution(const ConvParams& params, bool in_channels_last, Ctx& ctx)
      : p(params),
        channels_last(in_channels_last),
        exact(params.in.dtype == kFloat && !ctx.is_set(kAllowTF32CuDNN)) {
    for (View* view : {&p.in, &p.weight, &p.out}) arrange(*view, ctx);
    describe(in, p.in);
    describe(out, p.out);
    const Numbers sizes(p.weight.sizes, p.weight.dim, 2, 1, p.spatial());
    HEARTH_CUDNN(cudnnSetFilterNdDescriptor, weight, data_type(p.weight.dtype),
                 channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, sizes.count, sizes.values);
    describe_conv();
  }

  /// Replaces a view in another order by a copy or, for the result, by scratch memory.
  void arrange(View& view, Ctx& ctx) const {
    const View original = view;
    const bool is_arranged = has_order(view, channels_last);
    set_order(view, channels_last);
    if (is_arranged) return;
    view.data = ctx.scratch(size_t(view.numel) * element_size(view.dtype));
    if (&view != &p.computed()) run(copy_params(view, original), ctx);
  }
  void describe(const TensorDescription& description, const View& view) const {
    const Numbers sizes(view.sizes, view.dim, 2, 1, p.spatial());
    const Numbers strides(view.strides, view.dim, 2, view.sizes[2] * view.strides[2], p.spatial());
    HEARTH_CUDNN(cudnnSetTensorNdDescriptor, description, data_type(view.dtype), sizes.count,
                 sizes.values, strides.values);
  }
  void describe_conv() const {
    const int n = p.spatial();
    const Numbers padding(p.padding, n, 0, 0, n), stride(p.stride, n, 0, 1, n),
        dilation(p.dilation, n, 0, 1, n);
    const ScalarType dtype = p.in.dtype;
    HEARTH_CUDNN(cudnnSetConvolutionNdDescriptor, conv, padding.count, padding.values,
                 stride.values, dilation.values, CUDNN_CROSS_CORRELATION,
                 dtype == kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
    HEARTH_CUDNN(cudnnSetConvolutionGroupCount, conv, static_cast<int>(p.groups));
    set_math(is_reduced_float(dtype) ? CUDNN_TENSOR_OP_MATH : CUDNN_DEFAULT_MATH);
  }
  /// Ignores `math` if computation is exact, because cuDNN proposes TensorFloat-32 even then.
  void set_math(cudnnMathType_t math) const {
    HEARTH_CUDNN(cudnnSetConvolutionMathType, conv, exact ? CUDNN_FMA_MATH : math);
  }
};

/// cuDNN's functions for each ConvPart, under common names.
struct OutApi {
  using Perf = cudnnConvolutionFwdAlgoPerf_t;
  static constexpr auto kGuess = &Cudnn::cudnnGetConvolutionForwardAlgorithm_v7;
  static constexpr auto kMeasure = &Cudnn::cudnnFindConvolutionForwardAlgorithmEx;
  static constexpr auto kCompute = &Cudnn::cudnnConvolutionForward;
};
struct InApi {
  using Perf = cudnnConvolutionBwdDataAlgoPerf_t;
  static constexpr auto kGuess = &Cudnn::cudnnGetConvolutionBackwardDataAlgorithm_v7;
  static constexpr auto kMeasure = &Cudnn::cudnnFindConvolutionBackwardDataAlgorithmEx;
  static constexpr auto kCompute = &Cudnn::cudnnConvolutionBackwardData;
};
struct WeightApi {
  using Perf = cudnnConvolutionBwdFilterAlgoPerf_t;
  static constexpr auto kGuess = &Cudnn::cudnnGetConvolutionBackwardFilterAlgorithm_v7;
  static constexpr auto kMeasure = &Cudnn::cudnnFindConvolutionBackwardFilterAlgorithmEx;
  static constexpr auto kCompute = &Cudnn::cudnnConvolutionBackwardFilter;
};

/// Returns all values that the choice of an algorithm depends on.
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

/// The chosen algorithms by key_of(); nullopt where cuDNN refused all.
template <class Api>
class Choices {
 public:
  using Choice = std::optional<typename Api::Perf>;

  static Choices& get() {
    static auto* choices = new Choices;
    return *choices;
  }
  bool find(const std::vector<int64_t>& key, Choice& choice) {
    const std::lock_guard lock(mutex_);
    const auto found = choices_.find(key);
    if (found == choices_.end()) return false;
    choice = found->second;
    return true;
  }
  void remember(const std::vector<int64_t>& key, const Choice& choice) {
    const std::lock_guard lock(mutex_);
    if (choices_.size() >= kMaxChoices) choices_.clear();
    choices_[key] = choice;
  }

 private:
  std::mutex mutex_;
  std::map<std::vector<int64_t>, Choice> choices_;
};

/// cuDNN's alpha and beta, the factors of the result and of the target's old values: doubles for
/// float64, else floats.
struct Factors {
  float floats[2];
  double doubles[2];
  bool is_double;
  Factors(bool adds_to_target, ScalarType dtype)
      : floats{1, adds_to_target ? 1.0F : 0.0F},
        doubles{1, adds_to_target ? 1.0 : 0.0},
        is_double(dtype == kDouble) {}
  const void* alpha() const {
    return is_double ? static_cast<const void*>(&doubles[0]) : &floats[0];
  }
  const void* beta() const {
    return is_double ? static_cast<const void*>(&doubles[1]) : &floats[1];
  }
};

/// One of the three computations: the target from a and b, with their descriptors.
template <class Api, class A, class B, class Target>
struct Computation {
  using Perf = typename Api::Perf;
  const Convolution& c;
  const A& a_desc;
  const View& a;
  const B& b_desc;
  const View& b;
  const Target& target_desc;
  const View& target;
  Ctx& ctx;
  cudnnHandle_t handle = cudnn_handle(stream_of(ctx));
  std::optional<OutOfMemoryError> no_memory{};  // set if an algorithm's workspace did not fit

  /// Runs the algorithm that was chosen before, or the first proposal that cuDNN does not refuse.
  /// Returns false if it refuses all.
  bool run() {
    const std::vector<int64_t> key = key_of(c, ctx);
    auto& choices = Choices<Api>::get();
    typename Choices<Api>::Choice previous;
    const bool known = choices.find(key, previous);
    if (known && !previous) return false;
    std::vector<Perf> order = previous ? std::vector{*previous} : proposals();
    if (previous && run_any(order, key)) return true;
    if (previous) order = proposals();  // e.g. the previous one's workspace does not fit now
    if (run_any(order, key)) return true;
    if (no_memory) throw OutOfMemoryError(*no_memory);
    choices.remember(key, std::nullopt);
    return false;
  }

 private:
  bool run_any(const std::vector<Perf>& order, const std::vector<int64_t>& key) {
    for (const Perf& perf : order) try {
        if (!run_one(perf)) continue;
        if (!no_memory) Choices<Api>::get().remember(key, perf);
        return true;
      } catch (const OutOfMemoryError& error) {
        no_memory = error;
      }
    return false;
  }

  bool run_one(const Perf& perf) const {
    c.set_math(perf.mathType);
    const Factors factors(c.p.bias.defined(), target.dtype);
    const cudnnStatus_t status = (Cudnn::get().*Api::kCompute)(
        handle, factors.alpha(), a_desc, a.data, b_desc, b.data, c.conv, perf.algo,
        ctx.scratch(perf.memory), perf.memory, factors.beta(), target_desc, target.data);
    if (!is_refusal(status)) check_cudnn(status, "a convolution");
    return status == CUDNN_STATUS_SUCCESS;
  }

  /// The allowed algorithms, best first: by measured time in benchmark mode, else by cuDNN's
  /// heuristic.
  std::vector<Perf> proposals() const {
    std::vector<Perf> found(kMaxAlgorithms);
    int count = 0;
    if (!ctx.is_set(kBenchmarkCuDNN) || !measure(count, found.data())) {
      const cudnnStatus_t status = (Cudnn::get().*Api::kGuess)(
          handle, a_desc, b_desc, c.conv, target_desc, kMaxAlgorithms, &count, found.data());
      if (!is_refusal(status)) check_cudnn(status, "the choice of an algorithm");
      if (status != CUDNN_STATUS_SUCCESS) count = 0;
    }
    found.resize(static_cast<size_t>(count));
    std::erase_if(found, [&](const Perf& perf) {
      return perf.status != CUDNN_STATUS_SUCCESS || perf.memory > kMaxWorkspace ||
             (ctx.is_set(kDeterministicCuDNN) && perf.determinism != CUDNN_DETERMINISTIC);
    });
    return found;
  }

  bool measure(int& count, Perf* found) const {
    constexpr size_t kWorkspaceBytes = size_t{256} << 20;
    try {
      void* const result = ctx.scratch(size_t(target.numel) * element_size(target.dtype));
      const cudnnStatus_t status = (Cudnn::get().*Api::kMeasure)(
          handle, a_desc, a.data, b_desc, b.data, c.conv, target_desc, result, kMaxAlgorithms,
          &count, found, ctx.scratch(kWorkspaceBytes), kWorkspaceBytes);
      if (!is_refusal(status)) check_cudnn(status, "the timing of algorithms");
      return status == CUDNN_STATUS_SUCCESS && count > 0;
    } catch (const OutOfMemoryError&) {
      return false;
    }
  }
};

template <class Api, class A, class B, class Target>
bool compute(const Convolution& c, const A& a_desc, const View& a, const B& b_desc, const View& b,
             const Target& target_desc, const View& target, Ctx& ctx) {
  return Computation<Api, A, B, Target>{c, a_desc, a, b_desc, b, target_desc, target, ctx}.run();
}

/// Writes the broadcast bias into the result, to which the convolution is then added.
void write_bias(const ConvParams& p, Ctx& ctx) {
  View broadcast = p.computed();
  broadcast.data = p.bias.data;
  std::fill_n(broadcast.strides, broadcast.dim, 0);
  broadcast.strides[1] = p.bias.strides[0];
  run(copy_params(p.computed(), broadcast), ctx);
}

/// Computes the convolution with tensors in one order; returns false if cuDNN has no algorithm for
/// it.
bool run_in_order(const ConvParams& params, bool channels_last, Ctx& ctx) {
  const Convolution c(params, channels_last, ctx);
  const ConvParams& p = c.p;
  if (p.bias.defined()) write_bias(p, ctx);
  const bool done = p.part == ConvPart::kOut
                        ? compute<OutApi>(c, c.in, p.in, c.weight, p.weight, c.out, p.out, ctx)
                    : p.part == ConvPart::kIn
                        ? compute<InApi>(c, c.weight, p.weight, c.out, p.out, c.in, p.in, ctx)
                        : compute<WeightApi>(c, c.in, p.in, c.out, p.out, c.weight, p.weight, ctx);
  if (done && p.computed().data != params.computed().data)
    run(copy_params(params.computed(), p.computed()), ctx);
  return done;
}

}  // namespace

void run(const ConvParams& params, Ctx& ctx) {
  if (params.computed().numel == 0) return;
  const CurrentDevice device(stream_of(ctx).device);
  if (use_channels_last(params) && run_in_order(params, true, ctx)) return;
  if (run_in_order(params, false, ctx)) return;
  detail::fail<Error>("cuDNN has no algorithm for this convolution",
                      ctx.is_set(kDeterministicCuDNN) ? " that is deterministic" : "");
}

}  // namespace hearth::cuda
