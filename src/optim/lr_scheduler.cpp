#include "hearth/optim/lr_scheduler.h"

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
  is_initial_ = true;
  set_optimizer_lrs(get_lrs());
  is_initial_ = false;
}

void LRScheduler::step() {
  ++last_epoch_;
  set_optimizer_lrs(get_lrs());
  ++step_count_;
}

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> rates;
  for (const OptimizerParamGroup& group : optimizer().param_groups())
    rates.push_back(group.options().get_lr());
  return rates;
}

void LRScheduler::check_count(size_t count, const char* what) const {
  const size_t groups = optimizer().param_groups().size();
  HEARTH_CHECK(count == groups, "Number of ", what,
               " not equal to the number of param groups\nNumber of ", what, " given: ", count,
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
  const StateDict before = state_dict();
  try {
    fields(f);
    check();
  } catch (...) {
    DictReader back(before);
    fields(back);
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

std::vector<double> PerGroup::spread(size_t groups) const {
  if (!is_list_) return std::vector<double>(groups, values_[0]);
  return values_.size() == groups ? values_ : std::vector<double>();
}

}  // namespace hearth::optim
