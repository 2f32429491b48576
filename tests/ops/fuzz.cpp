// Random calls of every op in the op table: each has a result or throws hearth::Error.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

class Fuzzer {
 public:
  explicit Fuzzer(uint32_t seed) : random_(seed), devices_(devices()) {}

  /// Calls a row's op once with random variations of one of its cases.
  void call(const Row& row) {
    const Case& inputs = row.cases[below(row.cases.size())];
    if (inputs.empty()) return;  // functions that make tensors: nothing varies
    const ScalarType dtype = any_dtype();
    const Device device = any_device();
    Tensors in;
    for (const Input& input : inputs) in.push_back(tensor(input, dtype, device));
    ++num_calls;
    try {
      run_form(row, in);
      for (const Device d : devices_)
        if (d.is_cuda()) cuda::synchronize(d.index());
      ++num_results;
    } catch (const Error& error) {
      EXPECT_FALSE(std::string(error.what()).empty()) << row.name;
      clear_errors();
    }
  }

  int64_t num_calls = 0, num_results = 0;

 private:
  uint32_t below(size_t count) { return uint32_t(random_() % count); }
  bool one_in(uint32_t n) { return below(n) == 0; }
  Device any_device() { return devices_[below(devices_.size())]; }
  ScalarType any_dtype() {
    static const std::vector<ScalarType> all_dtypes = dtypes_in(dtypes::kAll);
    return one_in(2) ? kFloat : all_dtypes[below(all_dtypes.size())];
  }

  std::vector<int64_t> any_sizes(const std::vector<int64_t>& usual) {
    std::vector<int64_t> sizes = usual;
    if (one_in(3)) {
      sizes.resize(below(6));
      for (int64_t& size : sizes) size = std::vector<int64_t>{0, 1, 1, 2, 3, 5}[below(6)];
    } else if (!sizes.empty() && one_in(3)) {
      sizes[below(sizes.size())] = below(4);
    }
    return sizes;
  }

  Tensor tensor(Input input, ScalarType dtype, Device device) {
    if (one_in(40)) return {};
    if (input.absent && !one_in(4)) return {};
    input.absent = false;
    input.sizes = any_sizes(input.sizes);
    if (one_in(10)) input.draw = Draw(below(6));  // any but kIndex and kBool
    if (input.draw == Draw::kIndex && (input.below == 0 || one_in(8))) input.below = 1 + below(9);
    if (one_in(12)) dtype = any_dtype();
    if (one_in(20)) device = any_device();
    const MemoryLayout layout = MemoryLayout(below(4));
    Tensor t = make_input(input, dtype, device, layout, uint32_t(random_()));
    if (one_in(6) && t.dim() > 1) t = t.transpose(0, -1);
    if (one_in(25)) t = t.to(Device(kMeta), t.scalar_type());
    if (is_differentiable(t.scalar_type()) && one_in(4)) t = t.detach().requires_grad_();
    return t;
  }

  void run_form(const Row& row, Tensors& in) {
    const uint32_t form = below(6);
    const Tensor& first = in[0];
    if (form == 0 && row.out) {
      Tensor out = one_in(2) || !first.defined()
                       ? empty({below(3)}, TensorOptions(any_dtype()).device(any_device()))
                       : first;
      row.out(out, in);
    } else if (form == 1 && row.inplace && first.defined()) {
      Tensor self = first;
      row.inplace(self, in);
    } else {
      const Tensors out = row.call(in);
      if (one_in(2) && !out.empty() && out[0].defined() && out[0].requires_grad())
        out[0].sum().backward();
    }
  }

  /// Clears errors of a failed call that are still pending on the devices.
  void clear_errors() {
    for (const Device device : devices_) {
      if (!device.is_cuda()) continue;
      try {
        cuda::synchronize(device.index());
      } catch (const Error&) {
      }
    }
  }

  std::mt19937 random_;
  const std::vector<Device> devices_;
};

double from_environment(const char* name, double default_value) {
  const char* text = std::getenv(name);
  return text ? std::atof(text) : default_value;
}

TEST(Fuzz, EveryCallHasAResultOrThrowsError) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const double seconds = from_environment("HEARTH_FUZZ_SECONDS", 2);
  const auto seed = uint32_t(from_environment("HEARTH_FUZZ_SEED", 20240531));
  const WarningSink former_sink = set_warning_sink([](const std::string&) {});
  Fuzzer fuzzer(seed);
  do {
    for (const Row& row : rows()) fuzzer.call(row);
  } while (elapsed() < seconds);
  set_warning_sink(former_sink);
  std::cout << "fuzz: " << fuzzer.num_calls << " calls, " << fuzzer.num_results
            << " with a result\n";
  EXPECT_GT(fuzzer.num_results, fuzzer.num_calls / 10);
}

}  // namespace
}  // namespace hearth::testing
