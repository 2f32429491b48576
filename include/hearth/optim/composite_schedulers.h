#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hearth/optim/lr_scheduler.h"

namespace hearth::optim {

/// Base of schedulers that step other schedulers of the same optimizer and save their states.
class HEARTH_API CompositeScheduler : public LRScheduler {
 public:
  using Schedulers = std::vector<std::shared_ptr<LRScheduler>>;

 protected:
  /// `name` is the name of the class, for error texts.
  CompositeScheduler(Optimizer& optimizer, Schedulers schedulers, std::string name,
                     int64_t last_epoch = -1);
  static Optimizer& optimizer_of_first(const Schedulers& schedulers, const std::string& name);
  const Schedulers& schedulers() const { return schedulers_; }
  void start(size_t i);    ///< makes the initial step of a scheduler after undo_initial_step()
  void restart(size_t i);  ///< sets a scheduler to epoch 0

  std::vector<double> get_lrs() override;
  void go_to(double epoch) override;
  void undo_initial_step() override;
  void fields(Fields& f) override;
  void check() const override;

 private:
  static Optimizer& checked(Optimizer& optimizer, const Schedulers& schedulers,
                            const std::string& name);

  Schedulers schedulers_;
  std::string name_;
};

/// One scheduler after another: scheduler i + 1 starts, from its epoch 0, at epoch milestones[i].
class HEARTH_API SequentialLR : public CompositeScheduler {
 public:
  SequentialLR(Optimizer& optimizer, Schedulers schedulers, std::vector<int64_t> milestones,
               int64_t last_epoch = -1);

 protected:
  void next_epoch() override;
  void fields(Fields& f) override;
  void check() const override;

 private:
  size_t index_at(int64_t epoch) const;

  std::vector<int64_t> milestones_;
};

/// Several schedulers at once: they step in turn, each from the rates that the previous one has
/// set.
class HEARTH_API ChainedScheduler : public CompositeScheduler {
 public:
  explicit ChainedScheduler(Schedulers schedulers);
  ChainedScheduler(Schedulers schedulers, Optimizer& optimizer);

 protected:
  void next_epoch() override;
};

}  // namespace hearth::optim
