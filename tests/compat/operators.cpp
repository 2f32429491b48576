// Operators that programs register with TORCH_LIBRARY. The expected results are LibTorch's.
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>
#include <torch/library.h>
#include <torch/torch.h>

#include <string>
#include <vector>

#include "tests/compat/texts.h"

namespace {

using hearth::testing::text_of_error;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::string called;  // the kernels that ran

using Unary = at::Tensor(const at::Tensor&);
template <class F>
auto op(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<F>();
}
/// Calls the operator and returns the kernels that ran.
std::string kernels(const char* name, const at::Tensor& x) {
  called.clear();
  op<Unary>(name).call(x);
  return called;
}

at::Tensor twice_cpu(const at::Tensor& x) {
  called += "cpu ";
  const auto y = at::empty_like(x);
  for (int64_t i = 0; i < x.numel(); ++i)
    y.mutable_data_ptr<float>()[i] = 2 * x.const_data_ptr<float>()[i];
  return y;
}
at::Tensor thrice_cpu(const at::Tensor& x) {
  called += "cpu ";
  return x * 3;
}
at::Tensor thrice(const at::Tensor& x) {
  called += "all ";
  return x * 3;
}

struct TwiceFunction : torch::autograd::Function<TwiceFunction> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& x) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return op<Unary>("hearth_test::twice").call(x);
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};
at::Tensor twice_autograd(const at::Tensor& x) {
  called += "autograd ";
  return TwiceFunction::apply(x);
}
at::Tensor with_keys(c10::DispatchKeySet keys, const at::Tensor& x) {
  called += "autograd ";
  return op<Unary>("hearth_test::keys").redispatch(keys & c10::after_autograd_keyset, x);
}
at::Tensor with_autocast(const at::Tensor& x) {
  called += "autocast ";
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::AutocastCPU);
  return op<Unary>("hearth_test::cast").call(at::autocast::cached_cast(at::kBFloat16, x, at::kCPU));
}
at::Tensor times(const at::Tensor& x, int64_t n) { return x * n; }
at::Tensor first_of(const std::optional<at::Tensor>& x, at::TensorList tensors) {
  return x ? *x : tensors[0];
}
void fill(const at::Tensor& value, at::Tensor& x) { x.copy_(value); }

struct Counter : torch::CustomClassHolder {
  explicit Counter(int64_t start) : value(start) {}
  int64_t next() { return ++value; }
  int64_t value;
};

