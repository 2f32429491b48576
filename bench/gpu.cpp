// Times operators and training steps on the first GPU, in microseconds per call.
// tools/gpu_peer.py times the same calls in PyTorch, and tools/gpu_check.sh prints both times. A
// row that fails prints its error, and the next row runs. Some CUDA errors make the process
// unusable, so gpu_check.sh runs each group in a process of its own. The arguments are the names of
// groups, by default all; `bench_gpu --groups` lists them. HEARTH_BENCH_SMALL=1 makes the tensors
// smaller, for a quick test of the program.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "hearth/hearth.h"

namespace {

using namespace hearth;

const bool is_small = std::getenv("HEARTH_BENCH_SMALL") != nullptr;
/// `full`; under HEARTH_BENCH_SMALL `full` / `divisor`, at least 2.
int64_t size(int64_t full, int64_t divisor = 64) {
  return is_small ? std::max<int64_t>(full / divisor, 2) : full;
}

/// Microseconds per call, measured by CUDA events around 3 to 100 calls; the best of five rounds
/// (one under HEARTH_BENCH_SMALL).
double microseconds(const std::function<void()>& call) {
  const auto round = [&](int calls) {
    cuda::Event start(true), end(true);
    start.record();
    for (int i = 0; i < calls; ++i) call();
    end.record();
    end.synchronize();
    return double(start.elapsed_time(end)) * 1000 / calls;
  };
  round(2);  // warms up
  // A round takes about 50 ms, as far as 3 to 100 calls allow.
  const int calls = int(std::clamp(50000 / std::max(round(1), 1.0), 3.0, 100.0));
  double best = 1e30;
  for (int i = 0; i < (is_small ? 1 : 5); ++i) best = std::min(best, round(calls));
  return best;
}

void report(const std::string& name, const std::function<void()>& call) {
  std::string result;
  try {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", microseconds(call));
    result = text;
  } catch (const std::exception& error) {
    const std::string message = error.what();
    result = "failed: " + message.substr(0, message.find('\n'));
  }
  std::printf("%s\t%s\n", name.c_str(), result.c_str());
  std::fflush(stdout);
}

TensorOptions on_gpu(ScalarType dtype = kFloat) { return TensorOptions(kCUDA).dtype(dtype); }
Tensor random_indices(int64_t end, IntArrayRef sizes) { return randint(end, sizes, on_gpu(kLong)); }

void pointwise(ScalarType dtype, const std::string& suffix) {
  const int64_t large = size(int64_t{1} << 26), side = size(8192, 8);
  const Tensor a = randn({large}, on_gpu(dtype)), b = randn({large}, on_gpu(dtype));
  const Tensor matrix = randn({side, side}, on_gpu(dtype)), row = randn({side}, on_gpu(dtype));
  report("add" + suffix, [&] { add(a, b); });
  report("add number" + suffix, [&] { add(a, 2.5); });
  report("add row" + suffix, [&] { add(matrix, row); });
  report("gelu" + suffix, [&] { gelu(a); });
  report("to the other dtype" + suffix, [&] { a.to(dtype == kFloat ? kBFloat16 : kFloat); });
  report("transposed copy" + suffix, [&] { matrix.t().contiguous(); });
  report("dropout" + suffix, [&] { dropout(a, 0.5, true); });
  report("randn" + suffix, [&] { randn({large}, on_gpu(dtype)); });
  report("cat" + suffix, [&] { cat({matrix, matrix}, 1); });
  report("masked_fill" + suffix, [&, mask = matrix > 1] { matrix.masked_fill(mask, 0); });
}

void reductions(ScalarType dtype, const std::string& suffix) {
  const int64_t side = size(8192, 8);
  const Tensor a = randn({size(int64_t{1} << 26)}, on_gpu(dtype));
  const Tensor matrix = randn({side, side}, on_gpu(dtype));
  report("sum" + suffix, [&] { a.sum(); });
  report("sum of rows" + suffix, [&] { matrix.sum(1); });
  report("sum of columns" + suffix, [&] { matrix.sum(0); });
  report("max of rows" + suffix, [&] { matrix.max(1); });
  report("argmax of rows" + suffix, [&] { matrix.argmax(1); });
  report("var of rows" + suffix, [&] { matrix.var(1, true); });
  report("norm" + suffix, [&] { a.norm(); });
}

void products(ScalarType dtype, const std::string& suffix) {
  const int64_t side = size(4096, 16), batches = size(64, 16);
  const Tensor a = randn({side, side}, on_gpu(dtype)), b = randn({side, side}, on_gpu(dtype)),
               bias = randn({side}, on_gpu(dtype));
  const Tensor batch = randn({batches, size(512, 8), size(512, 8)}, on_gpu(dtype));
  report("matmul 4096" + suffix, [&] { matmul(a, b); });
  report("matmul 4096 transposed" + suffix, [&] { matmul(a, b.t()); });
  report("addmm 4096" + suffix, [&] { addmm(bias, a, b); });
  report("bmm 64 x 512" + suffix, [&] { bmm(batch, batch); });
}

/// Times a call without gradients, then the same call with its backward pass.
void forward_and_backward(const std::string& name, const std::string& suffix,
                          const std::vector<Tensor>& leaves, const std::function<Tensor()>& call) {
  report(name + suffix, [&] {
    const NoGradGuard off;
    call();
  });
  report(name + " and backward" + suffix, [&, ones = Tensor()]() mutable {
    const Tensor out = call();
    if (!ones.defined()) ones = ones_like(out.detach());
    for (const Tensor& leaf : leaves) leaf.mutable_grad().reset();
    out.backward(ones);
  });
}

Tensor leaf(IntArrayRef sizes, ScalarType dtype) {
  return randn(sizes, on_gpu(dtype)).requires_grad_();
}

void layers(ScalarType dtype, const std::string& suffix) {
  const int64_t rows = size(8192, 8), width = size(1024, 8), words = size(50257, 16);
  const Tensor x = leaf({rows, width}, dtype), w = leaf({width}, dtype), b = leaf({width}, dtype);
  forward_and_backward("softmax", suffix, {x}, [&] { return softmax(x, 1); });
  forward_and_backward("layer_norm", suffix, {x, w, b},
                       [&] { return layer_norm(x, {width}, w, b); });
  forward_and_backward("rms_norm", suffix, {x, w}, [&] { return rms_norm(x, {width}, w, 1e-5); });
  const Tensor logits = leaf({size(2048, 16), words}, dtype);
  const Tensor target = random_indices(words, {logits.size(0)});
  forward_and_backward("cross_entropy", suffix, {logits},
                       [&] { return cross_entropy_loss(logits, target); });
  const Tensor table = leaf({words, width}, dtype), ids = random_indices(words, {rows});
  forward_and_backward("embedding", suffix, {table}, [&] { return embedding(table, ids); });
  const Tensor image = leaf({size(64, 16), 64, 56, 56}, dtype), scale = leaf({64}, dtype),
               shift = leaf({64}, dtype);
  forward_and_backward("batch_norm", suffix, {image, scale, shift}, [&] {
    return batch_norm(image, scale, shift, {}, {}, true, 0.1, 1e-5, true);
  });
  forward_and_backward("group_norm", suffix, {image, scale, shift},
                       [&] { return group_norm(image, 8, scale, shift); });
  forward_and_backward("max_pool2d", suffix, {image}, [&] { return max_pool2d(image, 3, 2, 1); });
  forward_and_backward("avg_pool2d", suffix, {image}, [&] { return avg_pool2d(image, 2); });
}

void convolutions(ScalarType dtype, const std::string& suffix) {
  const int64_t n = size(64, 16);
  const Tensor image = leaf({n, 64, 56, 56}, dtype),
               channels_last = randn({n, 64, 56, 56}, on_gpu(dtype))
                                   .contiguous(MemoryFormat::ChannelsLast)
                                   .requires_grad_();
  const Tensor w3 = leaf({64, 64, 3, 3}, dtype), w1 = leaf({256, 64, 1, 1}, dtype),
               depth = leaf({64, 1, 3, 3}, dtype), bias = leaf({64}, dtype);
  forward_and_backward("conv2d 3x3", suffix, {image, w3, bias},
                       [&] { return conv2d(image, w3, bias, 1, 1); });
  forward_and_backward("conv2d 3x3, channels last", suffix, {channels_last, w3, bias},
                       [&] { return conv2d(channels_last, w3, bias, 1, 1); });
  forward_and_backward("conv2d 1x1", suffix, {image, w1}, [&] { return conv2d(image, w1); });
  forward_and_backward("conv2d depthwise", suffix, {image, depth},
                       [&] { return conv2d(image, depth, {}, 1, 1, 1, 64); });
}

/// softmax(q kᵀ / √d) v, composed of single operators.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  return matmul(softmax(matmul(q, k.transpose(-2, -1)) * scale, -1), v);
}

