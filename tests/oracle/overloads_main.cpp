#include "overloads.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <typeinfo>

namespace overloads {

void Values::reset() {
  torch::manual_seed(7);
  generator.set_current_seed(3);
  const auto range = [](int64_t n) { return torch::arange(double(n), torch::kFloat); };
  x = range(12).view({3, 4}).sub(5.3).mul(0.37);
  y = range(12).view({3, 4}).add(1).mul(0.21);
  img = torch::sin(range(2 * 4 * 6 * 6)).view({2, 4, 6, 6});
  signal = torch::sin(range(2 * 4 * 6)).view({2, 4, 6});
  volume = torch::sin(range(2 * 4 * 27)).view({2, 4, 3, 3, 3});
  cube = torch::cos(range(24)).view({2, 3, 4});
  out = torch::zeros({3, 4}, torch::kFloat);
  out2 = torch::zeros({0}, torch::kLong);
  out3 = torch::zeros({0}, torch::kFloat);
  index = torch::arange(12).remainder(3).view({3, 4});
  rows = torch::arange(3).flip(torch::IntArrayRef({0}));
  flags = index.eq(1);
  vec4 = range(4).sub(1.5);
  vec3 = range(3).add(0.5);
  mat43 = range(12).view({4, 3}).mul(0.1);
  square = range(9).view({3, 3}).mul(0.3).add(torch::eye(3));
  ker1 = torch::cos(range(2 * 4 * 3)).view({2, 4, 3});
  ker = torch::cos(range(2 * 4 * 9)).view({2, 4, 3, 3});
  ker3 = torch::cos(range(2 * 4 * 8)).view({2, 4, 2, 2, 2});
  transposed_ker1 = torch::cos(range(4 * 2 * 3)).view({4, 2, 3});
  transposed_ker2 = torch::cos(range(4 * 2 * 9)).view({4, 2, 3, 3});
  transposed_ker3 = torch::cos(range(4 * 2 * 8)).view({4, 2, 2, 2, 2});
  classes = torch::arange(3);
  logits = torch::sin(range(12)).view({3, 4});
  chan = range(4).add(1);
  nothing = Tensor();
  scalar = torch::scalar_tensor(1.5);
  integers = torch::arange(12).view({3, 4});
  table = range(20).view({5, 4});
  sorted = range(6).mul(0.5);
  weights = range(3).add(1);
  list = {x, y};
  vectors = {vec3, vec4};
  some = y;
  some_int = 1;
  some_double = 0.5;
  numbers = {1, 0};
  sizes = numbers;
}

std::string text(torch::ScalarType type) { return "dtype " + std::to_string(int(type)); }

std::string text(const torch::Scalar& value) {
  return value.isFloatingPoint() ? std::to_string(value.toDouble())
                                 : "integer " + std::to_string(value.to<int64_t>());
}

namespace {

bool shows_elements = true;

std::string number(double value) {
  if (std::isnan(value)) return "nan";
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.4g", std::abs(value) < 2e-6 ? 0.0 : value);
  return buffer;
}

std::string first_line(const std::string& message) { return message.substr(0, message.find('\n')); }

sigjmp_buf before_call;
void jump_back(int signal) { siglongjmp(before_call, signal); }

std::string result_of(Call call) {
  try {
    return call.function(call.closure);
#define CATCH(type)                                                     \
  catch (const c10::type& error) {                                      \
    return "!" #type ": " + first_line(error.what_without_backtrace()); \
  }
  }
  CATCH(IndexError)
  CATCH(ValueError)
  CATCH(TypeError)
  CATCH(NotImplementedError)
  CATCH(LinAlgError)
  CATCH(Error)
  catch (const std::exception& error) {
    return "!std::exception: " + first_line(error.what());
  }
}

}  // namespace

std::string text(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  std::string result = std::to_string(int(tensor.scalar_type())) + "[";
  for (int64_t size : tensor.sizes()) result += std::to_string(size) + ",";
  result += "]";
  if (!shows_elements || tensor.is_complex() || tensor.is_meta()) return result;
  const Tensor flat = tensor.detach().to(torch::kDouble).contiguous().view({-1});
  const double* values = flat.data_ptr<double>();
  for (int64_t i = 0; i < std::min<int64_t>(flat.numel(), 30); ++i)
    result += " " + number(values[i]);
  return result;
}

void run(const char* name, Values& values, Call call) {
  const std::string title = name;
  shows_elements =
      title.find("empty") == std::string::npos && title.find("resize_") == std::string::npos;
  values.reset();
  std::string result;
  if (const int signal = sigsetjmp(before_call, 1)) {
    result = "!signal " + std::to_string(signal);
  } else {
    alarm(20);
    result = result_of(call);
    alarm(0);
  }
  std::cout << name << '\t' << result << std::endl;
}

void report_missing(const char* name) { std::cout << name << "\tdoes not compile" << std::endl; }

void catch_signals() {
  for (int signal : {SIGSEGV, SIGFPE, SIGABRT, SIGALRM, SIGBUS, SIGILL}) {
    struct sigaction action {};
    action.sa_handler = jump_back;
    sigaction(signal, &action, nullptr);
  }
}

void run_parts(Values& values);  // generated

}  // namespace overloads

int main() {
  overloads::catch_signals();
  torch::set_num_threads(1);
  overloads::Values values;
  overloads::run_parts(values);
}
