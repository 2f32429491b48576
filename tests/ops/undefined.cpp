// Every form of every operator in hearth/ops/list.inc, called with each of its tensors undefined in
// turn, throws instead of crashing. If the undefined tensor is self, the error says so.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

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
  static const std::set<std::string> kNorms = {"cudnn_enabled", "HxW", "normalized_shape"};
  const bool is_norm = std::any_of(kNorms.begin(), kNorms.end(), [&](const std::string& name) {
    return parameters.find(name) != std::string::npos;
  });
  std::vector<bool> optional;
  std::istringstream stream(parameters);
  for (std::string parameter; std::getline(stream, parameter, ',');) {
    if (parameter.find("Tensor") == std::string::npos ||
        parameter.find("TensorOptions") != std::string::npos)
      continue;
    const size_t assigned = parameter.find(" = ");
    const std::string head = parameter.substr(0, assigned);
    const std::string name = head.substr(head.find_last_of(" &") + 1);
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

/// Arguments that the form is likely to accept, also those that it writes to.
Erased all_arguments(const CallForm& form, std::mt19937& random) {
  Erased all(form.outs, empty({0}, kDouble));
  for (std::any& argument : pick(form, random)) all.push_back(std::move(argument));
  return all;
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

void require_grad(std::any& argument) {
  if (Tensor* tensor = std::any_cast<Tensor>(&argument))
    if (tensor->defined() && tensor->is_floating_point()) tensor->set_requires_grad(true);
}

/// The text of the error that the call throws.
std::optional<std::string> error_of(const CallForm& form, Erased& all) {
  try {
    form.call(all);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// Calls a form with its k-th tensor undefined.
void try_form(const CallForm& form, size_t k, bool may_be_undefined, bool with_grad) {
  const std::string what =
      detail::str(describe(form), " (", form.declaration.parameters, ") with tensor ", k,
                  " undefined", with_grad ? " and others that require grad" : "");
  SCOPED_TRACE(what);
  std::mt19937 random(7);
  for (int attempt = 0; attempt < 3; ++attempt) {
    Erased all = all_arguments(form, random);
    size_t tensor = 0;
    for (std::any& argument : all)
      if (is_tensor(argument) && tensor++ == k)
        make_undefined(argument);
      else if (with_grad)
        require_grad(argument);
    const auto error = error_of(form, all);
    if (may_be_undefined) continue;  // it must only not crash
    const bool self = k == form.outs && form.declaration.has_self;
    if (!error) {
      EXPECT_TRUE(is_accepted(form.name)) << what << " was accepted";
    } else if (self) {
      EXPECT_NE(error->find("undefined"), std::string::npos) << what << ": " << *error;
    }
  }
}

TEST(Undefined, TensorsThrow) {
  const Warnings collected;  // so that they are not printed
  size_t tried = 0;
  for (const CallForm& form : call_forms()) {
    std::vector<bool> optional = optional_tensors(form.declaration.parameters);
    std::mt19937 random;
    const Erased all = all_arguments(form, random);
    const size_t count = size_t(std::count_if(all.begin(), all.end(), is_tensor));
    // out and the self of in-place forms are not in the parameters of all forms.
    while (optional.size() < count) optional.insert(optional.begin(), false);
    ASSERT_EQ(optional.size(), count)
        << describe(form) << " (" << form.declaration.parameters << ")";
    for (size_t k = 0; k < count; ++k)
      for (const bool with_grad : {false, true}) try_form(form, k, optional[k], with_grad);
    tried += count;
  }
  EXPECT_GT(tried, 1000U);
}

}  // namespace
}  // namespace hearth::testing
