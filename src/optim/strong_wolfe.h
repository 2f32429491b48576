#pragma once

#include <functional>

#include "hearth/tensor.h"

namespace hearth::optim {

/// A point on the line x + t d: the loss there, its gradient and its derivative along the line.
struct LinePoint {
  double t, loss;
  Tensor grad;
  double slope;
};

/// Computes the point at t.
using EvaluateLine = std::function<LinePoint(double t)>;

/// Searches along a line from `start` (t = 0), first at `t`. Returns a point at which the strong
/// Wolfe conditions hold, or the best one found. `largest` is the largest absolute value in the
/// direction d. The search also stops when the length of its bracket around the minimum times
/// `largest` is less than tolerance_change, or after 25 steps.
LinePoint strong_wolfe(const EvaluateLine& evaluate, const LinePoint& start, double t,
                       double largest, double tolerance_change);

}  // namespace hearth::optim
