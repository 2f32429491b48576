#pragma once

#include <vector>

#include "hearth/optim/lr_scheduler.h"

namespace hearth::optim {

/// lr *= factor when a metric has not improved for more than `patience` epochs. An improvement
/// is better than the best value by more than `threshold`, relative or absolute. The `cooldown`
/// epochs after a reduction do not count. Rates never fall below min_lr; changes of at most eps are
/// skipped.
class HEARTH_API ReduceLROnPlateau : public LRScheduler {
 public:
  enum SchedulerMode { min, max };  ///< whether a smaller or a larger metric is better
  enum ThresholdMode { rel, abs };  ///< relative or absolute threshold
  ReduceLROnPlateau(Optimizer& optimizer, SchedulerMode mode = min, double factor = 0.1,
                    int64_t patience = 10, double threshold = 1e-4,
                    ThresholdMode threshold_mode = rel, int64_t cooldown = 0, PerGroup min_lr = 0.0,
                    double eps = 1e-8, bool verbose = false);

  using LRScheduler::step;                                    // without a metric it throws
  void step(double metric) override;                          ///< call it after each epoch
  int64_t num_bad_epochs() const { return num_bad_epochs_; }  ///< epochs without improvement

 protected:
  std::vector<double> get_lrs() override;
  void fields(Fields& f) override;
  void check() const override;

 private:
  double worst() const;
  bool is_better(double metric) const;
  void reduce_lr();
  std::vector<double> lower_limits() const;

  int64_t mode_, threshold_mode_;
  double factor_, threshold_, eps_;
  int64_t patience_, cooldown_, cooldown_counter_ = 0, num_bad_epochs_ = 0;
  PerGroup min_lr_;
  double best_;
  bool verbose_;
};

using ReduceLROnPlateauScheduler = ReduceLROnPlateau;  ///< LibTorch's name

}  // namespace hearth::optim
