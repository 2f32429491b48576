#include "hearth/optim/optimizer.h"

#include <algorithm>
#include <unordered_set>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "optim/options.h"

namespace hearth::optim {

OptimizerParamGroup::OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
OptimizerParamGroup::OptimizerParamGroup(std::vector<Tensor> params,
                                         std::unique_ptr<OptimizerOptions> options)
    : params_(std::move(params)), options_(options.release()) {}
OptimizerParamGroup::OptimizerParamGroup(const OptimizerParamGroup& other)
    : params_(other.params_),
      options_(other.options_ ? other.options_->clone().release() : nullptr),
      initial_lr_(other.initial_lr_) {}

void OptimizerParamGroup::set_options(std::unique_ptr<OptimizerOptions> options) {
  options_ = hearth::detail::OwnedPtr(options.release());
}

OptimizerOptions& OptimizerParamGroup::options() {
  HEARTH_CHECK(options_, "this parameter group has no options");
  return *options_;
}
const OptimizerOptions& OptimizerParamGroup::options() const {
  HEARTH_CHECK(options_, "this parameter group has no options");
  return *options_;
}

namespace {

/// Whether one of the parameters is in one of the groups.
bool contain_any(const std::vector<OptimizerParamGroup>& groups,
                 const std::vector<Tensor>& params) {
  std::unordered_set<const void*> seen;
  for (const OptimizerParamGroup& group : groups)
    for (const Tensor& param : group.params()) seen.insert(param.unsafeGetTensorImpl());
  return std::any_of(params.begin(), params.end(), [&](const Tensor& param) {
    return param.defined() && seen.count(param.unsafeGetTensorImpl()) > 0;
  });
}

/// Checks the parameters and removes duplicates.
std::vector<Tensor> checked_parameters(const std::vector<Tensor>& params) {
  std::unordered_set<const void*> seen;
  std::vector<Tensor> unique;
  for (const Tensor& param : params) {
    HEARTH_CHECK_AS(TypeError, param.defined(),
                    "optimizer can only optimize Tensors, but one of the params is undefined");
    HEARTH_CHECK(param.is_leaf() || param.retains_grad(), "can't optimize a non-leaf Tensor");
    if (seen.insert(param.unsafeGetTensorImpl()).second) unique.push_back(param);
  }
  if (unique.size() < params.size())
    warn(
        "optimizer contains a parameter group with duplicate parameters; in future, this will "
        "cause an error; see github.com/pytorch/pytorch/issues/40967 for more information");
  return unique;
}

/// Returns the group with checked parameters and complete options.
OptimizerParamGroup complete(OptimizerParamGroup group, const OptimizerOptions& defaults) {
  group.params() = checked_parameters(group.params());
  if (group.has_options())
    apply_defaults(group.options(), defaults);
  else
    group.set_options(defaults.clone());
  return group;
}

constexpr char kInTwoGroups[] = "some parameters appear in more than one parameter group";

}  // namespace

Optimizer::Optimizer(const std::vector<OptimizerParamGroup>& param_groups,
                     std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  HEARTH_CHECK(defaults_, "an optimizer needs default options");
  const auto is_empty = [](const OptimizerParamGroup& group) { return group.params().empty(); };
  if (std::all_of(param_groups.begin(), param_groups.end(), is_empty))
    warn("optimizer got an empty parameter list");
  for (const OptimizerParamGroup& group : param_groups) add_param_group(group);
}
Optimizer::Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults)
    : Optimizer(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(parameters))},
                std::move(defaults)) {}
Optimizer::~Optimizer() = default;

std::unique_ptr<OptimizerParamState> Optimizer::make_state() const { return nullptr; }

void Optimizer::add_param_group(const OptimizerParamGroup& param_group) {
  // As in LibTorch, a parameter without state may be in two groups, and each group updates it.
  for (const Tensor& param : param_group.params())
    HEARTH_CHECK(!param.defined() || state_.count(param.unsafeGetTensorImpl()) == 0, kInTwoGroups);
  if (contain_any(param_groups_, param_group.params())) warn(kInTwoGroups);
  param_groups_.push_back(complete(param_group, *defaults_));
}

void Optimizer::zero_grad(bool set_to_none) {
  for (OptimizerParamGroup& group : param_groups_)
    for (const Tensor& param : group.params()) {
      Tensor& grad = param.mutable_grad();
      if (!grad.defined()) continue;
      if (set_to_none) {
        grad = Tensor();
      } else {
        grad.detach_();
        grad.zero_();
      }
    }
}

namespace {

void warn_of_removal(const char* function) {
  warn(detail::str("Optimizer::", function, "() will be removed in PyTorch 1.6"));
}

/// Returns the first group's parameters, for the deprecated functions without groups.
template <class Groups>
auto& first_parameters(Groups& groups) {
  HEARTH_CHECK(!groups.empty(), "the optimizer has no parameter group");
  return groups[0].params();
}

}  // namespace

void Optimizer::add_parameters(const std::vector<Tensor>& parameters) {
  warn_of_removal("add_parameters");
  std::vector<Tensor>& first = first_parameters(param_groups_);
  HEARTH_CHECK(!contain_any(param_groups_, parameters), kInTwoGroups);
  const std::vector<Tensor> added = checked_parameters(parameters);
  first.insert(first.end(), added.begin(), added.end());
}
const std::vector<Tensor>& Optimizer::parameters() const {
  warn_of_removal("parameters");
  return first_parameters(param_groups_);
}
std::vector<Tensor>& Optimizer::parameters() {
  warn_of_removal("parameters");
  return first_parameters(param_groups_);
}
size_t Optimizer::size() const {
  warn_of_removal("size");
  size_t count = 0;
  for (const OptimizerParamGroup& group : param_groups_) count += group.params().size();
  return count;
}

}  // namespace hearth::optim
