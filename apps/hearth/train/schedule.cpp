#include "schedule.h"

#include <algorithm>

#include "../names.h"
#include "hearth/hearth.h"
#include "named_settings.h"

namespace hearth::app {

namespace {

using optim::LRScheduler;
using optim::Optimizer;
using Scheduler = std::shared_ptr<LRScheduler>;

/// Creates a scheduler from its settings.
class Maker {
 public:
  Maker(SettingFields& settings, Optimizer& optimizer, const Plan& plan)
      : settings_(settings), optimizer_(optimizer), plan_(plan) {}

  /// The setting's value, or `value` if the text does not name it.
  template <class T>
  T read(const char* name, T value) {
    settings_.field(name, value);
    return value;
  }
  /// The same for a default `value` that comes from the plan.
  int64_t planned(const char* name, int64_t value) {
    depends_on_length_ = depends_on_length_ || !settings_.has(name);
    return read(name, value);
  }
  template <class Kind, class... Arguments>
  Scheduler make(const Arguments&... arguments) {
    settings_.check_all_known();
    return std::make_shared<Kind>(optimizer_, arguments...);
  }
  const Plan& plan() const { return plan_; }
  double lr() const { return optimizer_.defaults().get_lr(); }
  bool has_momentum() const { return optimizer_.defaults().get_momentum().value_or(0) > 0; }
  bool depends_on_length() const { return depends_on_length_; }

