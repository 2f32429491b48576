#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "measure.h"

// Overhead of one call: the tensors are so small that their arithmetic takes no time. Written
// against LibTorch's interface, so that compare.py can compile the same file against LibTorch.
// Prints "name best median" in nanoseconds. The arguments are the names of the rows to measure, by
// default all.

namespace {

constexpr int kRounds = 60;
constexpr int kCalls = 4000;

/// Nanoseconds per call in one round.
template <class F>
double time_round(F& call, int calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::nano>(end - start).count() / calls;
}

template <class F>
void report(const char* name, F call, int calls = kCalls) {
  if (!is_selected(name)) return;
  time_round(call, calls);
  std::vector<double> rounds;
  for (int i = 0; i < kRounds; ++i) rounds.push_back(time_round(call, calls));
  std::sort(rounds.begin(), rounds.end());
  std::printf("%-16s %9.1f %9.1f\n", name, rounds.front(), rounds[kRounds / 2]);
}

/// Stops the compiler from removing the computation of the tensor.
void keep(const torch::Tensor& tensor) { asm volatile("" : : "r"(&tensor) : "memory"); }

/// Forward and backward through a chain of 1,000 products.
void thousand_products(const torch::Tensor& x) {
  torch::Tensor y = x;
  for (int i = 0; i < 1000; ++i) y = y * x;
  y.sum().backward();
}

torch::Tensor chain_of_ten(const torch::Tensor& x) {
  torch::Tensor y = x;
  for (int i = 0; i < 5; ++i) y = (y * x) + x;
  return y;
}

void tensors_without_history() {
  const auto a = torch::rand({4}), b = torch::rand({4}), m = torch::rand({4, 4});
  report("empty", [] { keep(torch::empty({4})); });
  report("add", [&] { keep(a + b); });
  report("add_scalar", [&] { keep(a + 1.5); });
  report("mul_scalar", [&] { keep(a * 2); });
  report("add_inplace", [&] { a.add_(b); });
  report("slice", [&] { keep(a.slice(0, 1, 3)); });
  report("slice_t", [&] { keep(m.slice(0, 1, 3).t()); });
  report("mm_4x4", [&] { keep(torch::mm(m, m)); });
  report("sum", [&] { keep(a.sum()); });
}

void tensors_with_history() {
  const auto a = torch::rand({4}, torch::requires_grad()),
             b = torch::rand({4}, torch::requires_grad());
  const auto seed = torch::ones({4});
  report("add_grad", [&] { keep(a + b); });
  report(
      "chain_forward", [&] { keep(chain_of_ten(a)); }, kCalls / 10);
  const auto chain = chain_of_ten(a);
  report(
      "chain_backward", [&] { chain.backward(seed, /*retain_graph=*/true); }, kCalls / 20);
  report(
      "thousand_muls", [&] { thousand_products(a); }, kCalls / 1000);
}

}  // namespace

int main(int argc, char** argv) {
  select_rows(argc, argv);
  torch::set_num_threads(1);
  tensors_without_history();
  tensors_with_history();
}
