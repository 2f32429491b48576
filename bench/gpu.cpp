// Operators on the first GPU, in microseconds a call; tools/gpu_peer.py times the same in PyTorch,
// and tools/gpu_check.sh prints both.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "hearth/operators.h"
#include "hearth/tensor.h"

namespace {

using namespace hearth;

constexpr int64_t kLarge = int64_t{1} << 26;

/// Microseconds of one call, by events around a hundred of them; the best of five rounds.
double microseconds(const std::function<void()>& call) {
  constexpr int kCalls = 100;
  double best = 1e30;
  for (int round = 0; round < 6; ++round) {  // the first warms up
    cuda::Event start(true), end(true);
    start.record();
    for (int i = 0; i < kCalls; ++i) call();
    end.record();
    end.synchronize();
    if (round > 0) best = std::min(best, double(start.elapsed_time(end)) * 1000 / kCalls);
  }
  return best;
}

void report(const std::string& name, const std::function<void()>& call) {
  std::printf("%s\t%.2f\n", name.c_str(), microseconds(call));
  std::fflush(stdout);
}

void pointwise(ScalarType dtype, const std::string& suffix) {
  const TensorOptions options = TensorOptions(kCUDA).dtype(dtype);
  const Tensor a = randn({kLarge}, options), b = randn({kLarge}, options);
  const Tensor matrix = randn({8192, 8192}, options), row = randn({8192}, options);
  report("add" + suffix, [&] { add(a, b); });
  report("add number" + suffix, [&] { add(a, 2.5); });
  report("add row" + suffix, [&] { add(matrix, row); });
  report("gelu" + suffix, [&] { gelu(a); });
  report("transposed copy" + suffix, [&] { matrix.t().contiguous(); });
  report("dropout" + suffix, [&] { dropout(a, 0.5, true); });
  report("sum" + suffix, [&] { a.sum(); });
  report("sum of rows" + suffix, [&] { matrix.sum(1); });
  report("sum of columns" + suffix, [&] { matrix.sum(0); });
  report("max of rows" + suffix, [&] { matrix.max(1); });
  report("cat" + suffix, [&] { cat({matrix, matrix}, 1); });
}

void products(ScalarType dtype, const std::string& suffix) {
  const TensorOptions options = TensorOptions(kCUDA).dtype(dtype);
  const Tensor a = randn({4096, 4096}, options), b = randn({4096, 4096}, options),
               bias = randn({4096}, options);
  const Tensor batch = randn({64, 512, 512}, options);
  report("matmul 4096" + suffix, [&] { matmul(a, b); });
  report("matmul 4096 transposed" + suffix, [&] { matmul(a, b.t()); });
  report("addmm 4096" + suffix, [&] { addmm(bias, a, b); });
  report("bmm 64 x 512" + suffix, [&] { bmm(batch, batch); });
}

void others() {
  const TensorOptions options = TensorOptions(kCUDA).dtype(kFloat);
  const Tensor image = randn({64, 64, 56, 56}, options), channel = ones({64}, options);
  Tensor mean = zeros({64}, options), var = ones({64}, options);
  report("batch_norm", [&] { batch_norm(image, channel, channel, mean, var, true, 0.1, 1e-5); });
  const Tensor table = randn({100000, 256}, options);
  const Tensor index = randint(100000, {8192, 256}, TensorOptions(kCUDA).dtype(kLong));
  report("gather", [&] { gather(table, 0, index); });
  const Tensor sum = zeros({100000, 256}, options), part = randn({8192, 256}, options);
  report("scatter_add", [&] { scatter_add(sum, 0, index, part); });
  const Tensor sparse = randn({8192, 8192}, options) > 2;
  report("nonzero", [&] { nonzero(sparse); });
  const Tensor small = randn({4}, options);
  report("add of 4", [&] { add(small, small); });
  Tensor leaf = randn({1024, 1024}, options).requires_grad_();
  report("gelu, sum, backward", [&] { gelu(leaf).sum().backward(); });
}

}  // namespace

int main() {
  if (!cuda::is_available()) {
    std::fprintf(stderr, "no GPU: %s\n", cuda::why_not().c_str());
    return 1;
  }
  pointwise(kFloat, "");
  pointwise(kBFloat16, ", bfloat16");
  products(kFloat, "");
  products(kBFloat16, ", bfloat16");
  others();
}
