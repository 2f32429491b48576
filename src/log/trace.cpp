#include <algorithm>
#include <optional>
#include <ostream>
#include <string_view>
#include <unordered_map>

#include "core/multiply_adds.h"
#include "core/tensor_impl.h"
#include "hearth/utils/graph.h"

namespace hearth::utils {

namespace detail {

namespace {

/// "Net" for test::NetImpl.
std::string class_name(const nn::Module& module) {
  constexpr std::string_view kImpl = "Impl";
  std::string_view name = module.name();
  const size_t colons = name.substr(0, name.find('<')).rfind("::");
  if (colons != std::string_view::npos) name.remove_prefix(colons + 2);
  if (name.size() > kImpl.size() && name.ends_with(kImpl)) name.remove_suffix(kImpl.size());
  return std::string(name);
}

/// Whether two tensors of one storage have the same elements at the same positions.
bool have_same_elements(const TensorImpl& a, const TensorImpl& b) {
  return a.dtype == b.dtype && a.offset == b.offset && a.sizes().equals(b.sizes()) &&
         a.strides().equals(b.strides());
}

/// The name of the scope that a call of the module opens (nn/run_module.cpp).
std::string scope_name(const nn::Module& module) {
  return module.path().empty() ? module.name() : module.path();
}

}  // namespace

struct Tracer::State final : Observer {
  State(nn::Module& model, const std::vector<Tensor>& inputs);
  ~State() override;
  void begin(const ObservedCall& call) override;
  void end(const ObservedCall& call) override;

  size_t add_value(const Tensor& tensor, GraphValue::Kind kind, std::string name,
                   std::string scope);
  size_t number_of(const Tensor& tensor);
  std::optional<size_t> number_of_alias(const TensorImpl& impl) const;
  void set_number(const Tensor& tensor, size_t number);
  void renumber_aliases(const Tensor& written, size_t number);
  std::string scope_of(const ObservedCall& call) const;

  Graph graph;

 private:
  void name_modules(const nn::Module& model);