void attention_rows(ScalarType dtype, const std::string& suffix) {
  const std::vector<int64_t> sizes{size(8, 4), size(16, 8), size(1024, 16), 64};
  const Tensor q = leaf(sizes, dtype), k = leaf(sizes, dtype), v = leaf(sizes, dtype);
  forward_and_backward("attention", suffix, {q, k, v}, [&] { return attention(q, k, v); });
}

void order(ScalarType, const std::string&) {
  const int64_t large = size(int64_t{1} << 24);
  const Tensor line = randn({large}, on_gpu()), lines = randn({size(4096), 4096}, on_gpu());
  report("sort of one line", [&] { line.sort(); });
  report("sort of lines", [&] { lines.sort(1); });
  report("topk 50 of lines", [&] { lines.topk(50, 1); });
  report("cumsum of one line", [&] { line.cumsum(0); });
  report("cumsum of lines", [&] { lines.cumsum(1); });
  report("nonzero", [&, sparse = lines > 2] { nonzero(sparse); });
  report("randperm", [&] { randperm(large, on_gpu(kLong)); });
  const int64_t rows = size(100000), count = size(8192);
  const Tensor table = randn({rows, 256}, on_gpu()), rows_to_add = randn({count, 256}, on_gpu());
  const Tensor index = random_indices(rows, {count, 256}),
               row_indices = random_indices(rows, {count});
  const Tensor sum = zeros({rows, 256}, on_gpu());
  report("gather", [&] { gather(table, 0, index); });
  report("index_select", [&] { table.index_select(0, row_indices); });
  report("scatter_add", [&] { scatter_add(sum, 0, index, rows_to_add); });
  report("index_add", [&] { sum.index_add(0, row_indices, rows_to_add); });
  report("index_put_ accumulate", [&] { sum.index_put_({row_indices}, rows_to_add, true); });
}

