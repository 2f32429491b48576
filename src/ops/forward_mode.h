#pragma once

#include <vector>

#include "ops/call.h"

namespace hearth {

/// Forward-mode differentiation of one call: made before the op runs, it computes the tangents of
/// the outputs afterwards.
class ForwardMode {
 public:
  /// Finds the tangents of the inputs; throws if there are some and the op cannot pass them on.
  explicit ForwardMode(const OpCall& call);
  /// Gives the outputs their tangents.
  void finish(const OpCall& call);

 private:
  void find_tangents(const OpCall& call);
  /// The tangents of the outputs; an undefined one stands for zeros.
  std::vector<Tensor> tangents_of_views(const OpCall& call) const;
  Tensor tangent_of_elements(const OpCall& call) const;
  std::vector<Tensor> tangents_by_adjoint(const OpCall& call) const;

  Tensor apart_from_inputs(const Tensor& tangent) const;

  bool active_ = false;     // an input or the target has a tangent
  std::vector<Tensor> in_;  // the tangents of the inputs, if one has a tangent
  Tensor before_;           // the value that an in-place op overwrites, if the derivative reads it
};

}  // namespace hearth
