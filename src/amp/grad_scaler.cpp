#include <algorithm>
#include <unordered_map>

#include "hearth/amp.h"
#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "hearth/io/archive.h"
#include "hearth/ivalue_containers.h"
#include "hearth/nn/module.h"
#include "hearth/operators.h"
#include "hearth/shards.h"

namespace hearth::amp {

namespace {

Tensor number_on(Device device, double value, ScalarType dtype = kFloat) {
  return full({}, value, TensorOptions(dtype).device(device));
}

/// Copies of a number on the devices where it is needed.
class Replicas {
 public:
  explicit Replicas(Tensor number) : number_(std::move(number)) {}
  Tensor& on(Device device) {
    for (Tensor& copy : copies_)
      if (copy.device() == device) return copy;
    return copies_.emplace_back(
        number_.to(TensorOptions(device), /*non_blocking=*/true, /*copy=*/true));
  }
  const std::vector<Tensor>& all() const { return copies_; }

 private:
  Tensor number_;
  std::vector<Tensor> copies_;
};

/// Gradients on one device.
struct Gradients {
  Device device;
  std::vector<Tensor> tensors;
};

std::vector<Gradients> gradients_by_device(const optim::Optimizer& optimizer) {
  std::vector<Gradients> all;
  for (const auto& group : optimizer.param_groups())
    for (const Tensor& param : group.params()) {
      const Tensor grad = param.grad();
      if (!grad.defined()) continue;
      HEARTH_CHECK_AS(ValueError, grad.scalar_type() != kHalf,
                      "Attempting to unscale FP16 gradients.");
      const auto same = [&](const Gradients& other) { return other.device == grad.device(); };
      auto found = std::find_if(all.begin(), all.end(), same);
      if (found == all.end()) found = all.insert(all.end(), {grad.device(), {}});
      found->tensors.push_back(grad);
    }
  return all;
}

std::vector<Tensor> parameters_of(const optim::Optimizer& optimizer) {
  std::vector<Tensor> all;
  for (const auto& group : optimizer.param_groups())
    all.insert(all.end(), group.params().begin(), group.params().end());
  return all;
}

/// If other ranks have parts of the parameters: sets found_inf if another rank has found an inf,
/// and creates found_inf if only other ranks have gradients.
void share_between_ranks(const optim::Optimizer& optimizer, Replicas& found_inf) {
  const std::vector<Tensor> parameters = parameters_of(optimizer);
  for (const ShardRanksPtr& ranks : shard_ranks_of(parameters)) {
    const auto is_shard = [&](const Tensor& each) { return shard_ranks_of(each) == ranks; };
    const Device device = std::find_if(parameters.begin(), parameters.end(), is_shard)->device();
    const Tensor shared = zeros({2}, device);  // found_inf; whether there are gradients
    for (const Tensor& own : found_inf.all()) shared[0].add_(own.to(device));
    shared[1].fill_(found_inf.all().empty() ? 0 : 1);
    ranks->max(shared);
    if (shared[1].item<float>() != 0) found_inf.on(device).copy_(shared[0]);
  }
}

/// The module of a parameter, and the parameter's name.
struct Owner {
  std::string parameter, path, type;
};

std::optional<Owner> owner_of(const Tensor& parameter, const nn::Module& model) {
  for (const auto& item : model.named_parameters()) {
    if (!item.value().is_same(parameter)) continue;
    const size_t dot = item.key().rfind('.');
    Owner owner{item.key(), dot == std::string::npos ? "" : item.key().substr(0, dot), ""};
    const auto modules = model.named_modules("", /*include_self=*/false);
    const auto* module = modules.find(owner.path);
    owner.type = module ? (*module)->name() : model.name();
    return owner;
  }
  return std::nullopt;
}

}  // namespace

/// The states of the optimizers since the last update().
struct GradScaler::Iteration {
  enum class Stage { kReady, kUnscaled, kStepped };
  struct State {
    Stage stage = Stage::kReady;
    std::vector<Tensor> found_inf;  // one per device
  };
  std::unordered_map<const optim::Optimizer*, State> states;
};

GradScaler::GradScaler(Device device, GradScalerOptions options)
    : device_(device), options_(options), iteration_(new Iteration) {
  if (device_.is_cuda() && options_.enabled() && !cuda::is_available()) {
    warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.");
    options_.enabled(false);
  }
  if (!options_.enabled()) return;
  HEARTH_CHECK(options_.growth_factor() > 1, "The growth factor must be > 1.0.");
  HEARTH_CHECK(options_.backoff_factor() < 1, "The backoff factor must be < 1.0.");
}
GradScaler::GradScaler(GradScalerOptions options)
    : GradScaler(Device(DeviceType::CUDA), std::move(options)) {}
GradScaler::GradScaler(GradScaler&&) noexcept = default;
GradScaler& GradScaler::operator=(GradScaler&&) noexcept = default;
GradScaler::~GradScaler() = default;

void GradScaler::end_iteration() { iteration_->states.clear(); }

void GradScaler::check_ready(const char* function) const {
  HEARTH_CHECK(scale_.defined(), "Attempted ", function,
               " but _scale is None.  This may indicate your script did not use scaler.scale(loss "
               "or outputs) earlier in the iteration.");
}

const Tensor& GradScaler::scale_on(Device device) {
  if (!scale_.defined()) {
    scale_ = number_on(device, options_.init_scale());
    growth_tracker_ = number_on(device, double(initial_tracker_), kInt);
  }
  return scale_;
}

Tensor GradScaler::scale(const Tensor& output) {
  if (!is_enabled()) return output;
  const Tensor& own = scale_on(output.device());
  return output.mul(own.to(TensorOptions(output.device()), /*non_blocking=*/true));
}

std::vector<Tensor> GradScaler::scale(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> scaled;
  scaled.reserve(outputs.size());
  for (const Tensor& output : outputs) scaled.push_back(scale(output));
  return scaled;
}

std::vector<Tensor> GradScaler::unscale_gradients(const optim::Optimizer& optimizer) const {
  const NoGradGuard no_grad;
  Replicas inverse(scale_.to(kDouble).reciprocal().to(kFloat));
  Replicas found_inf(number_on(scale_.device(), 0));
  for (const Gradients& gradients : gradients_by_device(optimizer))
    _amp_foreach_non_finite_check_and_unscale_(gradients.tensors, found_inf.on(gradients.device),
                                               inverse.on(gradients.device));
  share_between_ranks(optimizer, found_inf);
  return found_inf.all();
}

void GradScaler::unscale_(optim::Optimizer& optimizer) {
  if (!is_enabled()) return;
  check_ready("unscale_");
  Iteration::State& state = iteration_->states[&optimizer];
  HEARTH_CHECK(state.stage != Iteration::Stage::kUnscaled,
               "unscale_() has already been called on this optimizer since the last update().");
  HEARTH_CHECK(state.stage != Iteration::Stage::kStepped,
               "unscale_() is being called after step().");
  state.found_inf = unscale_gradients(optimizer);
  state.stage = Iteration::Stage::kUnscaled;
}

Tensor GradScaler::step(optim::Optimizer& optimizer, optim::Optimizer::LossClosure closure) {
  if (!is_enabled()) return optimizer.step(std::move(closure));
  HEARTH_CHECK(!closure, "Closure use is not currently supported if GradScaler is enabled.");
  check_ready("step");
  Iteration::State& state = iteration_->states[&optimizer];
  HEARTH_CHECK(state.stage != Iteration::Stage::kStepped,
               "step() has already been called since the last update().");
  if (state.stage == Iteration::Stage::kReady) unscale_(optimizer);
  HEARTH_CHECK(
      !state.found_inf.empty(),
      "No inf checks were recorded for this optimizer. None of its parameters has a gradient: call "
      "scaler.scale(loss).backward() before, with a loss that depends on them");
  const bool finite = std::all_of(state.found_inf.begin(), state.found_inf.end(),
                                  [](const Tensor& found) { return found.item<float>() == 0; });
  Tensor loss;
  if (finite)
    loss = optimizer.step();
  else
    remember_cause(optimizer);
  state.stage = Iteration::Stage::kStepped;
  return loss;
}

void GradScaler::remember_cause(const optim::Optimizer& optimizer) {
  non_finite_ = {};
  const auto& groups = optimizer.param_groups();
  for (size_t g = groups.size(); g-- > 0;)
    for (size_t i = groups[g].params().size(); i-- > 0;) {
      const Tensor& param = groups[g].params()[i];
      if (!param.grad().defined()) continue;
      const int64_t elements = param.grad().isfinite().logical_not().sum().item<int64_t>();
      if (elements == 0) continue;
      non_finite_ =
          hearth::detail::OwnedPtr(new NonFiniteGradient{param, g, i, elements, get_scale()});
      return;
    }
  if (!shard_ranks_of(parameters_of(optimizer)).empty())
    non_finite_ = hearth::detail::OwnedPtr(new NonFiniteGradient{{}, 0, 0, 0, get_scale()});
}

std::string GradScaler::explain(const nn::Module& model) const {
  if (!non_finite_) return {};
  const NonFiniteGradient& cause = *non_finite_;
  if (!cause.parameter.defined())
    return hearth::detail::str("the step was skipped: elements of a gradient are inf or NaN in ",
                               "another rank's part at scale ", cause.scale);
  std::string name = hearth::detail::str("parameter ", cause.index, " of group ", cause.group);
  if (const auto owner = owner_of(cause.parameter, model))
    name = owner->parameter + " (module " + (owner->path.empty() ? "" : owner->path + ", ") +
           owner->type + ")";
  return hearth::detail::str("the step was skipped: ", cause.elements, " of ",
                             cause.parameter.numel(), " elements of the gradient of ", name,
                             " are inf or NaN at scale ", cause.scale);
}

void GradScaler::update() {
  if (!is_enabled()) return;
  check_ready("update");
  Tensor found;
  for (const auto& [optimizer, state] : iteration_->states)
    for (const Tensor& other : state.found_inf) {
      const Tensor here = other.to(TensorOptions(scale_.device()), /*non_blocking=*/true);
      found = found.defined() ? found.add(here) : here;
    }
  HEARTH_CHECK(found.defined(),
               "No inf checks were recorded prior to update. Call scaler.step(optimizer) or "
               "scaler.unscale_(optimizer) before");
  _amp_update_scale_(scale_, growth_tracker_, found, options_.growth_factor(),
                     options_.backoff_factor(), options_.growth_interval());
  end_iteration();
}

void GradScaler::update(double new_scale) {
  if (!is_enabled()) return;
  check_ready("update");
  scale_.fill_(new_scale);
  end_iteration();
}

void GradScaler::update(const Tensor& new_scale) {
  if (!is_enabled()) return;
  check_ready("update");
  HEARTH_CHECK(new_scale.device().type() == device_.type() && new_scale.numel() == 1 &&
                   !new_scale.requires_grad(),
               "new_scale should be a float or a 1-element torch.cuda.FloatTensor or "
               "torch.FloatTensor with requires_grad=False.");
  scale_.copy_(new_scale.reshape({}));
  end_iteration();
}

double GradScaler::get_scale() const {
  if (!is_enabled()) return 1;
  return scale_.defined() ? double(scale_.item<float>()) : options_.init_scale();
}

int64_t GradScaler::growth_tracker() const {
  return growth_tracker_.defined() ? growth_tracker_.item<int64_t>() : initial_tracker_;
}

namespace {

/// A number of a dict that may have been written by Python, where 2 is an int.
double number_in(const GenericDict& dict, const char* key) {
  HEARTH_CHECK(dict.contains(key), "'", key, "' is missing in the state dict of a GradScaler");
  const IValue value = dict.at(key);
  return value.isInt() ? double(value.toInt()) : value.toDouble();
}

}  // namespace

IValue GradScaler::state_dict() const {
  GenericDict dict;
  if (is_enabled()) {
    dict.insert("scale", get_scale());
    dict.insert("growth_factor", options_.growth_factor());
    dict.insert("backoff_factor", options_.backoff_factor());
    dict.insert("growth_interval", options_.growth_interval());
    dict.insert("_growth_tracker", growth_tracker());
  }
  return dict;
}

void GradScaler::load_state_dict(const IValue& saved) {
  if (!is_enabled()) return;
  const GenericDict dict = saved.toGenericDict();
  HEARTH_CHECK(dict.size() > 0,
               "The source state dict is empty, possibly because it was saved from a disabled "
               "instance of GradScaler.");
  GradScalerOptions loaded = options_;
  loaded.init_scale(number_in(dict, "scale")).growth_factor(number_in(dict, "growth_factor"));
  loaded.backoff_factor(number_in(dict, "backoff_factor"));
  loaded.growth_interval(int64_t(number_in(dict, "growth_interval")));
  initial_tracker_ = int64_t(number_in(dict, "_growth_tracker"));
  options_ = loaded;
  if (!scale_.defined()) return;
  scale_.fill_(loaded.init_scale());
  growth_tracker_.fill_(initial_tracker_);
}

void GradScaler::save(serialize::OutputArchive& archive) const {
  for (const auto& item : state_dict().toGenericDict())
    archive.write(item.key().toStringRef(), item.value());
}

void GradScaler::load(serialize::InputArchive& archive) {
  GenericDict dict;
  for (const char* key :
       {"scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"}) {
    IValue value;
    if (archive.try_read(key, value)) dict.insert(key, value);
  }
  load_state_dict(dict);
}

}  // namespace hearth::amp