TORCH_LIBRARY(hearth_test, m) {
  m.def("twice(Tensor x) -> Tensor");
  m.def("hearth_test::thrice(Tensor x) -> Tensor");
  m.def("keys(Tensor x) -> Tensor");
  m.def("cast(Tensor x) -> Tensor");
  m.def("everywhere(Tensor x) -> Tensor", thrice);
  m.def("both(Tensor x) -> Tensor", thrice);
  m.def(TORCH_SELECTIVE_SCHEMA("hearth_test::times(Tensor x, SymInt n) -> Tensor"));
  m.def("first_of(Tensor? x, Tensor[] tensors) -> Tensor");
  m.def("answer", [](int64_t x) { return x + 1; });
  m.def("fill", &fill);
  m.def("over.one(Tensor x) -> Tensor", thrice);
  m.def("none(Tensor x) -> Tensor");
  m.class_<Counter>("Counter").def(torch::init<int64_t>()).def("next", &Counter::next);
  m.def("next", [](const c10::intrusive_ptr<Counter>& counter) { return counter->next(); });
}
TORCH_LIBRARY_FRAGMENT(hearth_test, m) { m.def("explicit(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(hearth_test, CPU, m) {
  m.impl("twice", twice_cpu);
  m.impl(TORCH_SELECTIVE_NAME("hearth_test::thrice"), TORCH_FN(thrice_cpu));
  m.impl("keys", thrice_cpu);
  m.impl("cast", thrice_cpu);
  m.impl("both", thrice_cpu);
  m.impl("times", TORCH_FN(times));
  m.impl("first_of", first_of);
}
TORCH_LIBRARY_IMPL(hearth_test, Autograd, m) {
  m.impl("twice", TORCH_FN(twice_autograd));
  m.impl("thrice", torch::CppFunction::makeFallthrough());
  m.impl("keys", with_keys);
}
TORCH_LIBRARY_IMPL(hearth_test, CompositeExplicitAutograd, m) { m.impl("explicit", thrice); }
TORCH_LIBRARY_IMPL(hearth_test, AutocastCPU, m) { m.impl("cast", with_autocast); }

const auto registry =
    torch::RegisterOperators().op("hearth_old::thrice", &thrice).op("hearth_old::times", &times);

TEST(Operators, KernelsOfGradientsRunFirst) {
  const auto x = torch::tensor({1.0F, 2.0F}).requires_grad_();
  EXPECT_EQ(kernels("hearth_test::twice", x), "autograd cpu ");
  EXPECT_EQ(kernels("hearth_test::twice", x.detach()), "autograd cpu ");
  EXPECT_EQ(kernels("hearth_test::thrice", x), "cpu ");
  EXPECT_EQ(kernels("hearth_test::keys", x), "autograd cpu ");
  const auto y = op<Unary>("hearth_test::twice").call(x);
  EXPECT_TRUE(y.equal(torch::tensor({2.0F, 4.0F})));
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(torch::tensor({2.0F, 2.0F})));
  EXPECT_TRUE(op<Unary>("hearth_test::thrice").call(x).requires_grad());
  {
    const torch::NoGradGuard no_grad;
    EXPECT_EQ(kernels("hearth_test::twice", x), "autograd cpu ");
  }
  const torch::InferenceMode inference;
  EXPECT_EQ(kernels("hearth_test::twice", x), "cpu ");
}

TEST(Operators, KernelsForAllBackends) {
  const auto x = torch::ones({2}).requires_grad_();
  EXPECT_EQ(kernels("hearth_test::everywhere", x), "all ");
  EXPECT_EQ(kernels("hearth_test::explicit", x), "all ");
  EXPECT_EQ(kernels("hearth_test::both", x), "cpu ");
  EXPECT_EQ(kernels("hearth_test::both", x.to(at::kMeta)), "all ");
  EXPECT_TRUE(op<Unary>("hearth_test::everywhere").call(x).requires_grad());
}

TEST(Operators, GuardsSkipKernels) {
  const auto x = torch::ones({2}).requires_grad_();
  const auto check = [&] {
    EXPECT_EQ(kernels("hearth_test::twice", x), "cpu ");
    EXPECT_TRUE(torch::GradMode::is_enabled());
    EXPECT_FALSE((x * 2).requires_grad());
    const auto y = TwiceFunction::apply(x);  // custom functions record nevertheless
    ASSERT_TRUE(y.requires_grad());
  };
  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    check();
    EXPECT_FALSE(x.view({2, 1}).is_view());
  }
  {
    const at::AutoDispatchBelowAutograd guard;
    check();
  }
  EXPECT_TRUE((x * 2).requires_grad());
}

TEST(Operators, KernelsOfAutocast) {
  const auto x = torch::ones({2});
  EXPECT_EQ(kernels("hearth_test::cast", x), "cpu ");
  at::autocast::set_autocast_enabled(at::kCPU, true);
  EXPECT_EQ(kernels("hearth_test::cast", x), "autocast cpu ");
  EXPECT_EQ(op<Unary>("hearth_test::cast").call(x).scalar_type(), at::kBFloat16);
  EXPECT_TRUE(at::autocast::is_autocast_enabled(at::kCPU));
  at::autocast::set_autocast_enabled(at::kCPU, false);
}

