#include "hearth/optim/lr_scheduler.h"

#include <cmath>

#include "optim/field_io.h"

namespace hearth::optim {

LRScheduler::LRScheduler(Optimizer& optimizer, int64_t last_epoch)
    : optimizer_of_this_(&optimizer), last_epoch_(last_epoch + 1) {
  std::vector<OptimizerParamGroup>& groups = optimizer.param_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    std::optional<double>& initial = groups[i].initial_lr();
    HEARTH_CHECK(
        initial || last_epoch == -1, "param 'initial_lr' is not specified in param_groups[", i,
        "] when resuming scheduler with last_epoch >= 0: load the optimizer's state first");
    if (!initial) initial = groups[i].options().get_lr();
    base_lrs_.push_back(*initial);
  }
  remember_lrs();
}

LRScheduler::~LRScheduler() = default;

void LRScheduler::initial_step() {
  check();
  undo_initial_step();  // the constructor has set the epoch, for subclasses without an initial step
  start();
}

void LRScheduler::undo_initial_step() { --last_epoch_; }

/// Moves to the first epoch.
void LRScheduler::start() {
  struct Initial {
    explicit Initial(bool& flag) : flag_(flag) { flag_ = true; }
    ~Initial() { flag_ = false; }
    Initial(const Initial&) = delete;
    Initial& operator=(const Initial&) = delete;
    bool& flag_;
  } const initial(is_initial_);
  step_count_ = 0;
  next_epoch();
}

void LRScheduler::step() {
  next_epoch();
  ++step_count_;
}
void LRScheduler::step(double epoch) {
  go_to(epoch);
  ++step_count_;
}

void LRScheduler::next_epoch() {
  ++last_epoch_;
  set_optimizer_lrs(get_lrs());
}

void LRScheduler::go_to(double epoch) {
  HEARTH_CHECK_AS(ValueError, std::floor(epoch) == epoch, "Expected an integer epoch, but got ",
                  epoch);
  HEARTH_CHECK_AS(ValueError, std::fabs(epoch) < 0x1p53,
                  "Expected an epoch between -2^53 and 2^53, but got ", epoch);
  set_epoch(int64_t(epoch));
}

void LRScheduler::set_epoch(int64_t epoch) {
  last_epoch_ = epoch;
  set_optimizer_lrs(get_closed_form_lrs());
}

std::vector<double> LRScheduler::get_closed_form_lrs() { return get_lrs(); }

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> rates;
  for (const OptimizerParamGroup& group : optimizer().param_groups())
    rates.push_back(group.options().get_lr());
  return rates;
}

void LRScheduler::check_count(size_t count, const char* name) const {
  const size_t groups = optimizer().param_groups().size();
  HEARTH_CHECK(count == groups, "Number of ", name,
               " not equal to the number of param groups\nNumber of ", name, " given: ", count,
               "\nNumber of param groups: ", groups);
}

void LRScheduler::check() const {
  check_count(base_lrs_.size());
  check_count(last_lr_.size());
}

const std::vector<double>& LRScheduler::base_lrs() const {
  check_count(base_lrs_.size());
  return base_lrs_;
}

void LRScheduler::set_optimizer_lrs(const std::vector<double>& learning_rates) {
  check_count(learning_rates.size());
  std::vector<OptimizerParamGroup>& groups = optimizer().param_groups();
  for (size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(learning_rates[i]);
  remember_lrs();
}

std::vector<double> LRScheduler::scaled(std::vector<double> rates, double factor) {
  for (double& rate : rates) rate *= factor;
  return rates;
}

void LRScheduler::fields(Fields& f) {
  int64_t count = step_count_;
  f.field("last_epoch", last_epoch_);
  f.field("step_count", count);
  f.field("base_lrs", base_lrs_);
  f.field("last_lr", last_lr_);
  step_count_ = unsigned(count);
}

StateDict LRScheduler::state_dict() const {
  StateDict dict;
  DictWriter writer(dict);
  const_cast<LRScheduler*>(this)->fields(writer);
  return dict;
}
void LRScheduler::read(Fields& f) {
  const StateDict backup = state_dict();
  try {
    fields(f);
    check();
  } catch (...) {
    DictReader restorer(backup);
    fields(restorer);
    throw;
  }
}
void LRScheduler::load_state_dict(const StateDict& dict) {
  DictReader reader(dict);
  read(reader);
}
void LRScheduler::save(serialize::OutputArchive& archive) const {
  ArchiveWriter writer(archive);
  const_cast<LRScheduler*>(this)->fields(writer);
}
void LRScheduler::load(serialize::InputArchive& archive) {
  ArchiveReader reader(archive);
  read(reader);
}

PerGroup::PerGroup(double value) : values_{value}, is_list_(false) {}
PerGroup::PerGroup(std::vector<double> values) : values_(std::move(values)) {}
PerGroup::PerGroup(const std::vector<float>& values) : values_(values.begin(), values.end()) {}
PerGroup::PerGroup(std::initializer_list<double> values) : values_(values) {}
std::vector<double> PerGroup::spread(size_t num_groups) const {
  if (!is_list_) return std::vector<double>(num_groups, values_[0]);
  return values_.size() == num_groups ? values_ : std::vector<double>();
}

}  // namespace hearth::optim
