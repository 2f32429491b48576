#pragma once

namespace hearth::cuda {

/// Mean and sum of squared deviations of `count` numbers, by Welford's method.
template <class C>
struct Moments {
  C mean, deviation, count;

  /// If `centered` is false, the mean stays 0.
  __device__ void add(C value, bool centered = true) {
    count += 1;
    const C delta = value - mean;
    if (centered) mean += delta / count;
    deviation += delta * (value - mean);
  }
  __device__ static Moments merged(const Moments& a, const Moments& b) {
    if (b.count == 0) return a;
    if (a.count == 0) return b;
    const C count = a.count + b.count, delta = b.mean - a.mean, share = b.count / count;
    return {a.mean + delta * share, a.deviation + b.deviation + delta * delta * a.count * share,
            count};
  }
};

}  // namespace hearth::cuda
