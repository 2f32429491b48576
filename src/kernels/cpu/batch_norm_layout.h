#pragma once

#include <cstdint>

#include "kernels/cpu/batch_norm_kernels.h"
#include "seam/view.h"

namespace hearth {
class Ctx;
}

namespace hearth::cpu {

/// The elements of a tensor without gaps, in the order of a BatchNormLayout.
struct BatchNormData {
  char* data = nullptr;
  ScalarType dtype = ScalarType::Undefined;
  bool defined() const { return data != nullptr; }
};

/// The order of elements in which batch norm computes: planes of S elements of one channel,
/// `[N, C, S]`, or rows of one element per channel, `[N * S, C]`. Tensors in another order are
/// copied to scratch memory.
class BatchNormLayout {
 public:
  explicit BatchNormLayout(const View& in);

  bool channels_last() const { return channels_last_; }
  int64_t batch() const { return batch_; }
  int64_t channels() const { return channels_; }
  int64_t plane() const { return plane_; }  // S
  int64_t numel() const { return batch_ * channels_ * plane_; }
  /// Elements per channel.
  int64_t count() const { return batch_ * plane_; }
  /// The type in which elements are computed: double for double, else float.
  ScalarType compute_type() const { return compute_; }

  /// Returns the view's elements in this order: in place, or a copy in compute_type().
  BatchNormData read(const View& view, Ctx& ctx) const;
  /// Returns memory for the view's elements in this order: the view's own, or scratch memory, which
  /// write_back copies to the view.
  BatchNormData prepare_write(const View& view, Ctx& ctx) const;
  void write_back(const BatchNormData& from, const View& view) const;

 private:
  bool dense(const View& view) const;
  void order_of(int dim, int* order) const;
  template <class F>
  void for_runs(const View& view, const F& f) const;

  bool channels_last_;
  int64_t batch_, channels_, plane_;
  ScalarType compute_;
};

}  // namespace hearth::cpu
