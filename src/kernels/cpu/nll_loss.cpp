// The negative log-likelihood of each target's class, its weighted sum or mean, and the gradient.
// The threads divide the targets; sums have a partial sum for each chunk of 4096 targets, added in
// order. Bound by cache misses: a target reads or writes one element of its row of scores.
#include "seam/nll_loss.h"

#include <algorithm>

#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kNllLossGrain = 4096;  // targets that are worth another thread
constexpr int64_t kNllLossChunk = 4096;  // targets of a chunk, which has a partial sum of its own

/// Returns the view without its class dimension, so that it has the target's sizes.
View without_classes(const View& view, int class_dim) {
  View rest = view;
  rest.dim = int8_t(view.dim - 1);
  for (int d = class_dim; d < rest.dim; ++d) {
    rest.sizes[d] = view.sizes[d + 1];
    rest.strides[d] = view.strides[d + 1];
  }
  rest.numel = 1;
  for (int d = 0; d < rest.dim; ++d) rest.numel *= rest.sizes[d];
  return rest;
}

/// Broadcasts a 0-d view to the sizes of `like`; returns other views unchanged.
View broadcast(const View& view, const View& like) {
  if (view.dim > 0) return view;
  View result = like;
  result.data = view.data;
  result.dtype = view.dtype;
  std::fill_n(result.strides, result.dim, int64_t{0});
  return result;
}

/// Finds the class that each target picks, and its weight.
template <class T>
class Picks {
 public:
  Picks(const View& scores, const View& target, const View& weight, int class_dim,
        int64_t ignore_index, FaultSlot* faults)
      : target_(target.data),
        has_byte_target_(target.dtype == kByte),
        weight_(weight.defined() ? weight.as<const T>() : nullptr),
        weight_stride_(weight.defined() ? weight.strides[0] : 0),
        classes_(scores.sizes[class_dim]),
        class_stride_(scores.strides[class_dim]),
        ignore_index_(ignore_index),
        faults_(faults) {}

  /// Calls f(offset of the class, weight) unless the target is ignored or invalid.
  template <class F>
  void pick(int64_t target_offset, const F& f) const {
    const int64_t label = has_byte_target_
                              ? int64_t(static_cast<const uint8_t*>(target_)[target_offset])
                              : static_cast<const int64_t*>(target_)[target_offset];
    if (label == ignore_index_) return;
    if (label < 0 || label >= classes_) return faults_->report(Fault::kBadLabel, label, classes_);
    f(label * class_stride_, weight_ ? weight_[label * weight_stride_] : T(1));
  }

 private:
  const void* target_;
  bool has_byte_target_;
  const T* weight_;
  int64_t weight_stride_, classes_, class_stride_, ignore_index_;
  FaultSlot* faults_;
};

/// Calls f(offsets) for every position in [begin, end) of a loop.
template <int K, class F>
void for_positions(const StridedLoop<K>& loop, int64_t begin, int64_t end, const F& f) {
  loop.walk(begin, end, [&](const int64_t* offsets, int64_t count) {
    int64_t shifted[K];
    for (int64_t i = 0; i < count; ++i) {
      for (int k = 0; k < K; ++k) shifted[k] = offsets[k] + i * loop.inner_stride(k);
      f(static_cast<const int64_t*>(shifted));
    }
  });
}

template <class T>
void each_loss(const NllLossParams& params, const View& scores, const Picks<T>& picks) {
  const StridedLoop<3> loop({&params.target, &scores, &params.out});
  const T* in = params.in.as<const T>();
  T* out = params.out.as<T>();
  parallel_for(0, params.target.numel, kNllLossGrain, [&](int64_t begin, int64_t end) {
    for_positions(loop, begin, end, [&](const int64_t* offsets) {
      T loss = T(0);
      picks.pick(offsets[0], [&](int64_t offset, T weight) {
        loss = T(-double(weight) * double(in[offsets[1] + offset]));
      });
      out[offsets[2]] = loss;
    });
  });
}

template <class T>
void total_loss(const NllLossParams& params, const View& scores, const Picks<T>& picks, Ctx& ctx) {
  const StridedLoop<2> loop({&params.target, &scores});
  const T* in = params.in.as<const T>();
  const int64_t count = params.target.numel, chunks = (count + kNllLossChunk - 1) / kNllLossChunk;
  struct Sums {
    double loss = 0, weight = 0;
  };
  Sums* const sums =
      static_cast<Sums*>(ctx.scratch(size_t(std::max<int64_t>(chunks, 1)) * sizeof(Sums)));
  parallel_blocks(chunks, [&](int64_t c) {
    Sums partial;
    for_positions(loop, c * kNllLossChunk, std::min(count, (c + 1) * kNllLossChunk),
                  [&](const int64_t* offsets) {
                    picks.pick(offsets[0], [&](int64_t offset, T weight) {
                      partial.loss -= double(weight) * double(in[offsets[1] + offset]);
                      partial.weight += double(weight);
                    });
                  });
    sums[c] = partial;
  });
  Sums total;
  for (int64_t c = 0; c < chunks; ++c) {
    total.loss += sums[c].loss;
    total.weight += sums[c].weight;
  }
  *params.out.as<T>() = T(params.mean ? total.loss / total.weight : total.loss);
  *params.total_weight.as<T>() = T(total.weight);
}

template <class T>
void backward(const NllLossBackwardParams& params, const Picks<T>& picks) {
  const View scores = without_classes(params.grad_in, params.class_dim);
  const View grads = broadcast(params.grad, params.target);
  const StridedLoop<3> loop({&params.target, &scores, &grads});
  const T* grad = params.grad.as<const T>();
  T* out = params.grad_in.as<T>();
  const double divisor = params.mean ? double(*params.total_weight.as<const T>()) : 1;
  parallel_for(0, params.target.numel, kNllLossGrain, [&](int64_t begin, int64_t end) {
    for_positions(loop, begin, end, [&](const int64_t* offsets) {
      picks.pick(offsets[0], [&](int64_t offset, T weight) {
        out[offsets[1] + offset] = T(-double(weight) * double(grad[offsets[2]]) / divisor);
      });
    });
  });
}

}  // namespace

void run(const NllLossParams& params, Ctx& ctx) {
  with_floating(params.in.dtype, [&](auto type) {
    using T = decltype(type);
    const View scores = without_classes(params.in, params.class_dim);
    const Picks<T> picks(params.in, params.target, params.weight, params.class_dim,
                         params.ignore_index, ctx.faults());
    if (params.reduce)
      total_loss<T>(params, scores, picks, ctx);
    else
      each_loss<T>(params, scores, picks);
  });
}

void run(const NllLossBackwardParams& params, Ctx& ctx) {
  with_floating(params.grad_in.dtype, [&](auto type) {
    using T = decltype(type);
    backward<T>(params, Picks<T>(params.grad_in, params.target, params.weight, params.class_dim,
                                 params.ignore_index, ctx.faults()));
  });
}

}  // namespace hearth::cpu