void small(ScalarType, const std::string&) {
  const Tensor four = randn({4}, on_gpu());
  report("add of 4", [&] { add(four, four); });
  report("matmul of 4 x 4", [&, m = randn({4, 4}, on_gpu())] { matmul(m, m); });
  report("item", [&, one = randn({1}, on_gpu())] { one.item<float>(); });
  const Tensor x = leaf({1024, 1024}, kFloat);
  report("gelu, sum, backward", [&] { gelu(x).sum().backward(); });
}

template <class Optimizer, class Options>
void optimizer_row(const std::string& name, const Options& options) {
  std::vector<Tensor> parameters;
  for (int i = 0; i < int(size(300, 10)); ++i) {
    parameters.push_back(leaf({i % 3 == 0 ? size(1 << 20) : 1000 + i}, kFloat));
    parameters.back().mutable_grad() = randn_like(parameters.back().detach());
  }
  Optimizer optimizer(parameters, options);
  report(name, [&] { optimizer.step(); });
  report("clip_grad_norm_, " + name, [&] { nn::utils::clip_grad_norm_(parameters, 1); });
}

void optimizers(ScalarType, const std::string&) {
  optimizer_row<optim::SGD>("SGD", optim::SGDOptions(1e-3).momentum(0.9));
  optimizer_row<optim::AdamW>("AdamW", optim::AdamWOptions(1e-3));
}

/// A step of training: forward, backward, optimizer.
void step_row(const std::string& name, const std::vector<Tensor>& parameters,
              const std::function<Tensor()>& loss) {
  optim::AdamW optimizer(parameters, optim::AdamWOptions(1e-4));
  report(name, [&] {
    optimizer.zero_grad();
    loss().backward();
    optimizer.step();
  });
}

void mlp_step(const std::string& suffix) {
  const int64_t n = size(512, 16), wide = size(4096, 32);
  nn::Sequential net(nn::Linear(784, wide), nn::ReLU(), nn::Linear(wide, wide), nn::ReLU(),
                     nn::Linear(wide, 10));
  net->to(kCUDA);
  const Tensor x = randn({n, 784}, on_gpu()), target = random_indices(10, {n});
  step_row("MLP step" + suffix, net->parameters(),
           [&] { return cross_entropy_loss(net->forward(x), target); });
}

