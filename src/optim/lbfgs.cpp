#include "hearth/optim/lbfgs.h"

#include <algorithm>
#include <cmath>

#include "hearth/memory_stats.h"
#include "hearth/shards.h"
#include "optim/field_lists.h"
#include "optim/fused.h"
#include "optim/strong_wolfe.h"

namespace hearth::optim {

template class OptimizerCloneableOptions<LBFGSOptions>;
template class RateOptions<LBFGSOptions>;

void LBFGSOptions::fields(Fields& f) {
  f.field("lr", lr_);
  f.field("max_iter", max_iter_);
  optional_field(f, "max_eval", max_eval_);
  f.field("tolerance_grad", tolerance_grad_);
  f.field("tolerance_change", tolerance_change_);
  f.field("history_size", history_size_);
  optional_field(f, "line_search_fn", line_search_fn_);
  f.field("maximize", maximize_);
}

void LBFGSParamState::fields(Fields& f) {
  f.field("func_evals", func_evals_);
  f.field("n_iter", n_iter_);
  // Python's LBFGS has no t and prev_loss before the first iteration.
  if (!f.loading() || f.has("t")) f.field("t", t_);
  if (!f.loading() || f.has("prev_loss")) f.field("prev_loss", prev_loss_);
  f.field("d", d_);
  f.field("H_diag", H_diag_);
  f.field("prev_flat_grad", prev_flat_grad_);
  list_field(f, "old_dirs", old_dirs_);
  list_field(f, "old_stps", old_stps_);
  list_field(f, "ro", ro_);
}

bool LBFGSParamState::fits(const std::string&, const Tensor& value, const Tensor&) const {
  return value.dim() <= 1;
}

namespace {

int64_t max_evaluations(const LBFGSOptions& options) {
  return options.max_eval().value_or(options.max_iter() * 5 / 4);
}

std::unique_ptr<LBFGSOptions> checked(LBFGSOptions options) {
  check_not_negative(options.lr(), "learning rate");
  options.max_eval(max_evaluations(options));
  return std::make_unique<LBFGSOptions>(std::move(options));
}

double to_double(const Tensor& x) { return x.item().toDouble(); }
double max_abs(const Tensor& x) {
  return to_double(x.norm(std::numeric_limits<double>::infinity()));
}

/// One call of step().
class Step {
 public:
  Step(const LBFGSOptions& options, const std::vector<Tensor>& params, LBFGSParamState& state,
       const Optimizer::LossClosure& closure)
      : options_(options), params_(params), state_(state), closure_(closure) {}

  /// Iterates; returns the first loss.
  Tensor run() {
    Tensor first = evaluate();
    if (is_optimal()) return first;
    check_state();
    for (int64_t i = 1; i <= options_.max_iter(); ++i)
      if (!iterate(i == options_.max_iter())) break;
    return first;
  }

 private:
  bool iterate(bool is_last);
  bool is_optimal() const { return max_abs(grad_) <= options_.tolerance_grad(); }
  void check_state() const;
  Tensor evaluate();
  void find_direction();
  void add_to_history(const Tensor& y, const Tensor& s, const Tensor& ys);
  void multiply_by_inverse_hessian();
  void move(double t);
  void search(double slope);
  LinePoint evaluate_at(double t, const std::vector<Tensor>& origin);