 private:
  SettingFields& settings_;
  Optimizer& optimizer_;
  const Plan& plan_;
  bool depends_on_length_ = false;
};

Scheduler make_one_cycle(Maker& m) {
  optim::OneCycleLROptions options(m.read("max_lr", m.lr()));
  const int64_t steps = m.plan().epochs * m.plan().steps_per_epoch;
  const int64_t total_steps = m.planned("total_steps", steps);
  HEARTH_CHECK_AS(ValueError, total_steps >= steps, "onecycle:total_steps=", total_steps,
                  " is less than the ", steps, " steps of this training");
  options.total_steps(total_steps)
      .pct_start(m.read("pct_start", options.pct_start()))
      .anneal_strategy(m.read("anneal_strategy", options.anneal_strategy()))
      .cycle_momentum(m.read("cycle_momentum", m.has_momentum()))
      .base_momentum(m.read("base_momentum", options.base_momentum().values()[0]))
      .max_momentum(m.read("max_momentum", options.max_momentum().values()[0]))
      .div_factor(m.read("div_factor", options.div_factor()))
      .final_div_factor(m.read("final_div_factor", options.final_div_factor()))
      .three_phase(m.read("three_phase", options.three_phase()));
  return m.make<optim::OneCycleLR>(options);
}

Scheduler make_cyclic(Maker& m) {
  optim::CyclicLROptions options(m.read("base_lr", m.lr() / 10), m.read("max_lr", m.lr()));
  options.step_size_up(m.read("step_size_up", options.step_size_up()));
  options.step_size_down(m.read("step_size_down", options.step_size_up()))
      .mode(m.read("mode", options.mode()))
      .gamma(m.read("gamma", options.gamma()))
      .cycle_momentum(m.read("cycle_momentum", m.has_momentum()))
      .base_momentum(m.read("base_momentum", options.base_momentum().values()[0]))
      .max_momentum(m.read("max_momentum", options.max_momentum().values()[0]));
  return m.make<optim::CyclicLR>(options);
}

Scheduler make_plateau(Maker& m) {
  const double factor = m.read("factor", 0.1);
  const auto patience = m.read<int64_t>("patience", 10), cooldown = m.read<int64_t>("cooldown", 0);
  const double threshold = m.read("threshold", 1e-4), min_lr = m.read("min_lr", 0.0);
  return m.make<optim::ReduceLROnPlateau>(optim::ReduceLROnPlateau::max, factor, patience,
                                          threshold, optim::ReduceLROnPlateau::rel, cooldown,
                                          min_lr);
}

struct SchedulerKind {
  const char* name;
  ScheduleUnit unit;
  Scheduler (*make)(Maker&);
};

constexpr auto kEpoch = ScheduleUnit::kEpoch;
constexpr SchedulerKind kSchedulers[] = {
    {"none", kEpoch, [](Maker&) { return Scheduler(); }},
    {"step", kEpoch,
     [](Maker& m) {
       const int64_t size = m.planned("step_size", std::max<int64_t>(m.plan().epochs / 3, 1));
       return m.make<optim::StepLR>(size, m.read("gamma", 0.1));
     }},
    {"multistep", kEpoch,
     [](Maker& m) {
       const auto milestones = m.read("milestones", std::vector<int64_t>());
       HEARTH_CHECK_AS(ValueError, !milestones.empty(),
                       "'multistep' needs its epochs: multistep:milestones=30:60:90");
       return m.make<optim::MultiStepLR>(milestones, m.read("gamma", 0.1));
     }},
    {"exponential", kEpoch,
     [](Maker& m) { return m.make<optim::ExponentialLR>(m.read("gamma", 0.9)); }},
    {"cosine", kEpoch,
     [](Maker& m) {
       const int64_t T_max = m.planned("T_max", m.plan().epochs);
       return m.make<optim::CosineAnnealingLR>(T_max, m.read("eta_min", 0.0));
     }},
    {"cosine-restarts", kEpoch,
     [](Maker& m) {
       const auto T_0 = m.read<int64_t>("T_0", 10), T_mult = m.read<int64_t>("T_mult", 1);
       return m.make<optim::CosineAnnealingWarmRestarts>(T_0, T_mult, m.read("eta_min", 0.0));
     }},
    {"linear", kEpoch,
     [](Maker& m) {
       const double start = m.read("start_factor", 1.0), end = m.read("end_factor", 0.0);
       return m.make<optim::LinearLR>(start, end, m.planned("total_iters", m.plan().epochs));
     }},
    {"polynomial", kEpoch,
     [](Maker& m) {
       const int64_t total_iters = m.planned("total_iters", m.plan().epochs);
       return m.make<optim::PolynomialLR>(total_iters, m.read("power", 1.0));
     }},
    {"onecycle", ScheduleUnit::kStep, make_one_cycle},
    {"cyclic", ScheduleUnit::kStep, make_cyclic},
    {"plateau", ScheduleUnit::kAccuracy, make_plateau},
};

}  // namespace

const std::vector<std::string>& scheduler_names() {
  static const std::vector<std::string> names = names_in(kSchedulers);
  return names;
}

Schedule::Schedule(const std::string& text, Optimizer& optimizer, const Plan& plan) {
  const NamedSettings source = parse_named_settings(text);
  const SchedulerKind* kind = find_named(kSchedulers, source.name);
  if (!kind) throw ValueError(unknown_name("scheduler", source.name, scheduler_names()));
  SettingFields settings(source);
  Maker maker(settings, optimizer, plan);
  scheduler_ = kind->make(maker);
  settings.check_all_known();
  unit_ = kind->unit;
  depends_on_length_ = maker.depends_on_length();
}

bool Schedule::depends_on_length(const std::string& text) {
  optim::SGD any({zeros({1})}, optim::SGDOptions(0.1).momentum(0.9));
  return Schedule(text, any, {}).depends_on_length_;
}

bool Schedule::depends_on_step_count(const std::string& text) {
  optim::SGD any({zeros({1})}, optim::SGDOptions(0.1).momentum(0.9));
  const Schedule schedule(text, any, {});
  return schedule.depends_on_length_ && schedule.unit_ == ScheduleUnit::kStep;
}

void Schedule::after_step() {
  if (scheduler_ && unit_ == ScheduleUnit::kStep) scheduler_->step();
}

void Schedule::after_epoch(double test_accuracy) {
  if (!scheduler_ || unit_ == ScheduleUnit::kStep) return;
  unit_ == ScheduleUnit::kAccuracy ? scheduler_->step(test_accuracy) : scheduler_->step();
}

void Schedule::save(serialize::OutputArchive& archive) const {
  if (scheduler_) scheduler_->save(archive);
}

void Schedule::load(serialize::InputArchive& archive) {
  if (scheduler_) scheduler_->load(archive);
}

}  // namespace hearth::app