void cnn_step(const std::string& suffix) {
  const int64_t n = size(128, 32);
  nn::Sequential net;
  int64_t channels = 3;
  for (const int64_t next : {64, 128, 256}) {
    net->push_back(nn::Conv2d(nn::Conv2dOptions(channels, next, 3).padding(1).bias(false)));
    net->push_back(nn::BatchNorm2d(next));
    net->push_back(nn::ReLU());
    net->push_back(nn::MaxPool2d(2));
    channels = next;
  }
  net->push_back(nn::AdaptiveAvgPool2d(1));
  net->push_back(nn::Flatten());
  net->push_back(nn::Linear(256, 10));
  net->to(kCUDA);
  const Tensor x = randn({n, 3, 32, 32}, on_gpu()), target = random_indices(10, {n});
  step_row("CNN step" + suffix, net->parameters(),
           [&] { return cross_entropy_loss(net->forward(x), target); });
}

/// One block of a transformer.
struct BlockImpl : nn::Module {
  int64_t width, heads;
  nn::Linear qkv, out, up, down;
  nn::LayerNorm first, second;
  BlockImpl(int64_t width_, int64_t heads_)
      : width(width_),
        heads(heads_),
        qkv(register_module("qkv", nn::Linear(width, 3 * width))),
        out(register_module("out", nn::Linear(width, width))),
        up(register_module("up", nn::Linear(width, 4 * width))),
        down(register_module("down", nn::Linear(4 * width, width))),
        first(register_module("first", nn::LayerNorm(nn::LayerNormOptions({width})))),
        second(register_module("second", nn::LayerNorm(nn::LayerNormOptions({width})))) {}
  Tensor forward(const Tensor& x) {
    const int64_t n = x.size(0), length = x.size(1);
    const Tensor qkv_heads =
        qkv(first(x)).view({n, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
    const Tensor mixed =
        attention(qkv_heads.select(0, 0), qkv_heads.select(0, 1), qkv_heads.select(0, 2));
    const Tensor y = x + out(mixed.transpose(1, 2).reshape({n, length, width}));
    return y + down(gelu(up(second(y))));
  }
};
HEARTH_MODULE(Block);

void transformer_step(const std::string& suffix) {
  const int64_t n = size(8, 4), length = size(512, 16), width = size(768, 12), words = size(50257);
  nn::Embedding table(words, width);
  nn::Sequential blocks(Block(width, size(12, 6)), Block(width, size(12, 6)));
  nn::Linear head(width, words);
  for (nn::Module* module :
       {static_cast<nn::Module*>(table.get()), static_cast<nn::Module*>(blocks.get()),
        static_cast<nn::Module*>(head.get())})
    module->to(kCUDA);
  std::vector<Tensor> parameters = table->parameters();
  for (const auto& more : {blocks->parameters(), head->parameters()})
    parameters.insert(parameters.end(), more.begin(), more.end());
  const Tensor ids = random_indices(words, {n, length}),
               target = random_indices(words, {n * length});
  step_row("transformer step" + suffix, parameters, [&] {
    return cross_entropy_loss(head(blocks->forward(table(ids))).flatten(0, 1), target);
  });
}

void steps(ScalarType dtype, const std::string& suffix) {
  const AutocastMode autocast(kCUDA, kBFloat16, dtype == kBFloat16);
  mlp_step(suffix);
  cnn_step(suffix);
  transformer_step(suffix);
}

struct Group {
  const char* name;
  void (*run)(ScalarType, const std::string&);
  bool has_bfloat16;  // runs in bfloat16 after float32
};
constexpr Group kGroups[] = {{"pointwise", pointwise, true},
                             {"reductions", reductions, true},
                             {"products", products, true},
                             {"layers", layers, true},
                             {"convolutions", convolutions, true},
                             {"attention", attention_rows, true},
                             {"order", order, false},
                             {"small", small, false},
                             {"optimizers", optimizers, false},
                             {"steps", steps, true}};

void run_group(const Group& group) {
  for (const ScalarType dtype : {kFloat, kBFloat16}) {
    if (dtype == kBFloat16 && !group.has_bfloat16) continue;
    try {
      group.run(dtype, dtype == kFloat ? "" : ", bfloat16");
    } catch (const std::exception& error) {  // from building the inputs, outside report()
      std::printf("%s\tfailed: %s\n", group.name, error.what());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  if (!wanted.empty() && wanted[0] == "--groups") {
    for (const Group& group : kGroups) std::printf("%s\n", group.name);
    return 0;
  }
  if (!cuda::is_available()) {
    std::fprintf(stderr, "no GPU: %s\n", cuda::why_not().c_str());
    return 1;
  }
  for (const Group& group : kGroups)
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), group.name) != wanted.end())
      run_group(group);
}
