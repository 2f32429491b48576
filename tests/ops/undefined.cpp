// Every form of every operator in hearth/ops/list.inc, called with each of its tensors undefined in
// turn, throws instead of crashing. For self, the error says that the tensor is undefined.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

// Declares each function again under a unique name, so that decltype selects one overload. The line
// number makes overloads of one name unique.
#define HEARTH_JOIN_(a, b) a##b
#define HEARTH_JOIN(a, b) HEARTH_JOIN_(a, b)
#define HEARTH_UNIQUE(name) HEARTH_JOIN(name##_at_, __LINE__)
struct Declared {
#define HEARTH_POINTWISE(name, ...) \
  static Tensor HEARTH_UNIQUE(name)(const Tensor& self __VA_OPT__(, ) __VA_ARGS__);
#define HEARTH_OUT(name, ...) HEARTH_POINTWISE(name, __VA_ARGS__)
#define HEARTH_METHOD(R, name, ...) \
  static R HEARTH_UNIQUE(name)(const Tensor& self __VA_OPT__(, ) __VA_ARGS__);
#define HEARTH_INPLACE(name, ...) \
  static Tensor& HEARTH_UNIQUE(name)(Tensor & self __VA_OPT__(, ) __VA_ARGS__);
#define HEARTH_FUNCTION(R, name, ...) static R HEARTH_UNIQUE(name)(__VA_ARGS__);
#define HEARTH_METHOD_ONLY(R, name, ...) HEARTH_METHOD(R, name, __VA_ARGS__)
#define HEARTH_QUALIFIED(R, name, ...) HEARTH_FUNCTION(R, name, __VA_ARGS__)
#include "hearth/ops/list.inc"
};

// The types of all forms of an operator whose function has type F.
template <class F>
struct Forms;
template <class R, class Self, class... P>
struct Forms<R(Self, P...)> {
  using Function = R (*)(Self, P...);
  using Method = R (Tensor::*)(P...) const;
  using Inplace = Tensor& (*)(Tensor&, P...);
  using InplaceMethod = Tensor& (Tensor::*)(P...) const;
  using Out = Tensor& (*)(Tensor&, Self, P...);
};

/// Creates the arguments of one call.
struct Arguments {
  int undefined;             // the number of the undefined tensor
  bool with_grad;            // the others require grad
  std::string text;          // the declaration's parameters
  int tensors = 0;           // the number of tensors created so far
  bool in_list = false;      // the undefined one is an element of a list
  bool in_optional = false;  // it is in a std::optional

  Tensor tensor() {
    if (tensors++ == undefined) return {};
    return ones({2, 2}).requires_grad_(with_grad);
  }
};

/// A value for a parameter of type T.
template <class T>
struct Value {
  T value;
  explicit Value(Arguments&) : value(1) {}
  T& get() { return value; }
};
template <>
struct Value<Tensor> {
  Tensor value;
  explicit Value(Arguments& all) : value(all.tensor()) {}
  Tensor& get() { return value; }
};
template <>
struct Value<std::optional<Tensor>> {
  std::optional<Tensor> value;
  explicit Value(Arguments& all) : value(all.tensor()) { all.in_optional |= !value->defined(); }
  std::optional<Tensor>& get() { return value; }
};
template <>
struct Value<TensorList> {
  std::vector<Tensor> tensors;
  TensorList list;
  explicit Value(Arguments& all) {
    const Tensor last = all.tensor();
    all.in_list |= !last.defined();
    tensors = {ones({2, 2}), last};
    list = tensors;
  }
  TensorList& get() { return list; }
};
template <class T>
struct Value<std::optional<T>> {
  std::optional<T> value;
  explicit Value(Arguments& all) {
    if constexpr (std::is_same_v<T, Scalar>) value = Value<Scalar>(all).value;
  }
  std::optional<T>& get() { return value; }
};
#define HEARTH_VALUE(T, ...)                           \
  template <>                                          \
  struct Value<T> {                                    \
    T value = __VA_ARGS__;                             \
    explicit Value([[maybe_unused]] Arguments& all) {} \
    T& get() { return value; }                         \
  }
