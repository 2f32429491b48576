#include "hearth/optim/composite_schedulers.h"

#include "hearth/demangle.h"
#include "hearth/optim/reduce_lr_on_plateau.h"

namespace hearth::optim {

namespace {

void check_scheduler(const LRScheduler* scheduler, const std::string& name, size_t i) {
  HEARTH_CHECK_AS(TypeError, scheduler, name, " at index ", i,
                  " should have `optimizer` as its attribute.");
  HEARTH_CHECK_AS(ValueError, !dynamic_cast<const ReduceLROnPlateau*>(scheduler), name,
                  " does not support `ReduceLROnPlateau` scheduler as it requires additional "
                  "kwargs to be specified when calling `step`, but got one at index ",
                  i, " in the given schedulers sequence.");
}

}  // namespace

Optimizer& CompositeScheduler::optimizer_of_first(const Schedulers& schedulers,
                                                  const std::string& name) {
  HEARTH_CHECK_AS(ValueError, !schedulers.empty(), name, " expects at least one scheduler",
                  name == "ChainedScheduler" ? " to be chained" : "", ", but got no scheduler.");
  check_scheduler(schedulers[0].get(), name, 0);
  return schedulers[0]->optimizer();
}

Optimizer& CompositeScheduler::checked(Optimizer& optimizer, const Schedulers& schedulers,
                                       const std::string& name) {
  optimizer_of_first(schedulers, name);
  for (size_t i = 0; i < schedulers.size(); ++i) {
    check_scheduler(schedulers[i].get(), name, i);
    const Optimizer& other = schedulers[i]->optimizer();
    HEARTH_CHECK_AS(ValueError, &other == &optimizer, name,
                    " expects all schedulers to belong to the same optimizer, but got scheduler ",
                    short_class_name(typeid(*schedulers[i])), " at index ", i, " has ",
                    short_class_name(typeid(other)), ", which is different from ",
                    short_class_name(typeid(optimizer)), ".");
  }
  return optimizer;
}

CompositeScheduler::CompositeScheduler(Optimizer& optimizer, Schedulers schedulers,
                                       std::string name, int64_t last_epoch)
    : LRScheduler(checked(optimizer, schedulers, name), last_epoch),
      schedulers_(std::move(schedulers)),
      name_(std::move(name)) {}

void CompositeScheduler::start(size_t i) { schedulers_[i]->start(); }
void CompositeScheduler::restart(size_t i) { schedulers_[i]->set_epoch(0); }

void CompositeScheduler::undo_initial_step() {
  for (const auto& scheduler : schedulers_) scheduler->undo_initial_step();
}

std::vector<double> CompositeScheduler::get_lrs() {
  hearth::detail::fail<NotImplementedError>(
      name_,
      " cannot start at a milestone, since it computes no learning rates; in a SequentialLR, it "
      "can only be the first scheduler");
}

void CompositeScheduler::go_to(double) {
  hearth::detail::fail<TypeError>(name_, ".step() takes 1 positional argument but 2 were given");
}

void CompositeScheduler::check() const {
  LRScheduler::check();
  for (const auto& scheduler : schedulers_) scheduler->check();
}

void CompositeScheduler::fields(Fields& f) {
  LRScheduler::fields(f);
  f.nested("schedulers", [this](Fields& list) {
    HEARTH_CHECK_AS(ValueError, !list.has(std::to_string(schedulers_.size())),
                    "loaded state dict has more schedulers than ", name_, ", which has ",
                    schedulers_.size());
    for (size_t i = 0; i < schedulers_.size(); ++i)
      list.nested(std::to_string(i), [&](Fields& item) { schedulers_[i]->fields(item); });
  });
}

SequentialLR::SequentialLR(Optimizer& optimizer, Schedulers schedulers,
                           std::vector<int64_t> milestones, int64_t last_epoch)
    : CompositeScheduler(optimizer, std::move(schedulers), "SequentialLR", last_epoch),
      milestones_(std::move(milestones)) {
  SequentialLR::check();
  set_optimizer_lrs(base_lrs());
  SequentialLR::undo_initial_step();
  start(index_at(0));
  remember_lrs();
}

void SequentialLR::check() const {
  CompositeScheduler::check();
  HEARTH_CHECK_AS(ValueError, milestones_.size() == schedulers().size() - 1,
                  "Sequential Schedulers expects number of schedulers provided to be one more than "
                  "the number of milestone points, but got number of schedulers ",
                  schedulers().size(), " and the number of milestones to be equal to ",
                  milestones_.size());
}

/// Returns the index of the scheduler of an epoch. This is Python's bisect_right: std::upper_bound
/// may differ from it if the milestones are not sorted.
size_t SequentialLR::index_at(int64_t epoch) const {
  size_t low = 0, high = milestones_.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (epoch < milestones_[middle])
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

void SequentialLR::next_epoch() {
  set_last_epoch(last_epoch() + 1);
  const size_t i = index_at(last_epoch());
  if (i > 0 && milestones_[i - 1] == last_epoch())
    restart(i);
  else
    schedulers()[i]->step();
  remember_lrs();
}

void SequentialLR::fields(Fields& f) {
  CompositeScheduler::fields(f);
  f.field("milestones", milestones_);
}

ChainedScheduler::ChainedScheduler(Schedulers schedulers)
    : ChainedScheduler(schedulers, optimizer_of_first(schedulers, "ChainedScheduler")) {}

ChainedScheduler::ChainedScheduler(Schedulers schedulers, Optimizer& optimizer)
    : CompositeScheduler(optimizer, std::move(schedulers), "ChainedScheduler") {
  ChainedScheduler::check();
}

void ChainedScheduler::next_epoch() {
  for (const auto& scheduler : schedulers()) scheduler->step();
  set_last_epoch(last_epoch() + 1);
  remember_lrs();
}

}  // namespace hearth::optim
