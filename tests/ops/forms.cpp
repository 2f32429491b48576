// Every declared form of a function has the same result as the function, and every alias the same
// result as the function that it names.
#include "tests/ops/forms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "hearth/autograd.h"
#include "tests/support/fixtures.h"
#include "tests/support/warnings.h"

namespace hearth::testing {

std::vector<CallForm>& call_forms() {
  static std::vector<CallForm> forms;
  return forms;
}

std::string describe(const CallForm& form) {
  const bool is_inplace = form.kind == Kind::kInplace || form.kind == Kind::kInplaceMethod;
  const bool is_method = form.kind == Kind::kMethod || form.kind == Kind::kInplaceMethod;
  return detail::str(is_method ? "Tensor::" : "", form.name, is_inplace ? "_" : "",
                     form.kind == Kind::kOut ? "_out" : "", " of ", form.types.size(),
                     " arguments");
}

CallForm function_form(std::string name, const Declaration& declaration, size_t num_outputs) {
  Kind kind = Kind::kFunction;
  if (name.size() > 4 && name.ends_with("_out")) {
    kind = Kind::kOut;
    name.resize(name.size() - 4);
  } else if (num_outputs > 0 && name.ends_with("_")) {
    kind = Kind::kInplace;
    name.resize(name.size() - 1);
    num_outputs = 0;
  }
  return {std::move(name), kind, num_outputs, {}, declaration, {}};
}

CallForm method_form(std::string name, const Declaration& declaration, bool returns_self) {
  Kind kind = Kind::kMethod;
  if (returns_self && name.ends_with("_")) {
    kind = Kind::kInplaceMethod;
    name.resize(name.size() - 1);
  }
  return {std::move(name), kind, 0, {}, declaration, {}};
}

namespace {

/// The same arguments with cloned tensors.
Erased copied(const Erased& arguments) {
  Erased copies = arguments;
  for (std::any& argument : copies)
    if (argument.type() == typeid(Tensor)) argument = std::any_cast<Tensor&>(argument).clone();
  return copies;
}

/// The form's result for these arguments; nullopt if it throws.
std::optional<Tensors> result_of(const CallForm& form, const Erased& arguments) {
  Erased copies = copied(arguments);
  manual_seed(7);
  try {
    return form.call(copies);
  } catch (const Error&) {
    return {};
  }
}

/// Like result_of for an out= form: the tensors that it writes. Before, they are empty or, with
/// `initial_value`, have the sizes of `like`.
std::optional<Tensors> written_by(const CallForm& form, const Erased& arguments,
                                  const Tensors& like, std::optional<double> initial_value) {
  Erased with_outputs;
  for (size_t k = 0; k < form.num_outputs; ++k) {
    const TensorOptions options = like[k].options();
    with_outputs.push_back(initial_value ? full(like[k].sizes(), *initial_value, options)
                                         : empty({0}, options));
  }
  for (std::any& argument : copied(arguments)) with_outputs.push_back(std::move(argument));
  manual_seed(7);
  try {
    const Tensors result = form.call(with_outputs);
    Tensors outs;
    for (size_t k = 0; k < form.num_outputs; ++k) {
      outs.push_back(std::any_cast<Tensor&>(with_outputs[k]));
      EXPECT_EQ(result[k].data_ptr(), outs[k].data_ptr())
          << describe(form) << " did not return its out tensor";
    }
    return outs;
  } catch (const Error&) {
    return {};
  }
}

bool same_numbers(const Tensor& a, const Tensor& b) {
  const Array x = to_array(a), y = to_array(b);
  if (x.sizes != y.sizes) return false;
  for (size_t i = 0; i < x.values.size(); ++i)
    if (!(x.values[i] == y.values[i] || (std::isnan(x.values[i]) && std::isnan(y.values[i]))))
      return false;
  return true;
}

/// Whether the result is uninitialised memory, so that only sizes and dtypes can be compared.
bool is_uninitialised(const std::string& name) {
  static const std::set<std::string> names{
      "empty",         "empty_like", "new_empty", "new_empty_strided",
      "empty_strided", "resize",     "resize_as", "empty_permuted"};
  return names.count(name) > 0;
}

void expect_same(const Tensors& got, const Tensors& wanted, const std::string& description,
                 bool ignores_dtype, bool sizes_only) {
  ASSERT_EQ(got.size(), wanted.size()) << description;
  for (size_t k = 0; k < got.size(); ++k) {
    ASSERT_EQ(got[k].defined(), wanted[k].defined()) << description;
    if (!got[k].defined()) continue;
    if (!ignores_dtype) {
      EXPECT_EQ(got[k].scalar_type(), wanted[k].scalar_type()) << description;
    }
    EXPECT_EQ(got[k].sizes().vec(), wanted[k].sizes().vec()) << description;
    if (sizes_only) continue;
    EXPECT_TRUE(same_numbers(got[k], wanted[k].to(got[k].scalar_type()))) << description;
  }
}

/// Whether the form's argument types are the first ones of the function's.
bool fits(const CallForm& function, const CallForm& form) {
  if (function.types.size() < form.types.size()) return false;
  return std::equal(form.types.begin(), form.types.end(), function.types.begin());
}

/// The function that a form must agree with: of the same name and arguments, or of the same name
/// with further options. For an in-place method without such a function, the in-place function.
const CallForm* counterpart(const CallForm& form) {
  const CallForm* found = nullptr;
  for (const CallForm& other : call_forms()) {
    if (other.name != form.name || &other == &form) continue;
    const bool is_function = other.kind == Kind::kFunction && fits(other, form);
    if (is_function && other.types == form.types) return &other;
    if (is_function && (!found || found->kind != Kind::kFunction)) found = &other;
    if (!found && form.kind == Kind::kInplaceMethod && other.kind == Kind::kInplace &&
        other.types == form.types)
      found = &other;
  }
  return found;
}

bool writes_self(const CallForm& form) {
  return form.kind == Kind::kInplace || form.kind == Kind::kInplaceMethod;
}

/// Compares one call. Returns whether both accepted the arguments and had a non-empty result.
bool agree_once(const CallForm& form, const CallForm& other, const Erased& candidates) {
  const auto wanted = result_of(other, candidates);
  if (!wanted) return false;
  for (const Tensor& t : *wanted)
    if (!t.defined() || t.numel() == 0) return false;
  const Erased arguments(candidates.begin(), candidates.begin() + int64_t(form.types.size()));
  const bool sizes_only = is_uninitialised(form.name);
  if (form.kind != Kind::kOut) {
    const auto got = result_of(form, arguments);
    if (!got) return false;
    const bool ignores_dtype = writes_self(form) != writes_self(other);
    expect_same(*got, *wanted, describe(form), ignores_dtype, sizes_only);
    return true;
  }
  for (const std::optional<double> initial_value :
       {std::optional<double>(), std::optional<double>(1)}) {
    const auto got = written_by(form, arguments, *wanted, initial_value);
    if (!got) return false;
    expect_same(*got, *wanted, describe(form), false, sizes_only);
  }
  return true;
}

void expect_agreement(const CallForm& form, const CallForm& other) {
  std::mt19937 random(20240531);
  int num_agreed = 0;
  for (int attempt = 0; attempt < 5000 && num_agreed < 3; ++attempt)
    num_agreed += agree_once(form, other, pick(other, random));
  EXPECT_GT(num_agreed, 0) << describe(form) << ": found no accepted arguments; add some to "
                           << "wanted_tensors()";
}

/// The sources of the tests that check values.
std::string sources_of_tests() {
  std::ostringstream text;
  for (const char* folder : {"ops", "api", "compat", "nn", "optim"}) {
    const std::filesystem::path path = fixture_path("..") + "/" + folder;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().filename().string().rfind("forms", 0) != 0)
        text << std::ifstream(entry.path()).rdbuf();
  }
  return text.str();
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool has_word(const std::string& text, const std::string& word) {
  for (size_t begin = text.find(word); begin != std::string::npos;
       begin = text.find(word, begin + 1))
    if ((begin == 0 || !is_word(text[begin - 1])) && !is_word(text[begin + word.size()]))
      return true;
  return false;
}

TEST(Forms, EveryFormMatchesItsFunction) {
  const Warnings ignored;
  const NoGradGuard off;
  const std::string tests = sources_of_tests();
  size_t num_compared = 0;
  for (const CallForm& form : call_forms()) {
    if (form.kind == Kind::kFunction) continue;
    const CallForm* other = counterpart(form);
    if (!other) {
      EXPECT_TRUE(has_word(tests, form.name) || has_word(tests, form.name + "_"))
          << describe(form) << " has no function to compare with, and no test of its values";
      continue;
    }
    expect_agreement(form, *other);
    ++num_compared;
  }
  EXPECT_GT(num_compared, 900U);
}

const std::map<std::string, std::string>& aliases() {
  static const std::map<std::string, std::string> names{{"subtract", "sub"},
                                                        {"multiply", "mul"},
                                                        {"negative", "neg"},
                                                        {"absolute", "abs"},
                                                        {"sgn", "sign"},
                                                        {"clip", "clamp"},
                                                        {"not_equal", "ne"},
                                                        {"less", "lt"},
                                                        {"less_equal", "le"},
                                                        {"greater", "gt"},
                                                        {"greater_equal", "ge"},
                                                        {"divide", "div"},
                                                        {"true_divide", "div"},
                                                        {"fix", "trunc"},
                                                        {"arcsin", "asin"},
                                                        {"arccos", "acos"},
                                                        {"arctan", "atan"},
                                                        {"arcsinh", "asinh"},
                                                        {"arccosh", "acosh"},
                                                        {"arctanh", "atanh"},
                                                        {"arctan2", "atan2"},
                                                        {"swapaxes", "transpose"},
                                                        {"swapdims", "transpose"},
                                                        {"moveaxis", "movedim"},
                                                        {"concat", "cat"},
                                                        {"ger", "outer"},
                                                        {"vdot", "dot"},
                                                        {"argwhere", "nonzero"},
                                                        {"split_with_sizes", "split"}};
  return names;
}

TEST(Forms, AliasesMatchTheirFunctions) {
  const Warnings ignored;
  const NoGradGuard off;
  for (const auto& [alias, name] : aliases()) {
    int found = 0;
    for (const CallForm& form : call_forms()) {
      if (form.name != alias || form.kind != Kind::kFunction) continue;
      CallForm same = form;
      same.name = name;
      const CallForm* other = counterpart(same);
      ASSERT_TRUE(other) << alias << " and " << name << " have different arguments";
      expect_agreement(form, *other);
      ++found;
    }
    EXPECT_GT(found, 0) << alias;
  }
}

/// A function's values are tested only by tests that call it by name.
TEST(Forms, EveryFunctionIsNamedInATest) {
  const std::string text = sources_of_tests();
  std::set<std::string> names;
  for (const CallForm& form : call_forms())
    if (form.kind == Kind::kFunction && aliases().count(form.name) == 0) names.insert(form.name);
  EXPECT_GT(names.size(), 300U);
  for (const std::string& name : names)
    EXPECT_TRUE(has_word(text, name)) << "no test of values calls " << name;
}

}  // namespace
}  // namespace hearth::testing
