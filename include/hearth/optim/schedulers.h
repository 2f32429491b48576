#pragma once

#include <functional>
#include <vector>

#include "hearth/optim/lr_scheduler.h"

namespace hearth::optim {

/// lr *= gamma every step_size epochs.
class HEARTH_API StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1, int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> get_closed_form_lrs() override;
  void fields(Fields& f) override;
  void check() const override;

 private:
  int64_t step_size_;
  double gamma_;
};

/// lr *= gamma at each epoch in `milestones`; repeated milestones count repeatedly.
class HEARTH_API MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1,
              int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> get_closed_form_lrs() override;
  void fields(Fields& f) override;

 private:
  std::vector<int64_t> milestones_;
  double gamma_;
};

/// lr *= gamma every epoch.
class HEARTH_API ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma, int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> get_closed_form_lrs() override;
  void fields(Fields& f) override;

 private:
  double gamma_;
};

/// lr = eta_min + (initial_lr - eta_min) * (1 + cos(pi * epoch / T_max)) / 2, computed recursively.
class HEARTH_API CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0,
                    int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> get_closed_form_lrs() override;
  void fields(Fields& f) override;
  void check() const override;

 private:
  int64_t T_max_;
  double eta_min_;
};

/// lr = initial_lr * factor, where factor goes linearly from start_factor to end_factor in
/// total_iters epochs.
class HEARTH_API LinearLR : public LRScheduler {
 public:
  LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
           int64_t total_iters = 5, int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> get_closed_form_lrs() override;
  void fields(Fields& f) override;
  void check() const override;

 private:
  double start_factor_, end_factor_;
  int64_t total_iters_;
};

/// lr = initial_lr * factor for the first total_iters epochs, then initial_lr.
class HEARTH_API ConstantLR : public LRScheduler {
 public:
  ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, int64_t total_iters = 5,
             int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> get_closed_form_lrs() override;
  void fields(Fields& f) override;
  void check() const override;

 private:
  double factor_;
  int64_t total_iters_;
};

/// lr = initial_lr * (1 - epoch / total_iters)^power for the first total_iters epochs, then 0.
class HEARTH_API PolynomialLR : public LRScheduler {
 public:
  PolynomialLR(Optimizer& optimizer, int64_t total_iters = 5, double power = 1.0,
               int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> get_closed_form_lrs() override;
  void fields(Fields& f) override;

 private:
  double remaining(int64_t epoch) const;  ///< 1 - epoch / total_iters
  double raised(double share) const;      ///< share^power

  int64_t total_iters_;
  double power_;
};

/// lr = eta_min + (initial_lr - eta_min) * (1 + cos(pi * T_cur / T_i)) / 2. T_cur, the epochs since
/// the last restart, restarts from 0 after T_i epochs; T_i is T_0 at first and multiplied by T_mult
/// at each restart. step(epoch) may be called after each batch, with a fraction.
class HEARTH_API CosineAnnealingWarmRestarts : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult = 1,
                              double eta_min = 0, int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  void next_epoch() override;
  void go_to(double epoch) override;
  void fields(Fields& f) override;
  void check() const override;

 private:
  int64_t T_0_, T_mult_;
  double eta_min_, T_cur_, T_i_;
};

/// lr = initial_lr * lr_lambda(epoch), with one function for all groups or one per group. Functions
/// are not saved.
class HEARTH_API LambdaLR : public LRScheduler {
 public:
  using Factor = std::function<double(int64_t epoch)>;  ///< a factor of the initial lr
  LambdaLR(Optimizer& optimizer, Factor lr_lambda, int64_t last_epoch = -1);
  LambdaLR(Optimizer& optimizer, std::vector<Factor> lr_lambdas, int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  void check() const override;

 private:
  std::vector<Factor> lr_lambdas_;
};

/// lr *= lr_lambda(epoch) every epoch, with one function for all groups or one per group. Functions
/// are not saved.
class HEARTH_API MultiplicativeLR : public LRScheduler {
 public:
  using Factor = LambdaLR::Factor;  ///< a factor of the last lr
  MultiplicativeLR(Optimizer& optimizer, Factor lr_lambda, int64_t last_epoch = -1);
  MultiplicativeLR(Optimizer& optimizer, std::vector<Factor> lr_lambdas, int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  void check() const override;

 private:
  std::vector<Factor> lr_lambdas_;
};

}  // namespace hearth::optim
