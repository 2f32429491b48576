// Calls every form of every operator in hearth/ops/list.inc with each of its tensors undefined in
// turn: a call never crashes, and throws unless the tensor is optional or LibTorch accepts it
// undefined. If the undefined tensor is self, the error says that it is undefined.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <typeindex>

#include "hearth/autograd.h"
#include "tests/ops/forms.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

bool is_tensor(const std::any& argument) {
  return argument.type() == typeid(Tensor) || argument.type() == typeid(TensorList) ||
         argument.type() == typeid(std::optional<Tensor>);
}

/// For each tensor in a parameter list: whether it may be undefined, judged by its name and
/// default.
std::vector<bool> optional_tensors(const std::string& parameters) {
  static const std::set<std::string> kOptional = {"weight", "bias", "running_mean", "running_var"};
  static const std::set<std::string> kNormParameters = {"cudnn_enabled", "HxW", "normalized_shape"};
  const bool is_norm = std::any_of(
      kNormParameters.begin(), kNormParameters.end(),
      [&](const std::string& name) { return parameters.find(name) != std::string::npos; });
  std::vector<bool> optional;
  std::istringstream stream(parameters);
  for (std::string parameter; std::getline(stream, parameter, ',');) {
    if (parameter.find("Tensor") == std::string::npos ||
        parameter.find("TensorOptions") != std::string::npos)
      continue;
    const size_t assigned = parameter.find(" = ");
    const std::string declarator = parameter.substr(0, assigned);
    const std::string name = declarator.substr(declarator.find_last_of(" &") + 1);
    optional.push_back(assigned != std::string::npos || (is_norm && kOptional.count(name) > 0) ||
                       parameter.find("optional<") != std::string::npos);
  }
  return optional;
}

/// Whether LibTorch 2.15 accepts an undefined tensor in this function.
bool is_accepted(const std::string& name) {
  static const std::set<std::string> kAccepted = {
      "atleast_1d",    "contiguous",      "is_same_size",          "real", "result_type", "dropout",
      "alpha_dropout", "feature_dropout", "feature_alpha_dropout",
  };
  return kAccepted.count(name) > 0;
}

/// A text that the function accepts, by the names of its parameters.
std::string_view text_for(const std::string& parameters) {
  const auto has = [&](const char* name) { return parameters.find(name) != std::string::npos; };
  if (has("string_view ord") || parameters.ends_with("string_view p")) return "fro";
  if (has("\"reduced\"")) return "reduced";
  return has("UPLO")       ? "L"
         : has("reduce")   ? "add"
         : has("mode")     ? "constant"
         : has("equation") ? "ij,ij->"
         : has("indexing") ? "ij"
                           : "none";
}

/// A simple value such as 1, a tensor of ones or no option; a random one for types without one.
std::any simplest(const ArgumentType& type, std::mt19937& random) {
  static const int64_t one[] = {1};
  static const Tensor list[] = {ones({2, 2}), ones({2, 2})};
  static const std::map<std::type_index, std::any> values{
      {typeid(Scalar), Scalar(1)},
      {typeid(std::optional<Scalar>), std::optional<Scalar>(1)},
      {typeid(int64_t), int64_t{1}},
      {typeid(std::optional<int64_t>), std::optional<int64_t>()},
      {typeid(bool), true},
      {typeid(double), 0.5},
      {typeid(std::optional<double>), std::optional<double>()},
      {typeid(ScalarType), kFloat},
      {typeid(std::optional<ScalarType>), std::optional<ScalarType>()},
      {typeid(IntArrayRef), IntArrayRef(one)},
      {typeid(OptionalIntArrayRef), OptionalIntArrayRef()},
      {typeid(TensorList), TensorList(list)}};
  if (type.info == typeid(Tensor)) return ones({2, 2});
  if (type.info == typeid(std::optional<Tensor>)) return std::optional<Tensor>(ones({2, 2}));
  const auto found = values.find(type.info);
  return found == values.end() ? type.pick(random) : found->second;
}

