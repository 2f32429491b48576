#pragma once

#include <initializer_list>
#include <vector>

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

class CompositeScheduler;

/// Base of learning rate schedulers: changes the learning rates of an optimizer, which must outlive
/// the scheduler, at each step(). A subclass computes the rates in get_lrs().
class HEARTH_API LRScheduler {
 public:
  /// last_epoch -1 starts at the beginning; otherwise the groups must have an initial_lr().
  LRScheduler(Optimizer& optimizer, int64_t last_epoch = -1);
  LRScheduler(const LRScheduler&) = default;
  virtual ~LRScheduler();

  void step();  ///< sets the rates of the next epoch; call it after an epoch (or batch)
  /// Sets the rates of any epoch. Only CosineAnnealingWarmRestarts accepts fractions of an epoch;
  /// SequentialLR and ChainedScheduler throw. For ReduceLROnPlateau, the argument is a metric.
  virtual void step(double epoch);
  /// The learning rates after the last step, one per group.
  const std::vector<double>& get_last_lr() const { return last_lr_; }
  int64_t last_epoch() const { return last_epoch_; }  ///< the epoch, which step() increments

  StateDict state_dict() const;                        ///< all values except functions
  void load_state_dict(const StateDict& dict);         ///< an error changes nothing
  void save(serialize::OutputArchive& archive) const;  ///< saves state_dict()
  void load(serialize::InputArchive& archive);         ///< an error changes nothing

 protected:
  /// The learning rates of the epoch last_epoch(), one per group.
  virtual std::vector<double> get_lrs() = 0;
  /// As get_lrs(), for step(epoch): an override computes the rates from the epoch alone. Unless
  /// overridden, calls get_lrs().
  virtual std::vector<double> get_closed_form_lrs();
  /// Lists the saved values; an override calls the base class's first.
  virtual void fields(Fields& f);
  /// Throws for values that get_lrs() cannot use; an override calls the base class's first.
  virtual void check() const;
  /// Throws unless a list has one value per group.
  void check_count(size_t count, const char* name = "learning rates") const;
  std::vector<double> get_current_lrs() const;
  /// Checks the values and sets the rates of the first epoch; the last call of a constructor.
  void initial_step();
  virtual void next_epoch();         ///< the change that step() makes
  virtual void go_to(double epoch);  ///< the change that step(epoch) makes
  virtual void undo_initial_step();  ///< goes to the epoch before the first; keeps the rates
  /// Whether get_lrs() is called for the first epoch.
  bool is_initial() const { return is_initial_; }
  Optimizer& optimizer() const { return *optimizer_of_this_; }
  /// The initial rates; throws if the optimizer got more groups after they were stored.
  const std::vector<double>& base_lrs() const;
  /// The rates, each multiplied by a factor.
  static std::vector<double> scaled(std::vector<double> rates, double factor);
  void remember_lrs() { last_lr_ = get_current_lrs(); }
  void set_last_epoch(int64_t epoch) { last_epoch_ = epoch; }
  void set_optimizer_lrs(const std::vector<double>& learning_rates);
  void set_base_lrs(std::vector<double> rates) { base_lrs_ = std::move(rates); }

  unsigned step_count_ = 0;  // calls of step() so far

 private:
  friend class CompositeScheduler;
  void read(Fields& f);  ///< loads the values; an error changes nothing
  void start();
  void set_epoch(int64_t epoch);  ///< moves to the epoch, with get_closed_form_lrs()

  Optimizer* optimizer_of_this_;
  std::vector<double> base_lrs_, last_lr_;
  int64_t last_epoch_;
  bool is_initial_ = false;
};

/// One number for all parameter groups, or a list with one per group.
class HEARTH_API PerGroup {
 public:
  PerGroup(double value);
  PerGroup(std::vector<double> values);
  PerGroup(const std::vector<float>& values);
  PerGroup(std::initializer_list<double> values);
  bool is_list() const { return is_list_; }  ///< whether it was given as a list
  const std::vector<double>& values() const { return values_; }
  /// One value per group; empty if the list has another length.
  std::vector<double> spread(size_t num_groups) const;

 private:
  std::vector<double> values_;
  bool is_list_ = true;
};

}  // namespace hearth::optim
