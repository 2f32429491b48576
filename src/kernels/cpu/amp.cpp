#include "seam/amp.h"

#include <algorithm>
#include <atomic>

#include "core/parallel_for.h"
#include "kernels/cpu/reduce_convert.h"
#include "seam/ctx.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kGrain = 65536;  // elements that are worth another thread
constexpr int64_t kTile = 1024;    // elements of a half type that are converted at once

/// Whether an element is inf or NaN: whether all bits of its exponent, `mask`, are set.
template <class Bits>
bool any_not_finite(const void* data, int64_t n, Bits mask) {
  const Bits* const bits = static_cast<const Bits*>(data);
  Bits found = 0;
  for (int64_t i = 0; i < n; ++i) found |= Bits(-int((bits[i] & mask) == mask));
  return found != 0;
}

template <class T>
void scale(T* data, int64_t n, T by) {
  for (int64_t i = 0; i < n; ++i) data[i] *= by;
}

/// The tensors of a call, as one range of elements.
class Unscale {
 public:
  Unscale(const AmpUnscaleParams& params, Ctx& ctx)
      : params_(params),
        by_(*params.inv_scale),
        starts_(static_cast<int64_t*>(ctx.scratch((params.tensors.size() + 1) * sizeof(int64_t)))) {
    starts_[0] = 0;
    for (size_t i = 0; i < params.tensors.size(); ++i)
      starts_[i + 1] = starts_[i] + params.tensors[i].numel;
  }

  int64_t numel() const { return starts_[params_.tensors.size()]; }

  /// Unscales elements [begin, end); returns whether one of them was not finite.
  bool run(int64_t begin, int64_t end) const {
    int64_t* const last = starts_ + params_.tensors.size();
    auto i = size_t(std::upper_bound(starts_, last, begin) - starts_ - 1);
    bool found = false;
    for (; begin < end; begin = starts_[++i]) {
      const int64_t first = begin - starts_[i], n = std::min(end, starts_[i + 1]) - begin;
      char* const data = static_cast<char*>(params_.tensors[i].data);
      found |= unscale(data + first * int64_t(element_size(params_.dtype)), n);
    }
    return found;
  }

 private:
  bool unscale(char* data, int64_t n) const {
    bool found = false;
    for (int64_t done = 0; done < n; done += kTile) {  // the second pass finds the tile in cache
      const int64_t count = std::min(kTile, n - done);
      void* const at = data + done * int64_t(element_size(params_.dtype));
      found |= check(at, count);
      if (by_ != 1) multiply(at, count);
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
    if (params_.dtype == kFloat) return scale(static_cast<float*>(data), n, by_);
    if (params_.dtype == kDouble) return scale(static_cast<double*>(data), n, double(by_));
    alignas(64) float tile[kTile];
    StridedConvert(params_.dtype, kFloat)(data, 1, tile, 1, n);
    scale(tile, n, by_);
    StridedConvert(kFloat, params_.dtype)(tile, 1, data, 1, n);
  }

  const AmpUnscaleParams& params_;
  const float by_;
  int64_t* const starts_;  // the number of each tensor's first element
};

}  // namespace

void run(const AmpUnscaleParams& params, Ctx& ctx) {
  const Unscale unscale(params, ctx);
  std::atomic<bool> found = false;
  parallel_for(0, unscale.numel(), kGrain, [&](int64_t begin, int64_t end) {
    if (unscale.run(begin, end)) found.store(true, std::memory_order_relaxed);
  });
  if (found.load(std::memory_order_relaxed)) *params.found_inf = 1;
}

void run(const AmpUpdateScaleParams& params, Ctx&) { update_scale(params); }

}  // namespace hearth::cpu