  ModesGuard former_modes_;
  std::vector<std::pair<std::shared_ptr<nn::Module>, bool>> training_;
  std::string root_;                                     // the model's scope
  std::unordered_map<std::string, std::string> scopes_;  // by scope_name
  struct Named {
    std::string name, scope;
  };
  std::unordered_map<const TensorImpl*, Named> parameters_;
  std::unordered_map<const TensorImpl*, size_t> numbers_;
  std::vector<Tensor> kept_;                // so that no address is used twice
  int depth_ = 0;                           // of the running op calls; only outer ones become nodes
  GraphNode node_;                          // the running call
  std::vector<const TensorImpl*> targets_;  // the tensors to which it writes
};

Tracer::State::State(nn::Module& model, const std::vector<Tensor>& inputs) {
  for (const auto& module : model.modules()) training_.emplace_back(module, module->is_training());
  name_modules(model);
  for (size_t i = 0; i < inputs.size(); ++i)
    graph.inputs.push_back(
        add_value(inputs[i], GraphValue::Kind::Input, hearth::detail::str("input.", i + 1), ""));
  model.eval();
  modes.grad_enabled = false;
  install();
}

Tracer::State::~State() {
  // A module's train() also changes its submodules, which come later.
  for (const auto& [module, was_training] : training_) module->train(was_training);
}

void Tracer::State::name_modules(const nn::Module& model) {
  root_ = class_name(model);
  std::unordered_map<std::string, std::string> scope_at{{"", root_}};
  for (const auto& item : model.named_modules()) {
    const std::string& path = item.key();
    const nn::Module& module = *item.value();
    if (!path.empty()) {
      const size_t dot = path.rfind('.');
      const std::string parent = dot == std::string::npos ? "" : path.substr(0, dot);
      scope_at[path] =
          scope_at[parent] + "/" + class_name(module) + "[" + path.substr(dot + 1) + "]";
    }
    const std::string& scope = scope_at[path];
    graph.modules.push_back({path, class_name(module), scope});
    scopes_.emplace(scope_name(module), scope);
    const auto add = [&](const OrderedDict<std::string, Tensor>& tensors) {
      for (const auto& entry : tensors)
        parameters_.emplace(&impl_of(entry.value()),
                            Named{(path.empty() ? "" : path + ".") + entry.key(), scope});
    };
    add(module.named_parameters(false));
    add(module.named_buffers(false));
  }
}

std::string Tracer::State::scope_of(const ObservedCall& call) const {
  const Scope* scope = modes.scope;
  if (scope && scope->name == call.op.info->name) scope = scope->outer;  // the composed op's own
  if (!scope) return root_;
  const auto found = scopes_.find(scope->name);
  return found != scopes_.end() ? found->second : root_ + "/" + scope->name;
}

size_t Tracer::State::add_value(const Tensor& tensor, GraphValue::Kind kind, std::string name,
                                std::string scope) {
  graph.values.push_back(
      {kind, std::move(name), std::move(scope), tensor.sizes().vec(), tensor.scalar_type()});
  set_number(tensor, graph.values.size() - 1);
  return graph.values.size() - 1;
}

void Tracer::State::set_number(const Tensor& tensor, size_t number) {
  numbers_[&impl_of(tensor)] = number;
  kept_.push_back(tensor);
}

/// The number of a tensor's value. A tensor that no observed op made is a parameter, an alias of a
/// known tensor, or a constant.
size_t Tracer::State::number_of(const Tensor& tensor) {
  const TensorImpl& impl = impl_of(tensor);
  if (const auto known = numbers_.find(&impl); known != numbers_.end()) return known->second;
  if (const auto named = parameters_.find(&impl); named != parameters_.end())
    return add_value(tensor, GraphValue::Kind::Parameter, named->second.name, named->second.scope);
  if (const auto alias = number_of_alias(impl)) {
    set_number(tensor, *alias);
    return *alias;
  }
  return add_value(tensor, GraphValue::Kind::Constant, "constant", node_.scope);
}

/// The last number of a tensor with the same elements or, without one, in the same storage.
std::optional<size_t> Tracer::State::number_of_alias(const TensorImpl& impl) const {
  std::optional<size_t> same, any;
  for (const auto& [other, number] : numbers_) {
    if (!impl.storage || other->storage != impl.storage) continue;
    any = std::max(any, std::optional(number));
    if (have_same_elements(*other, impl)) same = std::max(same, std::optional(number));
  }
  return same ? same : any;
}

/// Gives the known tensors that share the written tensor's storage a new number.
void Tracer::State::renumber_aliases(const Tensor& written, size_t number) {
  const TensorImpl& impl = impl_of(written);
  for (auto& [other, known] : numbers_)
    if (impl.storage && other->storage == impl.storage) known = number;
}

void Tracer::State::begin(const ObservedCall& call) {
  if (depth_++ > 0) return;
  node_ = {full_name(*call.op.info), scope_of(call), as_text(call.arguments()), {}, {}, 0};
  targets_.clear();
  for (int i = 0; i < call.inputs.count; ++i)
    if (call.inputs[i].defined()) node_.inputs.push_back(number_of(call.inputs[i]));
  for (const Tensor& target : call.outputs)
    if (target.defined()) targets_.push_back(&impl_of(target));
}

void Tracer::State::end(const ObservedCall& call) {
  if (--depth_ > 0) return;
  for (const Tensor& output : call.outputs) {
    if (!output.defined()) continue;
    const size_t number = add_value(output, GraphValue::Kind::Result, "", node_.scope);
    node_.outputs.push_back(number);
    for (const TensorImpl* target : targets_)
      if (target == &impl_of(output)) renumber_aliases(output, number);
  }
  node_.multiply_adds = multiply_adds(call);
  graph.nodes.push_back(std::move(node_));
}

Tracer::Tracer(nn::Module& model, const std::vector<Tensor>& inputs)
    : state_(new State(model, inputs)) {}
Tracer::~Tracer() = default;

Graph Tracer::finish(const std::vector<Tensor>& outputs) {
  for (const Tensor& output : outputs)
    if (output.defined()) state_->graph.outputs.push_back(state_->number_of(output));
  return std::move(state_->graph);
}

}  // namespace detail

std::ostream& operator<<(std::ostream& stream, const Graph& graph) {
  const auto name = [&](size_t number) {
    const GraphValue& value = graph.values[number];
    return value.name.empty() ? hearth::detail::str("%", number) : value.name;
  };
  const auto list = [&](const std::vector<size_t>& numbers) {
    std::string text;
    for (const size_t number : numbers) text += (text.empty() ? "" : ", ") + name(number);
    return text;
  };
  for (const GraphNode& node : graph.nodes) {
    stream << list(node.outputs) << " = " << node.op << '(' << list(node.inputs);
    if (!node.arguments.empty()) stream << (node.inputs.empty() ? "" : ", ") << node.arguments;
    stream << ')';
    for (const size_t number : node.outputs)
      stream << ' ' << as_text(IntArrayRef(graph.values[number].sizes));
    stream << "  # " << node.scope << '\n';
  }
  return stream << "return " << list(graph.outputs) << '\n';
}

}  // namespace hearth::utils
