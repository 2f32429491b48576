// Transforms of contiguous lines by cufftExecC2C, R2C and C2R, in double Z2Z, D2Z and Z2D. Up to
// 256 plans are kept, one per device, type, length and number of lines. Before each call, the plan
// gets the stream and a workspace in scratch memory; the lines are prepared by fft.cu.
#include "kernels/cuda/fft_cufft.h"

#include <cufft.h>

#include <map>
#include <tuple>
#include <utility>

#include "hearth/error.h"
#include "kernels/cuda/library_file.h"

namespace hearth::cuda {

namespace {

#define HEARTH_CUFFT_FUNCTIONS(X) \
  X(cufftCreate)                  \
  X(cufftDestroy)                 \
  X(cufftSetAutoAllocation)       \
  X(cufftMakePlanMany64)          \
  X(cufftSetStream)               \
  X(cufftSetWorkArea)             \
  X(cufftExecC2C)                 \
  X(cufftExecR2C)                 \
  X(cufftExecC2R)                 \
  X(cufftExecZ2Z)                 \
  X(cufftExecD2Z)                 \
  X(cufftExecZ2D)

/// cuFFT, opened at its first use.
struct Cufft {
  LibraryFile file{"libcufft.so." HEARTH_TEXT(CUFFT_VER_MAJOR)};
#define HEARTH_MEMBER(name) decltype(&::name) name = nullptr;
  HEARTH_CUFFT_FUNCTIONS(HEARTH_MEMBER)
#undef HEARTH_MEMBER

  Cufft() {
#define HEARTH_FIND(name) file.find(#name, name);
    HEARTH_CUFFT_FUNCTIONS(HEARTH_FIND)
#undef HEARTH_FIND
  }
  static const Cufft& get() {
    static const Cufft& library = *new Cufft;
    HEARTH_CHECK_AS(NotImplementedError, library.file.why_not().empty(),
                    "Fourier transforms on CUDA need cuFFT, which could not be opened: ",
                    library.file.why_not());
    return library;
  }
};

void check(cufftResult result, const char* call) {
  HEARTH_CHECK(result == CUFFT_SUCCESS, "cuFFT error ", int(result), " in ", call);
}
#define HEARTH_CUFFT(function, ...) check(Cufft::get().function(__VA_ARGS__), #function)

/// A plan, whose workspace the caller provides at each run.
struct Plan {
  cufftHandle handle = 0;
  size_t workspace = 0;
};

cufftType type_of(const FftCall& call) {
  switch (call.kind) {
    case FftKind::kRealToComplex: return call.is_double ? CUFFT_D2Z : CUFFT_R2C;
    case FftKind::kComplexToReal: return call.is_double ? CUFFT_Z2D : CUFFT_C2R;
    default: return call.is_double ? CUFFT_Z2Z : CUFFT_C2C;
  }
}

/// The plans of all devices. A plan has one stream at a time, so a lock is held while it is used.
class Plans {
 public:
  static Plans& get() {
    static auto* plans = new Plans;
    return *plans;
  }
  void run(const FftCall& call, Ctx& ctx) {
    const std::lock_guard lock(mutex_);
    const NativeStream& stream = stream_of(ctx);
    const Plan plan = find(call, stream.device);
    HEARTH_CUFFT(cufftSetWorkArea, plan.handle, ctx.scratch(plan.workspace));
    HEARTH_CUFFT(cufftSetStream, plan.handle, stream.stream);
    call.is_double ? execute_double(plan.handle, call) : execute_float(plan.handle, call);
  }

 private:
  using Key = std::tuple<int, cufftType, int64_t, int64_t>;  // device, type, n, count
  static constexpr size_t kMaxPlans = 256;

  Plan find(const FftCall& call, int device) {
    const Key key{device, type_of(call), call.n, call.count};
    if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
    if (plans_.size() >= kMaxPlans) clear();
    return plans_[key] = create(call);
  }
  void clear() {
    const auto old = std::exchange(plans_, {});
    for (const auto& [key, plan] : old) {
      const CurrentDevice device(std::get<0>(key));
      Cufft::get().cufftDestroy(plan.handle);
    }
  }
  static Plan create(const FftCall& call) {
    long long n = call.n, half = call.n / 2 + 1;
    long long in = call.kind == FftKind::kComplexToReal ? half : n;
    long long out = call.kind == FftKind::kRealToComplex ? half : n;
    Plan plan;
    HEARTH_CUFFT(cufftCreate, &plan.handle);
    const char* function = "cufftSetAutoAllocation";
    cufftResult result = Cufft::get().cufftSetAutoAllocation(plan.handle, 0);
    if (result == CUFFT_SUCCESS) {
      function = "cufftMakePlanMany64";
      result = Cufft::get().cufftMakePlanMany64(plan.handle, 1, &n, &in, 1, in, &out, 1, out,
                                                type_of(call), call.count, &plan.workspace);
    }
    if (result != CUFFT_SUCCESS) Cufft::get().cufftDestroy(plan.handle);
    check(result, function);
    return plan;
  }

  static int direction(const FftCall& call) { return call.forward ? CUFFT_FORWARD : CUFFT_INVERSE; }
  static void execute_float(cufftHandle plan, const FftCall& call) {
    auto *const in = static_cast<cufftComplex*>(call.in), *const out =
                                                              static_cast<cufftComplex*>(call.out);
    switch (call.kind) {
      case FftKind::kComplex: HEARTH_CUFFT(cufftExecC2C, plan, in, out, direction(call)); break;
      case FftKind::kRealToComplex:
        HEARTH_CUFFT(cufftExecR2C, plan, static_cast<float*>(call.in), out);
        break;
      case FftKind::kComplexToReal:
        HEARTH_CUFFT(cufftExecC2R, plan, in, static_cast<float*>(call.out));
        break;
    }
  }
  static void execute_double(cufftHandle plan, const FftCall& call) {
    auto *const in = static_cast<cufftDoubleComplex*>(call.in),
                *const out = static_cast<cufftDoubleComplex*>(call.out);
    switch (call.kind) {
      case FftKind::kComplex: HEARTH_CUFFT(cufftExecZ2Z, plan, in, out, direction(call)); break;
      case FftKind::kRealToComplex:
        HEARTH_CUFFT(cufftExecD2Z, plan, static_cast<double*>(call.in), out);
        break;
      case FftKind::kComplexToReal:
        HEARTH_CUFFT(cufftExecZ2D, plan, in, static_cast<double*>(call.out));
        break;
    }
  }

  std::mutex mutex_;
  std::map<Key, Plan> plans_;
};

}  // namespace

void run_cufft(const FftCall& call, Ctx& ctx) {
  const CurrentDevice device(stream_of(ctx).device);
  Plans::get().run(call, ctx);
}

}  // namespace hearth::cuda
