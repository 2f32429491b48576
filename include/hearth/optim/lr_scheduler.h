#pragma once

#include <initializer_list>
#include <vector>

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

/// Changes the learning rates of an optimizer, which must outlive it, once per epoch (or batch). A
/// subclass says in get_lrs() what the rates become.
class HEARTH_API LRScheduler {
 public:
  /// last_epoch -1 starts anew; otherwise the groups must know their initial learning rates.
  LRScheduler(Optimizer& optimizer, int64_t last_epoch = -1);
  LRScheduler(const LRScheduler&) = default;
  virtual ~LRScheduler();

  void step();
  /// The learning rates as the last step left them, one per group.
  const std::vector<double>& get_last_lr() const { return last_lr_; }
  int64_t last_epoch() const { return last_epoch_; }

  /// All but functions and the optimizer. What cannot be loaded changes nothing.
  StateDict state_dict() const;
  void load_state_dict(const StateDict& dict);
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 protected:
  /// The learning rates of the epoch last_epoch(), one per group.
  virtual std::vector<double> get_lrs() = 0;
  /// Names what is saved; a subclass adds its own after this class's.
  virtual void fields(Fields& f);
  /// Refuses values that get_lrs() could not compute with, be they given or loaded; a subclass
  /// calls this class's first.
  virtual void check() const;
  /// Refuses a list that does not have one value for each group.
  void check_count(size_t count, const char* what = "learning rates") const;
  std::vector<double> get_current_lrs() const;
  /// Checks, and sets the rates of the first epoch; for the end of a subclass's constructor.
  void initial_step();
  /// Whether get_lrs() is asked by initial_step().
  bool is_initial() const { return is_initial_; }
  Optimizer& optimizer() const { return *optimizer_of_this_; }
  /// The initial rates; an Error if groups were added since.
  const std::vector<double>& base_lrs() const;
  /// The rates, each multiplied by a factor.
  static std::vector<double> scaled(std::vector<double> rates, double factor);
  void remember_lrs() { last_lr_ = get_current_lrs(); }
  void set_last_epoch(int64_t epoch) { last_epoch_ = epoch; }

  unsigned step_count_ = 0;  // calls of step() before this one

 private:
  void read(Fields& f);
  void set_optimizer_lrs(const std::vector<double>& learning_rates);

  Optimizer* optimizer_of_this_;
  std::vector<double> base_lrs_, last_lr_;
  int64_t last_epoch_;
  bool is_initial_ = false;
};

/// A number for all groups, or one for each.
class HEARTH_API PerGroup {
 public:
  PerGroup(double value) : values_{value}, is_list_(false) {}
  PerGroup(std::vector<double> values) : values_(std::move(values)) {}
  PerGroup(const std::vector<float>& values) : values_(values.begin(), values.end()) {}
  PerGroup(std::initializer_list<double> values) : values_(values) {}
  bool is_list() const { return is_list_; }
  const std::vector<double>& values() const { return values_; }
  /// One value for each of `groups` groups; empty if there is a list of another length.
  std::vector<double> spread(size_t groups) const;

 private:
  std::vector<double> values_;
  bool is_list_ = true;
};

}  // namespace hearth::optim
