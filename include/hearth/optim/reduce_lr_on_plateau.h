#pragma once

#include <vector>

#include "hearth/optim/lr_scheduler.h"

namespace hearth::optim {

/// lr *= factor once a metric has not become better for more than `patience` epochs. Better than
/// the best means by `threshold`, relative to it or absolute. After a reduction `cooldown` epochs
/// do not count; rates never fall below min_lr, and reductions by eps or less are not made.
class HEARTH_API ReduceLROnPlateau : public LRScheduler {
 public:
  enum SchedulerMode { min, max };
  enum ThresholdMode { rel, abs };
  ReduceLROnPlateau(Optimizer& optimizer, SchedulerMode mode = min, double factor = 0.1,
                    int64_t patience = 10, double threshold = 1e-4,
                    ThresholdMode threshold_mode = rel, int64_t cooldown = 0, PerGroup min_lr = 0.0,
                    double eps = 1e-8, bool verbose = false);

  void step(double metric);
  int64_t num_bad_epochs() const { return num_bad_epochs_; }

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

using ReduceLROnPlateauScheduler = ReduceLROnPlateau;

}  // namespace hearth::optim
