// State dicts, saving and loading of optimizers: their options and the state of their parameters. A
// parameter is identified by its position.
#include "hearth/autograd.h"
#include "hearth/demangle.h"
#include "hearth/memory_stats.h"
#include "hearth/operators.h"
#include "hearth/optim/serialize.h"
#include "optim/adapter.h"
#include "optim/field_io.h"

namespace hearth::optim {

namespace {

/// Calls f(index, parameter) for the parameters of all groups.
template <class F>
void for_each_parameter(const Optimizer& optimizer, const F& f) {
  int64_t index = 0;
  for (const OptimizerParamGroup& group : optimizer.param_groups())
    for (const Tensor& param : group.params()) f(index++, param);
}

constexpr const char* kName = "name";

/// Throws if the loaded data names another optimizer. It may have no name.
void check_name(const Optimizer& optimizer, Fields& f) {
  if (!f.has(kName)) return;
  const std::string expected = short_class_name(typeid(optimizer));
  std::string name;
  f.field(kName, name);
  HEARTH_CHECK_AS(ValueError, name == expected, "loaded state dict is from the optimizer ", name,
                  ", so ", expected, " cannot load it");
}

void write_group(const OptimizerParamGroup& group, Fields& f) {
  f.nested("params", [&group](Fields& params) {
    auto size = int64_t(group.params().size());
    params.field("size", size);
  });
  if (double initial = group.initial_lr().value_or(0); group.initial_lr())
    f.field("initial_lr", initial);
  write_fields(group.options(), f);
}

void write(const Optimizer& optimizer, Fields& f) {
  f.nested("state", [&optimizer](Fields& list) {
    for_each_parameter(optimizer, [&](int64_t index, const Tensor& param) {
      const auto state = optimizer.state().find(param.unsafeGetTensorImpl());
      if (state == optimizer.state().end() || !state->second) return;
      list.nested(std::to_string(index), [&](Fields& item) { write_fields(*state->second, item); });
    });
  });
  f.nested("param_groups", [&optimizer](Fields& list) {
    const auto& groups = optimizer.param_groups();
    auto size = int64_t(groups.size());
    list.field("size", size);
    for (size_t i = 0; i < groups.size(); ++i)
      list.nested(std::to_string(i), [&](Fields& item) { write_group(groups[i], item); });
  });
  std::string name = short_class_name(typeid(optimizer));
  f.field(kName, name);
}

/// Values that load() reads before it changes the optimizer.
struct Loaded {
  std::vector<std::unique_ptr<OptimizerOptions>> options;
  std::vector<std::optional<double>> initial_lrs;
  Optimizer::StateMap state;
};

void read_group(const OptimizerParamGroup& group, Loaded& loaded, Fields& f) {
  int64_t size = 0;
  f.nested("params", [&size](Fields& params) { params.field("size", size); });
  HEARTH_CHECK(size == int64_t(group.params().size()),
               "loaded state dict contains a parameter group that doesn't match the size of "
               "optimizer's group: ",
               size, " parameters for ", group.params().size());
  std::optional<double>& initial = loaded.initial_lrs.emplace_back();
  if (f.has("initial_lr")) f.field("initial_lr", initial.emplace());
  loaded.options.push_back(group.options().clone());
  f.require_values(false);  // an older version may have saved fewer options
  loaded.options.back()->fields(f);
}

void read_groups(const Optimizer& optimizer, Loaded& loaded, Fields& list) {
  const auto& groups = optimizer.param_groups();
  int64_t size = 0;
  list.field("size", size);
  HEARTH_CHECK(size == int64_t(groups.size()),
               "loaded state dict has a different number of parameter groups: ", size, " for ",
               groups.size());
  for (size_t i = 0; i < groups.size(); ++i)
    list.nested(std::to_string(i), [&](Fields& item) { read_group(groups[i], loaded, item); });
}

void read_state(const Optimizer& optimizer, const StateMaker& make_state, Loaded& loaded,
                Fields& list) {
  for_each_parameter(optimizer, [&](int64_t index, const Tensor& param) {
    if (!list.has(std::to_string(index))) return;
    std::unique_ptr<OptimizerParamState> state = make_state();
    HEARTH_CHECK_AS(NotImplementedError, state,
                    "the type of this optimizer's state is unknown: override make_state()");
    list.nested(std::to_string(index), [&state](Fields& item) { state->fields(item); });
    Adapter adapter(*state, param, index);
    state->fields(adapter);
    loaded.state[param.unsafeGetTensorImpl()] = std::move(state);
  });
}

/// Loads options and state; an error changes nothing.
void read(Optimizer& optimizer, const StateMaker& make_state, Fields& f) {
  const NoGradGuard no_grad;
  const MemoryTagGuard tag(MemoryTag::OptimizerState);
  check_name(optimizer, f);
  Loaded loaded;
  f.nested("param_groups", [&](Fields& list) { read_groups(optimizer, loaded, list); });
  if (f.has("state"))
    f.nested("state", [&](Fields& list) { read_state(optimizer, make_state, loaded, list); });
  for (size_t i = 0; i < loaded.options.size(); ++i) {
    OptimizerParamGroup& group = optimizer.param_groups()[i];
    group.set_options(std::move(loaded.options[i]));
    group.initial_lr() = loaded.initial_lrs[i];
  }
  optimizer.state() = std::move(loaded.state);
}

}  // namespace

StateDict Optimizer::state_dict() const {
  StateDict dict;
  DictWriter writer(dict);
  write(*this, writer);
  return dict;
}
void Optimizer::load_state_dict(const StateDict& dict) {
  DictReader reader(dict);
  read(
      *this, [this] { return make_state(); }, reader);
  after_load();
}
void Optimizer::save(serialize::OutputArchive& archive) const { save_optimizer(archive, *this); }
void Optimizer::load(serialize::InputArchive& archive) {
  load_optimizer(archive, *this, [this] { return make_state(); });
  after_load();
}

void save_optimizer(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  ArchiveWriter writer(archive);
  write(optimizer, writer);
}
void load_optimizer(serialize::InputArchive& archive, Optimizer& optimizer,
                    const StateMaker& make_state) {
  ArchiveReader reader(archive);
  HEARTH_CHECK_AS(ValueError, reader.has("param_groups"),
                  "the archive has no param_groups: it is not an optimizer's, or LibTorch 1.4 "
                  "or older saved it; load it with a newer LibTorch and save it again");
  read(optimizer, make_state, reader);
}

}  // namespace hearth::optim