TEST(Operators, ArgumentsOfManyTypes) {
  const auto x = torch::ones({2});
  EXPECT_TRUE(op<at::Tensor(const at::Tensor&, c10::SymInt)>("hearth_test::times")
                  .call(x, 4)
                  .equal(torch::full({2}, 4.0F)));
  EXPECT_TRUE(op<at::Tensor(const at::Tensor&, int64_t)>("hearth_test::times")
                  .call(x, 3)
                  .equal(torch::full({2}, 3.0F)));
  const auto first = op<decltype(first_of)>("hearth_test::first_of");
  EXPECT_TRUE(first.call(std::nullopt, {x, x}).is_same(x));
  EXPECT_TRUE(first.call(x, {}).is_same(x));
  EXPECT_EQ(op<int64_t(int64_t)>("hearth_test::answer").call(41), 42);
  auto y = torch::zeros({2});
  op<decltype(fill)>("hearth_test::fill").call(x, y);
  EXPECT_TRUE(y.equal(x));
  EXPECT_EQ(kernels("hearth_old::thrice", x), "all ");
  const auto next = op<int64_t(const c10::intrusive_ptr<Counter>&)>("hearth_test::next");
  EXPECT_EQ(next.call(c10::make_intrusive<Counter>(6)), 7);
}

TEST(Operators, Lookup) {
  auto& dispatcher = c10::Dispatcher::singleton();
  EXPECT_TRUE(dispatcher.findSchema({"hearth_test::twice", ""}).has_value());
  EXPECT_FALSE(dispatcher.findSchema({"hearth_test::other", ""}).has_value());
  EXPECT_EQ(op<Unary>("hearth_test::over", "one").operator_name().overload_name, "one");
  EXPECT_EQ(text_of_error([] { op<Unary>("hearth_test::over"); }),
            "Could not find schema for hearth_test::over.");
}

TEST(Operators, CallsWithoutKernel) {
  const auto text = text_of_error([] { op<Unary>("hearth_test::none").call(torch::ones({2})); });
  EXPECT_TRUE(text.starts_with(
      "Could not run 'hearth_test::none' with arguments from the 'CPU' backend. This could be "
      "because the operator doesn't exist for this backend"));
  EXPECT_TRUE(
      text_of_error([] {
        op<Unary>("hearth_test::twice").call(torch::ones({2}).to(at::kMeta));
      }).starts_with("hearth_test::twice: attempted to run this operator with Meta tensors"));
  EXPECT_TRUE(text_of_error([] {
                op<decltype(first_of)>("hearth_test::first_of").call(std::nullopt, {});
              }).starts_with("There were no tensor arguments to this function"));
  EXPECT_THROW(op<Unary>("hearth_test::none").call(torch::ones({2})), c10::NotImplementedError);
}

TEST(Operators, OtherTypesThanTheKernels) {
  const auto text =
      text_of_error([] { op<at::Tensor(const at::Tensor&, int64_t)>("hearth_test::twice"); });
  EXPECT_TRUE(text.starts_with("\nTried to access or call an operator with a wrong signature."));
  EXPECT_THROW(op<at::Tensor(at::Tensor)>("hearth_test::twice"), c10::Error);
}

torch::Library library(torch::Library::Kind kind,
                       std::optional<c10::DispatchKey> key = std::nullopt) {
  return torch::Library(kind, "hearth_test", key, "file.cpp", 7);
}

TEST(Operators, RegistrationsEnd) {
  const auto x = torch::ones({2});
  {
    torch::Library late = library(torch::Library::FRAGMENT);
    late.def("late(Tensor x) -> Tensor");
    late.impl("late", torch::dispatch(c10::DispatchKey::CPU, thrice_cpu));
    late.impl("late", torch::dispatch(at::kMeta, thrice));
    EXPECT_EQ(kernels("hearth_test::late", x), "cpu ");
    EXPECT_EQ(kernels("hearth_test::late", x.to(at::kMeta)), "all ");
  }
  EXPECT_THROW(op<Unary>("hearth_test::late"), c10::Error);
  {
    torch::Library other = library(torch::Library::IMPL, c10::DispatchKey::CPU);
    other.impl("twice", thrice);
    EXPECT_EQ(kernels("hearth_test::twice", x), "autograd all ");
  }
  EXPECT_EQ(kernels("hearth_test::twice", x), "autograd cpu ");
}