constexpr int64_t kOne[] = {1};
HEARTH_VALUE(bool, true);
HEARTH_VALUE(double, 0.5);
HEARTH_VALUE(IntArrayRef, IntArrayRef(kOne, 1));
HEARTH_VALUE(OptionalIntArrayRef, {});
HEARTH_VALUE(TensorOptions, {});
HEARTH_VALUE(Generator, {});
HEARTH_VALUE(MemoryFormat, MemoryFormat::Contiguous);
HEARTH_VALUE(ScalarType, kFloat);
HEARTH_VALUE(NamedDtype, kFloat);
HEARTH_VALUE(void*, nullptr);
HEARTH_VALUE(std::function<void(void*)>, {});
HEARTH_VALUE(PaddingName, "same");
#undef HEARTH_VALUE
template <>
struct Value<std::string_view> {
  std::string_view value;
  explicit Value(Arguments& all) {
    const auto has = [&](const char* name) { return all.text.find(name) != std::string::npos; };
    value = has("reduce")     ? "add"
            : has("mode")     ? "constant"
            : has("equation") ? "ij,ij->"
            : has("indexing") ? "ij"
                              : "none";
  }
  std::string_view& get() { return value; }
};

/// The outcome of a call.
struct Outcome {
  bool threw = false;
  std::string text;
};

template <class... P, class Call>
Outcome call_with(Arguments& all, const Call& call) {
  std::tuple<Value<std::remove_cvref_t<P>>...> values{Value<std::remove_cvref_t<P>>(all)...};
  try {
    std::apply([&](auto&... value) { call(value.get()...); }, values);
  } catch (const Error& error) {
    return {true, error.what()};
  }
  return {};
}

template <class R, class... P>
Outcome call_form(Arguments& all, R (*form)(P...)) {
  return call_with<P...>(all, [&](auto&... arguments) { (void)form(arguments...); });
}
template <class R, class... P>
Outcome call_form(Arguments& all, R (Tensor::*form)(P...) const) {
  return call_with<Tensor, P...>(
      all, [&](auto& self, auto&... arguments) { (void)(self.*form)(arguments...); });
}

/// The number of tensors, optional tensors and tensor lists among a form's parameters.
template <class T>
constexpr int is_tensor = std::is_same_v<T, Tensor> || std::is_same_v<T, std::optional<Tensor>> ||
                          std::is_same_v<T, TensorList>;
template <class R, class... P>
constexpr int tensors_of(R (*)(P...)) {
  return (0 + ... + is_tensor<std::remove_cvref_t<P>>);
}
template <class R, class... P>
constexpr int tensors_of(R (Tensor::*)(P...) const) {
  return (1 + ... + is_tensor<std::remove_cvref_t<P>>);
}

/// Whether each tensor in a parameter list is optional, judged by its name and default.
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
    optional.push_back(assigned != std::string::npos || (is_norm && kOptional.count(name) > 0));
  }
  return optional;
}

/// Whether LibTorch 2.15 accepts an undefined tensor in this function.
bool is_accepted(const std::string& name) {
  static const std::set<std::string> kAccepted = {
      "atleast_1d",
      "contiguous",
      "is_same_size",
      "real",
      "result_type",
      "dropout",
      "dropout_",
      "alpha_dropout",
      "alpha_dropout_",
      "feature_dropout",
      "feature_dropout_",
      "feature_alpha_dropout",
      "feature_alpha_dropout_",
  };
  return kAccepted.count(name) > 0;
}

/// Calls a form with each of its tensors undefined in turn. Only for self must the error name the
/// undefined tensor, because other checks may fail first.
template <class Form>
void try_form(const std::string& name, const std::string& parameters, Form form,
              bool is_function = false) {
  const bool starts_with_self = !is_function && parameters.starts_with("const Tensor& self");
  const std::vector<bool> optional = optional_tensors(parameters);
  const int count = tensors_of(form);
  ASSERT_EQ(int(optional.size()), count) << name << "(" << parameters << ")";
  for (int k = 0; k < count; ++k)
    for (const bool with_grad : {false, true}) {
      Arguments all{k, with_grad, parameters};
      const std::string what = detail::str(name, "(", parameters, ") with tensor ", k, " undefined",
                                           with_grad ? " and others that require grad" : "");
      SCOPED_TRACE(what);
      const Outcome outcome = call_form(all, form);
      if (optional[size_t(k)] || all.in_optional) continue;  // it must only not crash
      if (!outcome.threw) {
        EXPECT_TRUE(is_accepted(name)) << what << " was accepted";
      } else if (k == 0 && starts_with_self) {
        EXPECT_NE(outcome.text.find("undefined"), std::string::npos)
            << what << ": " << outcome.text;
      }
    }
}

