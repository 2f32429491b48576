#pragma once

// Shared by the programs that overload_cases.py generates: arguments, calls and printing of
// results.

#include <torch/torch.h>

#include <unistd.h>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overloads {

using torch::Tensor;

/// The arguments. They are reset before each call, because some calls write to them.
struct Values {
  Tensor x, y, img, out, out2, out3, index, rows, flags, vec4, vec3, mat43, square, cube, ker1, ker,
      ker3, transposed_ker1, transposed_ker2, transposed_ker3, signal, volume, classes, logits,
      chan, nothing, scalar, integers, table, sorted, weights;
  std::vector<Tensor> list, vectors;
  std::optional<Tensor> some;
  std::optional<int64_t> some_int;
  std::optional<double> some_double;
  torch::Generator generator;
  std::vector<int64_t> numbers;
  torch::IntArrayRef sizes;
  // One number in each integer type.
  int64_t big = 1;
  size_t count = 1;
  int number = 1;
  bool flag = true;
  double real = 0.5;
  torch::Scalar value = 1;
  Values() : generator(at::detail::createCPUGenerator(3)) { reset(); }
  void reset();
};

/// A call's result as text.
std::string text(const Tensor& tensor);
std::string text(const torch::Scalar& value);
std::string text(torch::ScalarType type);
template <class T>
std::string text(const std::vector<T>& values) {
  std::string result;
  for (const T& value : values) result += text(value) + ";";
  return result;
}
template <class... T>
std::string text(const std::tuple<T...>& values) {
  return std::apply([](const auto&... value) { return ((text(value) + ";") + ...); }, values);
}
template <class T>
std::string text(const T& value) {
  if constexpr (std::is_arithmetic_v<T>)
    return std::to_string(value);
  else
    return "an object";
}

/// A lambda, and a function that calls it and returns its result as text.
struct Call {
  std::string (*function)(void*);
  void* closure;
};
/// Prints "<case>\t<result or error>". Crashes and endless loops count as errors.
void run(const char* name, Values& values, Call call);
/// Prints that the case does not compile.
void report_missing(const char* name);

template <class F>
void run(const char* name, Values& values, F&& f) {
  run(name, values,
      Call{[](void* p) -> std::string {
             if constexpr (std::is_void_v<decltype((*static_cast<F*>(p))())>)
               return (*static_cast<F*>(p))(), "void";
             else
               return text((*static_cast<F*>(p))());
           },
           &f});
}

}  // namespace overloads

// Runs a call if it compiles. It is used in templates in which the arguments are dependent names,
// so a call that does not compile is no error.
#define CASE(...)                                                 \
  if constexpr (requires { __VA_ARGS__; })                        \
    overloads::run(#__VA_ARGS__, v, [&] { return __VA_ARGS__; }); \
  else                                                            \
    overloads::report_missing(#__VA_ARGS__);