TEST(Operators, WrongRegistrations) {
  EXPECT_TRUE(text_of_error([] { library(torch::Library::DEF); })
                  .starts_with("Only a single TORCH_LIBRARY can be used to register the namespace "
                               "hearth_test; please put all of your definitions"));
  EXPECT_TRUE(text_of_error([] {
                torch::Library again = library(torch::Library::FRAGMENT);
                again.def("twice(Tensor x) -> Tensor");
              })
                  .starts_with("Tried to register an operator (hearth_test::twice(Tensor x) -> "
                               "Tensor) with the same name and overload name multiple times."));
  EXPECT_EQ(text_of_error([] {
              torch::Library other = library(torch::Library::FRAGMENT);
              other.def("other::f(Tensor x) -> Tensor");
            }),
            "Explicitly provided namespace (other) in schema string does not match namespace of "
            "enclosing TORCH_LIBRARY_FRAGMENT block (hearth_test).  Move this definition to the "
            "(unique) TORCH_LIBRARY block corresponding to this namespace (and consider deleting "
            "the namespace from your schema string.)  (Error occurred while processing "
            "TORCH_LIBRARY_FRAGMENT block at file.cpp:7)");
  EXPECT_EQ(text_of_error([] {
              torch::Library fragment = library(torch::Library::FRAGMENT);
              fragment.def("f");
            }),
            "Tried to parse a function schema but only the operator name was given");
  EXPECT_EQ(text_of_error([] {
              torch::Library impl = library(torch::Library::IMPL, c10::DispatchKey::CPU);
              impl.impl("f", thrice);
              op<Unary>("hearth_test::f");
            }),
            "Could not find schema for hearth_test::f. but we found an implementation; did you "
            "forget to def() the operator?");
  EXPECT_TRUE(
      text_of_error([] {
        torch::Library impl = library(torch::Library::IMPL, c10::DispatchKey::CPU);
        impl.impl("twice", [](int64_t x) { return x; });
      })
          .starts_with("\nMismatch in kernel C++ signatures\n  operator: hearth_test::twice("
                       "Tensor x) -> Tensor\n"));
  EXPECT_TRUE(
      text_of_error([] {
        torch::Library impl = library(torch::Library::IMPL, c10::DispatchKey::CPU);
        impl.def("f(Tensor x) -> Tensor");
      })
          .starts_with("def(\"f\"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL "
                       "block."));
}

/// Schemas and LibTorch's errors.
struct WrongSchema {
  const char *schema, *message, *mark;  // the mark is empty if the message ends with the schema
};
const WrongSchema wrong_schemas[] = {
    {"", "expected ident but found 'eof' here:\n", ""},
    {"f(", "expected ident but found 'eof' here:\n", ""},
    {"f(Tensor x)", "expected arrow but found 'eof' here:\n", ""},
    {"f(Tensor x) -> (Tensor", "expected ) but found 'eof' here:\n", ""},
    {"f(Tensor x -> Tensor", "expected ) but found 'arrow' here:\n", "           ~~"},
    {"f)", "expected eof but found ')' here:\n", " ~"},
    {"(Tensor x) -> Tensor", "expected ident but found '(' here:\n", "~"},
    {"a::b::f(Tensor x) -> Tensor", "expected eof but found ':' here:\n", "    ~"},
    {"f.(Tensor x) -> Tensor", "expected ident but found '(' here:\n", "  ~"},
    {"f(Tensor) -> Tensor", "expected ident but found ')' here:\n", "        ~"},
    {"f(Tensor x,) -> Tensor", "expected ident but found ')' here:\n", "           ~"},
    {"f(Tensor x) -> Tensor;", "expected a valid token but found ';' here:\n",
     "                     ~"},
    {"f(Tensor if) -> Tensor", "expected ident but found 'if' here:\n", "         ~~"},
    {"f(int x=) -> Tensor", "expected number but found ')' here:\n", "        ~"},
    {"f(Tensor x=1) -> Tensor", "expected None but found 'number' here:\n", "           ~"},
    {"f(bool x=true) -> Tensor", "\ninvalid numeric default value:\n", "             ~"},
    {"f(str[] x=[]) -> Tensor", "\nlists are only supported for float, int and complex types:\n",
     "          ~"},
    {"f(double x) -> Tensor",
     "\nUse `float` instead of `double` in an operator's schema string. `float` in schema "
     "corresponds to the double type in C++:\n",
     "  ~~~~~~"},
    {"f(Dict(str, Tensr) x) -> Tensor",
     "\nunknown type specifier. Common valid schema types include Tensor, SymInt, int, float, "
     "bool, Scalar; for a full list, please see "
     "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func :\n",
     "            ~~~~~"},
};