class Undefined : public ::testing::Test {
  const Warnings collected_;  // so that they are not printed
};

#define HEARTH_TYPE(name) decltype(Declared::HEARTH_UNIQUE(name))
#define HEARTH_PARAMETERS(...) #__VA_ARGS__
#define HEARTH_WITH_SELF(...) HEARTH_PARAMETERS(const Tensor& self __VA_OPT__(, ) __VA_ARGS__)

TEST_F(Undefined, TensorsThrowInFunctions) {
#define HEARTH_POINTWISE(name, ...) \
  try_form(#name, HEARTH_WITH_SELF(__VA_ARGS__), Forms<HEARTH_TYPE(name)>::Function(&hearth::name));
#define HEARTH_OUT(name, ...) HEARTH_POINTWISE(name, __VA_ARGS__)
#define HEARTH_METHOD(R, name, ...) HEARTH_POINTWISE(name, __VA_ARGS__)
#define HEARTH_INPLACE(name, ...) HEARTH_POINTWISE(name, __VA_ARGS__)
#define HEARTH_FUNCTION(R, name, ...)                                                             \
  try_form(#name, HEARTH_PARAMETERS(__VA_ARGS__), static_cast<HEARTH_TYPE(name)*>(&hearth::name), \
           true);
#define HEARTH_METHOD_ONLY(R, name, ...)
#define HEARTH_QUALIFIED(R, name, ...) HEARTH_FUNCTION(R, name, __VA_ARGS__)
#include "hearth/ops/list.inc"
}

TEST_F(Undefined, TensorsThrowInMethods) {
#define HEARTH_OUT(name, ...) \
  try_form(#name, HEARTH_WITH_SELF(__VA_ARGS__), Forms<HEARTH_TYPE(name)>::Method(&Tensor::name));
#define HEARTH_POINTWISE(name, ...)                  \
  HEARTH_OUT(name, __VA_ARGS__)                      \
  try_form(#name "_", HEARTH_WITH_SELF(__VA_ARGS__), \
           Forms<HEARTH_TYPE(name)>::InplaceMethod(&Tensor::name##_));
#define HEARTH_METHOD(R, name, ...) HEARTH_OUT(name, __VA_ARGS__)
#define HEARTH_INPLACE(name, ...) HEARTH_OUT(name, __VA_ARGS__)
#define HEARTH_FUNCTION(R, name, ...)
#define HEARTH_METHOD_ONLY(R, name, ...) HEARTH_METHOD(R, name, __VA_ARGS__)
#define HEARTH_QUALIFIED(R, name, ...)
#include "hearth/ops/list.inc"
}

TEST_F(Undefined, TensorsThrowInPlaceAndAsOut) {
#define HEARTH_OUT(name, ...)                                                             \
  try_form(#name "_out",                                                                  \
           HEARTH_PARAMETERS(Tensor& out, const Tensor& self __VA_OPT__(, ) __VA_ARGS__), \
           Forms<HEARTH_TYPE(name)>::Out(&hearth::name##_out));
#define HEARTH_POINTWISE(name, ...)                  \
  HEARTH_OUT(name, __VA_ARGS__)                      \
  try_form(#name "_", HEARTH_WITH_SELF(__VA_ARGS__), \
           Forms<HEARTH_TYPE(name)>::Inplace(&hearth::name##_));
#define HEARTH_METHOD(R, name, ...)
#define HEARTH_INPLACE(name, ...)
#define HEARTH_FUNCTION(R, name, ...)
#define HEARTH_METHOD_ONLY(R, name, ...)
#define HEARTH_QUALIFIED(R, name, ...)
#include "hearth/ops/list.inc"
}

}  // namespace
}  // namespace hearth::testing
