// The norm of a list of tensors. Each tensor is cut into pieces of 8192 elements, which the threads
// divide; the pieces' states are merged in double in the order of the list, so that the result does
// not depend on the number of threads. Bound by memory, because each element is read once; norms of
// general p are bound by pow().
#include "seam/optim_norm.h"

#include <algorithm>

#include "core/parallel_for.h"
#include "kernels/cpu/reduce_convert.h"
#include "kernels/cpu/reduce_kernels.h"
#include "kernels/cpu/tensor_ranges.h"
#include "seam/ctx.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kPiece = 8192;            // elements that are reduced at once
constexpr int64_t kOptimNormGrain = 16384;  // elements that are worth another thread
constexpr int64_t kNormTile = 1024;         // elements of a half type that are converted at once

/// The norm of a list of tensors.
class TotalNorm {
 public:
  TotalNorm(const TotalNormParams& params, Ctx& ctx)
      : params_(params),
        compute_type_(params.dtype == kDouble ? kDouble : kFloat),
        loops_(*reduce_table().loops[params.reduction][int(compute_type_)]),
        merge_loops_(*reduce_table().loops[params.reduction][int(kDouble)]),
        pieces_(params.tensors, ctx, kPiece),
        states_(static_cast<double*>(ctx.scratch(size_t(pieces_.count() + 1) * sizeof(double)))) {}

  void run() const {
    int64_t numel = 0;
    for (const auto& tensor : params_.tensors) numel += tensor.numel;
    const int64_t count = std::max<int64_t>(pieces_.count(), 1);
    const int64_t elements_per_piece = std::max<int64_t>(numel / count, 1);
    parallel_for(0, pieces_.count(), std::max<int64_t>(kOptimNormGrain / elements_per_piece, 1),
                 [this](int64_t begin, int64_t end) { reduce_pieces(begin, end); });
    merge_pieces();
  }

 private:
  void reduce_pieces(int64_t begin, int64_t end) const {
    double* state = states_ + begin;
    pieces_.visit(begin, end, [&](size_t i, int64_t piece, int64_t last_piece) {
      const TotalNormParams::Elements& tensor = params_.tensors[i];
      for (int64_t element = piece * kPiece; piece < last_piece; ++piece, element += kPiece)
        *state++ = reduce(tensor, element, std::min(kPiece, tensor.numel - element));
    });
  }

  /// Returns the state of n elements from `first` on.
  double reduce(const TotalNormParams::Elements& from, int64_t first, int64_t n) const {
    TileStates states;
    loops_.start(1, states);
    const char* data =
        static_cast<const char*>(from.data) + first * int64_t(element_size(params_.dtype));
    if (params_.dtype == compute_type_)
      loops_.block(params_.parameters, data, n, 0, states);
    else
      reduce_halves(data, n, states);
    if (compute_type_ == kDouble) return *reinterpret_cast<const double*>(states.bytes[0]);
    return *reinterpret_cast<const float*>(states.bytes[0]);
  }

  void reduce_halves(const char* data, int64_t n, TileStates& states) const {
    const StridedConvert load(params_.dtype, kFloat);
    const int64_t size = int64_t(element_size(params_.dtype));
    alignas(64) float tile[kNormTile];
    for (int64_t done = 0; done < n; done += kNormTile) {
      const int64_t count = std::min(kNormTile, n - done);
      load(data + done * size, 1, tile, 1, count);
      loops_.block(params_.parameters, tile, count, 0, states);
    }
  }

  void merge_pieces() const {
    TileStates total, piece;
    merge_loops_.start(1, total);
    merge_loops_.start(kReduceTileBytes / int64_t(sizeof(double)), piece);  // read in vectors
    for (int64_t i = 0; i < pieces_.count(); ++i) {
      *reinterpret_cast<double*>(piece.bytes[0]) = states_[i];
      merge_loops_.merge(params_.parameters, piece, 0, 1, total);
    }
    alignas(64) double result[8];  // finish() writes a whole vector
    merge_loops_.finish(params_.parameters, total, 1, result);
    StridedConvert(kDouble, params_.dtype)(result, 1, params_.out, 1, 1);
  }

  const TotalNormParams& params_;
  const ScalarType compute_type_;
  const ReduceLoops &loops_, &merge_loops_;
  const TensorRanges pieces_;
  double* const states_;  // of all pieces
};

}  // namespace

void run(const TotalNormParams& params, Ctx& ctx) { TotalNorm(params, ctx).run(); }

}  // namespace hearth::cpu
