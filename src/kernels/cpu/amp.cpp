// Multiplies the gradients of a call by 1 / scale in place, and finds infinities and NaN. The
// threads divide the elements of all tensors as one range; a tile of 1024 elements is checked, then
// multiplied, so that the second pass finds it in the cache. Bound by memory: each element is read
// once and, unless the scale is 1, written once. AmpUpdateScale's rule is in seam/amp.h.
#include "seam/amp.h"

#include <algorithm>
#include <atomic>

#include "core/parallel_for.h"
#include "kernels/cpu/reduce_convert.h"
#include "kernels/cpu/tensor_ranges.h"
#include "seam/ctx.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kUnscaleGrain = 65536;  // elements that are worth another thread
constexpr int64_t kUnscaleTile = 1024;    // elements of a tile, which stays in the cache

/// Whether any element is inf or NaN: then all bits of its exponent, `mask`, are set.
template <class Bits>
bool any_not_finite(const void* data, int64_t n, Bits mask) {
  const Bits* const bits = static_cast<const Bits*>(data);
  Bits found = 0;
  for (int64_t i = 0; i < n; ++i) found |= Bits(-int((bits[i] & mask) == mask));
  return found != 0;
}

template <class T>
void scale(T* data, int64_t n, T factor) {
  for (int64_t i = 0; i < n; ++i) data[i] *= factor;
}

/// Unscales the tensors of a call, as one range of elements.
class Unscale {
 public:
  Unscale(const AmpUnscaleParams& params, Ctx& ctx)
      : params_(params), inv_scale_(*params.inv_scale), ranges_(params.tensors, ctx) {}

  int64_t numel() const { return ranges_.count(); }

  /// Unscales elements [begin, end); returns whether one of them was not finite.
  bool run(int64_t begin, int64_t end) const {
    bool found = false;
    ranges_.visit(begin, end, [&](size_t i, int64_t first, int64_t last) {
      char* const data = static_cast<char*>(params_.tensors[i].data);
      found |= unscale(data + first * int64_t(element_size(params_.dtype)), last - first);
    });
    return found;
  }

 private:
  bool unscale(char* data, int64_t n) const {
    bool found = false;
    for (int64_t done = 0; done < n; done += kUnscaleTile) {
      const int64_t count = std::min(kUnscaleTile, n - done);
      void* const at = data + done * int64_t(element_size(params_.dtype));
      found |= check(at, count);
      if (inv_scale_ != 1) multiply(at, count);
    }
    return found;
  }

  bool check(const void* data, int64_t n) const {
    switch (params_.dtype) {
      case kDouble: return any_not_finite<uint64_t>(data, n, 0x7ff0000000000000);
      case kHalf: return any_not_finite<uint16_t>(data, n, 0x7c00);
      case kBFloat16: return any_not_finite<uint16_t>(data, n, 0x7f80);
      default: return any_not_finite<uint32_t>(data, n, 0x7f800000);
    }
  }

  void multiply(void* data, int64_t n) const {
    if (params_.dtype == kFloat) return scale(static_cast<float*>(data), n, inv_scale_);
    if (params_.dtype == kDouble) return scale(static_cast<double*>(data), n, double(inv_scale_));
    alignas(64) float tile[kUnscaleTile];
    StridedConvert(params_.dtype, kFloat)(data, 1, tile, 1, n);
    scale(tile, n, inv_scale_);
    StridedConvert(kFloat, params_.dtype)(tile, 1, data, 1, n);
  }

  const AmpUnscaleParams& params_;
  const float inv_scale_;
  const TensorRanges ranges_;
};

}  // namespace

void run(const AmpUnscaleParams& params, Ctx& ctx) {
  const Unscale unscale(params, ctx);
  std::atomic<bool> found = false;
  parallel_for(0, unscale.numel(), kUnscaleGrain, [&](int64_t begin, int64_t end) {
    if (unscale.run(begin, end)) found.store(true, std::memory_order_relaxed);
  });
  if (found.load(std::memory_order_relaxed)) *params.found_inf = 1;
}

void run(const AmpUpdateScaleParams& params, Ctx&) { update_scale(params); }

}  // namespace hearth::cpu