  const LBFGSOptions& options_;
  const std::vector<Tensor>& params_;
  LBFGSParamState& state_;
  const Optimizer::LossClosure& closure_;
  Tensor grad_;  // of all parameters, flat
  double loss_ = 0;
  int64_t evaluations_ = 0;
};

/// The numbers of a tensor: of a complex one, the real and the imaginary parts.
Tensor real_parts(const Tensor& x) { return x.is_complex() ? view_as_real(x) : x; }

/// Returns the gradients of all parameters in one vector.
Tensor flat_gradient(const std::vector<Tensor>& params) {
  std::vector<Tensor> parts;
  for (const Tensor& param : params) {
    const Tensor& grad = param.mutable_grad();
    parts.push_back(real_parts(grad.defined() ? grad : zeros_like(param)).reshape(-1));
  }
  return cat(parts).detach();
}

/// Calls the closure and returns its loss. Sets loss_ and grad_, negated if maximizing.
Tensor Step::evaluate() {
  Tensor loss;
  {
    const MemoryTagGuard tag(MemoryTag::Other);  // the closure's memory is not the optimizer's
    loss = loss_of(closure_);
  }
  HEARTH_CHECK(loss.defined(), "the closure of LBFGS must return the loss");
  const double sign = options_.maximize() ? -1 : 1;
  loss_ = sign * to_double(loss);
  grad_ = flat_gradient(params_);
  if (options_.maximize()) grad_.neg_();
  ++evaluations_;
  ++state_.func_evals();
  return loss;
}

/// Throws if loaded state does not fit the parameters.
void Step::check_state() const {
  const auto check = [this](const Tensor& vector) {
    HEARTH_CHECK(!vector.defined() || vector.numel() == grad_.numel(),
                 "the state of LBFGS has vectors of ", vector.numel(),
                 " elements, but the parameters have ", grad_.numel());
  };
  check(state_.d());
  check(state_.prev_flat_grad());
  for (const Tensor& y : state_.old_dirs()) check(y);
  for (const Tensor& s : state_.old_stps()) check(s);
}

/// Adds the gradient's change y and the parameters' change s to the history; `ys` is y.dot(s).
void Step::add_to_history(const Tensor& y, const Tensor& s, const Tensor& ys) {
  if (int64_t(state_.old_dirs().size()) >= options_.history_size() && !state_.old_dirs().empty()) {
    for (std::vector<Tensor>* list : {&state_.old_dirs(), &state_.old_stps(), &state_.ro()})
      list->erase(list->begin());
  }
  state_.old_dirs().push_back(y);
  state_.old_stps().push_back(s);
  state_.ro().push_back(ys.reciprocal());
  state_.H_diag(ys / y.dot(y));
}

/// d = -H g for the approximation H of the inverse Hessian, by the two-loop recursion over the
/// history's y and s.
void Step::multiply_by_inverse_hessian() {
  const auto& [y, s, ro] = std::tie(state_.old_dirs(), state_.old_stps(), state_.ro());
  std::vector<Tensor>& alpha = state_.al() ? *state_.al() : state_.al().emplace();
  alpha.resize(y.size());
  const Tensor q = grad_.neg();
  for (size_t i = y.size(); i-- > 0;) {
    alpha[i] = s[i].dot(q).mul_(ro[i]);
    q.add_(y[i], -to_double(alpha[i]));
  }
  q.mul_(state_.H_diag());
  for (size_t i = 0; i < y.size(); ++i) {
    const Tensor beta = y[i].dot(q).mul_(ro[i]);
    q.add_(s[i], to_double(alpha[i] - beta));
  }
  state_.d(q);
}

void Step::find_direction() {
  if (++state_.n_iter() == 1) {
    state_.d(grad_.neg());
    state_.H_diag(ones({}, grad_.options()));
    state_.old_dirs().clear();
    state_.old_stps().clear();
    state_.ro().clear();
    return;
  }
  const Tensor y = grad_ - state_.prev_flat_grad(), s = state_.d() * state_.t();
  const Tensor ys = y.dot(s);
  constexpr double kMinCurvature = 1e-10;
  if (to_double(ys) > kMinCurvature) add_to_history(y, s, ys);
  multiply_by_inverse_hessian();
}

/// Moves the parameters by t * d.
void Step::move(double t) {
  int64_t begin = 0;
  for (const Tensor& param : params_) {
    const Tensor values = real_parts(param);
    const int64_t end = begin + values.numel();
    values.add_(state_.d().slice(0, begin, end).view_as(values), t);
    begin = end;
  }
}

/// Returns the point at t, and moves the parameters back to `origin`.
LinePoint Step::evaluate_at(double t, const std::vector<Tensor>& origin) {
  move(t);
  evaluate();
  for (size_t i = 0; i < params_.size(); ++i) params_[i].copy_(origin[i]);
  return {t, loss_, grad_, to_double(grad_.dot(state_.d()))};
}

/// Finds the step size by a line search and moves there.
void Step::search(double slope) {
  std::vector<Tensor> origin;
  for (const Tensor& param : params_) origin.push_back(param.detach().clone());
  const LinePoint best =
      strong_wolfe([&](double t) { return evaluate_at(t, origin); }, {0, loss_, grad_, slope},
                   state_.t(), max_abs(state_.d()), options_.tolerance_change());
  loss_ = best.loss;
  grad_ = best.grad;
  state_.t(best.t);
  move(state_.t());
}

/// Runs one iteration; returns whether another iteration should follow.
bool Step::iterate(bool is_last) {
  find_direction();
  state_.prev_flat_grad(grad_);
  state_.prev_loss(loss_);
  state_.t(options_.lr());
  if (state_.n_iter() == 1) state_.t(std::min(1.0, 1 / to_double(grad_.norm(1))) * options_.lr());
  const double slope = to_double(grad_.dot(state_.d()));
  if (slope > -options_.tolerance_change()) return false;
  if (options_.line_search_fn()) {
    HEARTH_CHECK(*options_.line_search_fn() == "strong_wolfe", "only 'strong_wolfe' is supported");
    search(slope);
  } else {
    move(state_.t());
    if (!is_last) evaluate();
  }
  if (is_last || evaluations_ >= max_evaluations(options_) || is_optimal()) return false;
  if (max_abs(state_.d() * state_.t()) <= options_.tolerance_change()) return false;
  return !(std::fabs(loss_ - state_.prev_loss()) < options_.tolerance_change());
}

}  // namespace

LBFGS::LBFGS(const std::vector<OptimizerParamGroup>& param_groups, LBFGSOptions defaults)
    : Optimizer(param_groups, checked(std::move(defaults))) {
  HEARTH_CHECK(param_groups_.size() == 1,
               "LBFGS doesn't support per-parameter options (parameter groups)");
}
LBFGS::LBFGS(std::vector<Tensor> params, LBFGSOptions defaults)
    : LBFGS({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

std::unique_ptr<OptimizerParamState> LBFGS::make_state() const {
  return std::make_unique<LBFGSParamState>();
}

Tensor LBFGS::step(LossClosure closure) {
  const profiler::detail::OptimizerStep step(typeid(*this));
  const NoGradGuard no_grad;
  HEARTH_CHECK(closure, "LBFGS requires a closure function");
  HEARTH_CHECK(param_groups_.size() == 1, "Expected exactly one param_group, but got ",
               param_groups_.size());
  const OptimizerParamGroup& group = param_groups_[0];
  check_whole("LBFGS", group.params());
  if (group.params().empty()) return loss_of(closure);
  const MemoryTagGuard tag(MemoryTag::OptimizerState);
  return Step(options_of<LBFGSOptions>(group), group.params(),
              state_of<LBFGSParamState>(*this, group.params()[0]), closure)
      .run();
}

}  // namespace hearth::optim