TEST(Operators, WrongSchemas) {
  const auto error = [](const std::string& schema) {
    return text_of_error([&] { library(torch::Library::FRAGMENT).def(schema); });
  };
  for (const auto& c : wrong_schemas)
    EXPECT_EQ(error(c.schema), std::string(c.message) + c.schema +
                                   (*c.mark ? std::string("\n") + c.mark + " <--- HERE\n" : ""));
  EXPECT_EQ(error("f(Tensr x,\n  int y) -> Tensor").substr(error("f(Tensr x) -> int").find(":\nf")),
            ":\nf(Tensr x,\n  ~~~~~ <--- HERE\n  int y) -> Tensor");
  EXPECT_EQ(error("f.default(Tensor x) -> Tensor"),
            "default is not a legal overload name for aten operators");
  EXPECT_EQ(text_of_error([] { library(torch::Library::IMPL).impl("f(Tensor x) -> int", thrice); }),
            "Tried to parse an operator name but function schema was given");
  EXPECT_EQ(text_of_error([] { library(torch::Library::FRAGMENT).def("", thrice); }),
            "expected ident but found 'eof' here:\n");
}

/// Schemas that LibTorch accepts.
TEST(Operators, UnusualSchemas) {
  torch::Library fragment = library(torch::Library::FRAGMENT);
  for (const char* schema :
       {"u1() -> ()", " u2 (Tensor\nx) -> Tensor # comment", "u3(*, Tensor x) -> (Tensor a, int)",
        "u4(Tensor(a!)[] x, ...) -> Tensor(a!)[]", "u5(Tensor(a|b! -> *) x) -> Tensor y",
        "u6(int[2] x=1, int[] y=[1, -2], float z=1e-5, str s='a', bool b=True) -> (...)",
        "u7(Tensor? t=None, Device d=\"cpu\", ScalarType s=long, int[2]? l=None) -> Tensor",
        "u8(Dict(str, Tensor[]) d, (int, Tensor) t, Any a, SymInt[] s) -> Future(Tensor?)",
        "u9(float x=2.5, Tensor[] list) -> None"})
    EXPECT_NO_THROW(fragment.def(schema)) << schema;
  EXPECT_TRUE(c10::Dispatcher::singleton().findSchema({"hearth_test::u2", ""}).has_value());
}

TEST(Operators, KeysOfTensors) {
  const c10::DispatchKeySet keys = torch::ones({2}).key_set();
  EXPECT_TRUE(keys.has(c10::DispatchKey::CPU) && keys.has(c10::DispatchKey::AutogradCPU));
  EXPECT_FALSE(keys.has(c10::DispatchKey::CUDA));
  EXPECT_EQ(c10::toString(keys), "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)");
  EXPECT_EQ(c10::toString(c10::DispatchKey::AutogradCUDA), std::string("AutogradCUDA"));
}

}  // namespace