/// Arguments that the form is likely to accept, also those that it writes to: at the first attempt
/// simple ones, then random ones.
Erased all_arguments(const CallForm& form, int attempt, std::mt19937& random) {
  Erased arguments(form.num_outputs, empty({0}, kDouble));
  if (attempt == 0)
    for (const ArgumentType* type : form.types) arguments.push_back(simplest(*type, random));
  else
    for (std::any& argument : pick(form, random)) arguments.push_back(std::move(argument));
  for (std::any& argument : arguments)
    if (argument.type() == typeid(std::string_view))
      argument = text_for(form.declaration.parameters);
  return arguments;
}

void make_undefined(std::any& argument) {
  static const Tensor list[] = {ones({2, 2}), Tensor()};
  if (argument.type() == typeid(TensorList))
    argument = TensorList(list);
  else if (argument.type() == typeid(Tensor))
    argument = Tensor();
  else
    argument = std::optional<Tensor>(Tensor());
}

Tensor with_grad(const Tensor& tensor) {
  return tensor.defined() && tensor.is_floating_point() ? tensor.detach().requires_grad_() : tensor;
}

void require_grad(std::any& argument) {
  static Tensor list[2];
  if (Tensor* tensor = std::any_cast<Tensor>(&argument)) {
    *tensor = with_grad(*tensor);
  } else if (auto* optional = std::any_cast<std::optional<Tensor>>(&argument)) {
    if (*optional) *optional = with_grad(**optional);
  } else if (auto* tensors = std::any_cast<TensorList>(&argument)) {
    for (size_t i = 0; i < 2; ++i) list[i] = with_grad((*tensors)[i]);
    *tensors = list;
  }
}

/// The text of the error that the call throws.
std::optional<std::string> error_of(const CallForm& form, Erased& arguments) {
  try {
    form.call(arguments);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// Calls a form with its k-th tensor undefined. Returns whether an attempt succeeded or failed with
/// an error about the undefined tensor.
bool try_form(const CallForm& form, size_t k, bool may_be_undefined, bool grad) {
  const std::string description =
      detail::str(describe(form), " (", form.declaration.parameters, ") with tensor ", k,
                  " undefined", grad ? " and others that require grad" : "");
  SCOPED_TRACE(description);
  std::mt19937 random(7);
  bool was_reached = false;
  for (int attempt = 0; attempt < 4; ++attempt) {
    Erased arguments = all_arguments(form, attempt, random);
    size_t tensor = 0;
    for (std::any& argument : arguments)
      if (is_tensor(argument) && tensor++ == k)
        make_undefined(argument);
      else if (grad)
        require_grad(argument);
    const auto error = error_of(form, arguments);
    const bool names_undefined = error && error->find("undefined") != std::string::npos;
    was_reached |= names_undefined || !error;
    if (may_be_undefined) continue;  // either is right, as long as it does not crash
    if (!error) {
      EXPECT_TRUE(is_accepted(form.name)) << description << " was accepted";
    } else if (k == form.num_outputs && form.declaration.has_self) {
      EXPECT_TRUE(names_undefined) << description << ": " << *error;
    }
  }
  return was_reached;
}

TEST(Undefined, TensorsThrow) {
  const Warnings collected;  // so that they are not printed
  int reached = 0;
  for (const CallForm& form : call_forms()) {
    std::vector<bool> optional = optional_tensors(form.declaration.parameters);
    // The declarations lack the output parameters that their macros add.
    if (form.declaration.has_self) optional.insert(optional.begin(), form.num_outputs, false);
    std::mt19937 random;
    const Erased arguments = all_arguments(form, 0, random);
    const auto count = size_t(std::count_if(arguments.begin(), arguments.end(), is_tensor));
    ASSERT_EQ(optional.size(), count)
        << describe(form) << " (" << form.declaration.parameters << ")";
    for (size_t k = 0; k < count; ++k)
      for (const bool grad : {false, true}) reached += try_form(form, k, optional[k], grad);
  }
  EXPECT_GT(reached, 4400);
}

}  // namespace
}  // namespace hearth::testing
