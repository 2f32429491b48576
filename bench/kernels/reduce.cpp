// Reductions, max along a dimension and batch norm: GB/s of memory read and written.

#include "seam/reduce.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "core/backends.h"
#include "seam/batch_norm.h"
#include "seam/minmax_dim.h"

namespace hearth {
namespace {

View view_of(void* data, ScalarType dtype, const std::vector<int64_t>& sizes) {
  View v;
  v.data = data;
  v.dtype = dtype;
  v.dim = int8_t(sizes.size());
  v.numel = 1;
  for (int d = v.dim - 1; d >= 0; --d) {
    v.sizes[d] = sizes[size_t(d)];
    v.strides[d] = v.numel;
    v.numel *= v.sizes[d];
  }
  return v;
}

/// Prints the time of the fastest run; the kernel is repeated for 0.5 s.
template <class Params>
void time(const char* name, const Params& params, double bytes) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  double best = 1e9;
  for (double spent = 0; spent < 0.5;) {
    const auto before = Clock::now();
    Ctx ctx(cpu_backend(), Device(kCPU), nullptr, nullptr);
    cpu::run(params, ctx);
    const auto after = Clock::now();
    best = std::min(best, std::chrono::duration<double>(after - before).count());
    spent = std::chrono::duration<double>(after - start).count();
  }
  std::printf("%-48s %10.2f us %8.2f GB/s\n", name, best * 1e6, bytes / best * 1e-9);
}

template <class T, class F>
void time_reduce(const char* name, const F& functor, std::vector<int64_t> sizes,
                 std::vector<bool> reduce) {
  std::vector<int64_t> out_sizes = sizes;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (reduce[d]) out_sizes[d] = 1;
  View in = view_of(nullptr, dtype_of<T>, sizes), out = view_of(nullptr, dtype_of<T>, out_sizes);
  std::vector<T> from(size_t(in.numel), T(1.f)), to(size_t(out.numel));
  in.data = from.data();
  out.data = to.data();
  time(name, reduce_params(functor, in, out), double(in.numel + out.numel) * sizeof(T));
}

void time_reductions() {
  constexpr int64_t k16M = 1 << 24;
  time_reduce<float>("sum f32 16M", fn::Sum{}, {k16M}, {true});
  time_reduce<float>("amax f32 16M", fn::Max{}, {k16M}, {true});
  time_reduce<double>("sum f64 8M", fn::Sum{}, {k16M / 2}, {true});
  time_reduce<BFloat16>("sum bf16 16M", fn::Sum{}, {k16M}, {true});
  time_reduce<Half>("sum f16 16M", fn::Sum{}, {k16M}, {true});
  time_reduce<int64_t>("sum i64 8M", fn::Sum{}, {k16M / 2}, {true});
  time_reduce<float>("sum f32 4096x4096 rows", fn::Sum{}, {4096, 4096}, {false, true});
  time_reduce<float>("sum f32 4096x4096 columns", fn::Sum{}, {4096, 4096}, {true, false});
  time_reduce<float>("sum f32 262144x64 rows", fn::Sum{}, {262144, 64}, {false, true});
  time_reduce<float>("sum f32 262144x64 columns", fn::Sum{}, {262144, 64}, {true, false});
  time_reduce<float>("sum f32 1048576x10 rows", fn::Sum{}, {1 << 20, 10}, {false, true});
  time_reduce<float>("sum f32 1048576x10 columns", fn::Sum{}, {1 << 20, 10}, {true, false});
  time_reduce<float>("sum f32 64x256x28x28 all but channels", fn::Sum{}, {64, 256, 784},
                     {true, false, true});
  time_reduce<float>("sum f32 64x256x7x7 all but channels", fn::Sum{}, {64, 256, 49},
                     {true, false, true});
  time_reduce<float>("sum f32 64x1000x3 middle", fn::Sum{}, {64, 1000, 3}, {false, true, false});
  time_reduce<float>("sum f32 64x1000x3 outsides", fn::Sum{}, {64, 1000, 3}, {true, false, true});
  time_reduce<float>("sum f32 1000", fn::Sum{}, {1000}, {true});
  time_reduce<float>("sum f32 4", fn::Sum{}, {4}, {true});
}

/// Owns a tensor, at first of ones.
template <class T>
struct Ones {
  explicit Ones(const std::vector<int64_t>& sizes)
      : view(view_of(nullptr, dtype_of<T>, sizes)), data(size_t(view.numel), T(1.f)) {
    view.data = data.data();
  }
  View view;
  std::vector<T> data;
};

void time_minmax(const char* name, std::vector<int64_t> sizes, int dim) {
  Ones<float> in(sizes);
  // Numbers in no order, as from a generator.
  for (size_t i = 0; i < in.data.size(); ++i) in.data[i] = float(i * 2654435761u % 1000003);
  sizes[size_t(dim)] = 1;
  Ones<float> values(sizes);
  Ones<int64_t> indices(sizes);
  time(name, MinMaxDimParams{in.view, values.view, indices.view, dim, true},
       double(in.view.numel) * 4);
}

template <class T>
void time_batch_norm(const char* name, const std::vector<int64_t>& sizes, bool channels_last) {
  Ones<T> in(sizes), out(sizes), grad(sizes);
  Ones<float> weight({sizes[1]}), bias({sizes[1]}), mean({sizes[1]}), invstd({sizes[1]});
  if (channels_last)
    for (View* v : {&in.view, &out.view, &grad.view}) {
      v->strides[1] = 1;
      v->strides[3] = sizes[1];
      v->strides[2] = sizes[1] * sizes[3];
    }
  const double bytes = double(in.view.numel) * sizeof(T);
  BatchNormParams forward;
  forward.in = in.view;
  forward.out = out.view;
  forward.weight = weight.view;
  forward.bias = bias.view;
  time((std::string("batch_norm training ") + name).c_str(), forward, 3 * bytes);
  forward.training = false;
  forward.running_mean = mean.view;
  forward.running_var = invstd.view;
  time((std::string("batch_norm evaluation ") + name).c_str(), forward, 2 * bytes);
  BatchNormBackwardParams backward;
  backward.grad_out = grad.view;
  backward.in = in.view;
  backward.weight = weight.view;
  backward.save_mean = mean.view;
  backward.save_invstd = invstd.view;
  backward.grad_in = out.view;
  time((std::string("batch_norm backward ") + name).c_str(), backward, 5 * bytes);
}

void time_minmax_and_batch_norm() {
  time_minmax("max(dim) f32 16M", {1 << 24}, 0);
  time_minmax("max(dim) f32 4096x4096 rows", {4096, 4096}, 1);
  time_minmax("max(dim) f32 4096x4096 columns", {4096, 4096}, 0);
  time_minmax("max(dim) f32 1048576x10 rows", {1 << 20, 10}, 1);
  time_batch_norm<float>("f32 64x64x56x56", {64, 64, 56, 56}, false);
  time_batch_norm<float>("f32 64x64x56x56 channels last", {64, 64, 56, 56}, true);
  time_batch_norm<float>("f32 64x512x7x7", {64, 512, 7, 7}, false);
  time_batch_norm<BFloat16>("bf16 64x64x56x56", {64, 64, 56, 56}, false);
}

}  // namespace
}  // namespace hearth

int main() {
  hearth::time_reductions();
  hearth::time_minmax_and_batch_norm();
}
