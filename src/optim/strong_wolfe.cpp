// A line search of quasi-Newton methods: Nocedal and Wright, "Numerical Optimization", algorithms
// 3.5 (find a bracket) and 3.6 (narrow it), with the safeguards of PyTorch.
#include "optim/strong_wolfe.h"

#include <algorithm>
#include <cmath>

namespace hearth::optim {

namespace {

constexpr double kDecrease = 1e-4;  // the first condition's constant c1
constexpr double kCurvature = 0.9;  // the second condition's constant c2
constexpr int64_t kMaxSteps = 25;   // points after the first one

/// Returns the t between `lowest` and `highest` that minimizes the cubic through two points with
/// their slopes, or the middle of `lowest` and `highest` if the cubic has no minimum. d1 and d2 are
/// those of the book's section 3.5.
double minimum_of_cubic(const LinePoint& a, const LinePoint& b, double lowest, double highest) {
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (lowest + highest) / 2;
  const double d2 = std::sqrt(square);
  const LinePoint &left = a.t <= b.t ? a : b, &right = a.t <= b.t ? b : a;
  const double t = right.t - (right.t - left.t) *
                                 ((right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2));
  return std::min(std::max(t, lowest), highest);
}

/// The state of one search.
class Search {
 public:
  Search(const EvaluateLine& evaluate, const LinePoint& start)
      : evaluate_(evaluate), start_(start), low_(start), high_(start) {}

  LinePoint run(double t, double largest, double tolerance_change) {
    if (!find_bracket(t)) narrow(largest, tolerance_change);
    return low_;
  }

 private:
  bool decreases_enough(const LinePoint& point) const {
    return !(point.loss > start_.loss + kDecrease * point.t * start_.slope);
  }
  bool is_flat_enough(const LinePoint& point) const {
    return std::fabs(point.slope) <= -kCurvature * start_.slope;
  }
  void set_bracket(const LinePoint& a, const LinePoint& b) {
    low_ = a.loss <= b.loss ? a : b;
    high_ = a.loss <= b.loss ? b : a;
    first_is_low_ = a.loss <= b.loss;
  }

  bool find_bracket(double t);
  void narrow(double largest, double tolerance_change);
  double next_trial();
  void replace(const LinePoint& point);

  const EvaluateLine& evaluate_;
  const LinePoint& start_;
  LinePoint low_, high_;  // the bracket; low_ has the smaller loss
  // Whether low_ is the first of the two ends in set_bracket(). The first wins if losses are equal.
  bool first_is_low_ = true;
  bool satisfied_ = false;  // both conditions hold at low_
  bool stalled_ = false;    // the last trial was close to an end of the bracket
  int64_t steps_ = 0;
};

/// Increases t until the interval from the previous point contains a minimum. Returns whether the
/// conditions hold at low_ already.
bool Search::find_bracket(double t) {
  LinePoint previous = start_, current = evaluate_(t);
  for (; steps_ < kMaxSteps; ++steps_) {
    if (!decreases_enough(current) || (steps_ > 1 && current.loss >= previous.loss)) {
      set_bracket(previous, current);
      return false;
    }
    if (is_flat_enough(current)) {
      low_ = current;
      return true;
    }
    if (current.slope >= 0) {
      set_bracket(previous, current);
      return false;
    }
    const double next = minimum_of_cubic(
        previous, current, current.t + 0.01 * (current.t - previous.t), current.t * 10);
    previous = current;
    current = evaluate_(next);
  }
  set_bracket(start_, current);
  return false;
}

/// Returns the next t to try: the cubic's minimum. If it is close to an end of the bracket twice in
/// a row, or not inside the bracket, t is moved away from that end.
double Search::next_trial() {
  const auto [lowest, highest] = std::minmax(low_.t, high_.t);
  const double t = minimum_of_cubic(low_, high_, lowest, highest);
  const double margin = 0.1 * (highest - lowest);
  if (!(std::min(highest - t, t - lowest) < margin)) {
    stalled_ = false;
    return t;
  }
  if (!stalled_ && t < highest && t > lowest) {
    stalled_ = true;
    return t;
  }
  stalled_ = false;
  return std::fabs(t - highest) < std::fabs(t - lowest) ? highest - margin : lowest + margin;
}

/// Makes a point an end of the bracket.
void Search::replace(const LinePoint& point) {
  if (!decreases_enough(point) || point.loss >= low_.loss) {
    const LinePoint low = low_;
    return first_is_low_ ? set_bracket(low, point) : set_bracket(point, low);
  }
  if (is_flat_enough(point))
    satisfied_ = true;
  else if (point.slope * (high_.t - low_.t) >= 0)
    high_ = low_;
  low_ = point;
}

void Search::narrow(double largest, double tolerance_change) {
  for (; !satisfied_ && steps_ < kMaxSteps; ++steps_) {
    if (std::fabs(high_.t - low_.t) * largest < tolerance_change) return;
    replace(evaluate_(next_trial()));
  }
}

}  // namespace

LinePoint strong_wolfe(const EvaluateLine& evaluate, const LinePoint& start, double t,
                       double largest, double tolerance_change) {
  return Search(evaluate, start).run(t, largest, tolerance_change);
}

}  // namespace hearth::optim
