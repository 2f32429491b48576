#pragma once

#include <string>
#include <vector>

#include "hearth/optim/declare.h"

namespace hearth::optim {

/// Options of LBFGS.
struct HEARTH_API LBFGSOptions : public RateOptions<LBFGSOptions> {
  LBFGSOptions(double lr = 1) : lr_(lr) {}
  HEARTH_ARG(double, lr) = 1;                    ///< learning rate
  HEARTH_ARG(int64_t, max_iter) = 20;            ///< iterations per step()
  HEARTH_ARG(std::optional<int64_t>, max_eval);  ///< closure calls; default: max_iter * 5 / 4
  HEARTH_ARG(double, tolerance_grad) = 1e-7;     ///< stops if no gradient is larger
  HEARTH_ARG(double, tolerance_change) = 1e-9;   ///< stops if loss or parameters change less
  HEARTH_ARG(int64_t, history_size) = 100;       ///< number of former directions in use
  HEARTH_ARG(std::optional<std::string>, line_search_fn);  ///< "strong_wolfe", or none
  HEARTH_ARG(bool, maximize) = false;                      ///< ascends instead of descending

 public:
  void fields(Fields& f) override;
};
extern template class OptimizerCloneableOptions<LBFGSOptions>;
extern template class RateOptions<LBFGSOptions>;

/// The state of LBFGS, which belongs to the first parameter. Vectors have the elements of all
/// parameters.
struct HEARTH_API LBFGSParamState : public OptimizerCloneableParamState<LBFGSParamState> {
  HEARTH_ARG(int64_t, func_evals) = 0;                 ///< calls of the closure
  HEARTH_ARG(int64_t, n_iter) = 0;                     ///< iterations
  HEARTH_ARG(double, t) = 0;                           ///< the last step size
  HEARTH_ARG(double, prev_loss) = 0;                   ///< the loss before the last iteration
  HEARTH_ARG(Tensor, d);                               ///< the last direction
  HEARTH_ARG(Tensor, H_diag);                          ///< the scale of the first inverse Hessian
  HEARTH_ARG(Tensor, prev_flat_grad);                  ///< the gradient before the last iteration
  HEARTH_ARG(std::vector<Tensor>, old_dirs);           ///< former changes y of the gradient
  HEARTH_ARG(std::vector<Tensor>, old_stps);           ///< former changes s of the parameters
  HEARTH_ARG(std::vector<Tensor>, ro);                 ///< 1 / (y · s)
  HEARTH_ARG(std::optional<std::vector<Tensor>>, al);  ///< scratch numbers, which are not saved

 public:
  void fields(Fields& f) override;
  bool fits(const std::string& name, const Tensor& value, const Tensor& param) const override;
};

/// Quasi-Newton steps with a limited history of gradients, with all parameters on one device. A
/// step() makes up to max_iter iterations and calls the closure, which is required, several times.
class HEARTH_API LBFGS : public Optimizer {
 public:
  explicit LBFGS(const std::vector<OptimizerParamGroup>& param_groups, LBFGSOptions defaults = {});
  explicit LBFGS(std::vector<Tensor> params, LBFGSOptions defaults = {});
  Tensor step(LossClosure closure) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

}  // namespace hearth::optim
