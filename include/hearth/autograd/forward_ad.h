#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "hearth/autograd.h"

namespace hearth {

/// Enables or disables forward-mode differentiation on this thread during its lifetime.
class HEARTH_API AutoFwGradMode {
 public:
  explicit AutoFwGradMode(bool enabled);
  ~AutoFwGradMode();
  AutoFwGradMode(const AutoFwGradMode&) = delete;
  AutoFwGradMode& operator=(const AutoFwGradMode&) = delete;

 private:
  bool previous_;
};

/// A view of `primal` with a tangent: forward_ad::make_dual, for the level with this number.
HEARTH_API Tensor _make_dual(const Tensor& primal, const Tensor& tangent, int64_t level);
/// The tensor without its tangent, and the tangent, which is undefined if there is none.
HEARTH_API std::tuple<Tensor, Tensor> _unpack_dual(const Tensor& dual, int64_t level);

/// Forward-mode differentiation: tensors carry tangents, and each op computes the tangents of its
/// results. If x has the tangent v, f(x) has the tangent J v, for the Jacobian J of f at x.
namespace autograd::forward_ad {

/// Begins a level, in which tensors may have tangents, and returns its number. Levels cannot be
/// nested, as in PyTorch.
HEARTH_API uint64_t enter_dual_level();
/// Ends the level and removes all tangents.
HEARTH_API void exit_dual_level(uint64_t level);

/// A level during its lifetime.
class DualLevel {
 public:
  DualLevel() : level_(enter_dual_level()) {}
  ~DualLevel() { exit_dual_level(level_); }
  DualLevel(const DualLevel&) = delete;
  DualLevel& operator=(const DualLevel&) = delete;

 private:
  uint64_t level_;
};
using dual_level = DualLevel;  ///< Python's name

/// A view of `tensor` with a tangent of the same sizes.
HEARTH_API Tensor make_dual(const Tensor& tensor, const Tensor& tangent,
                            std::optional<int64_t> level = {});

/// A tensor and its tangent.
struct UnpackedDualTensor {
  Tensor primal;   ///< the tensor without its tangent
  Tensor tangent;  ///< undefined if the tensor has none
};
/// Separates a tensor and its tangent.
HEARTH_API UnpackedDualTensor unpack_dual(const Tensor& tensor, std::optional<int64_t> level = {});

}  // namespace autograd::forward_ad
}  // namespace hearth
