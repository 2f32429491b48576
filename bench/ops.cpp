#include <torch/torch.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "measure.h"

// Times operators on 16 million elements, on a million, and on typical sizes. Written against
// LibTorch's interface, so that compare.py can compile the same file against LibTorch. Prints
// "name best median" in microseconds and, for memory-bound operators, the bandwidth as a percentage
// of copy_'s if that row is measured too. The arguments are the names of the rows to measure, by
// default all.

namespace {

constexpr int64_t kElements = int64_t{1} << 24;

double copy_speed = 0;  // bytes per microsecond; 0 if copy_ is not measured

/// `arrays`: the number of arrays of kElements floats read and written; 0: prints no bandwidth.
void report(const char* name, double arrays, const std::function<void()>& call) {
  if (!is_selected(name)) return;
  const Times times = measure(call);
  const double speed = arrays * double(kElements) * sizeof(float) / times.best;
  if (std::string(name) == "copy_") copy_speed = speed;
  std::printf("%-22s %10.1f %10.1f", name, times.best, times.median);
  if (arrays > 0 && copy_speed > 0) std::printf("  %3.0f %% of copy_", 100 * speed / copy_speed);
  std::printf("\n");
  std::fflush(stdout);
}

void memory_bound(const torch::Tensor& x, const torch::Tensor& y, torch::Tensor& out) {
  report("copy_", 2, [&] { out.copy_(x); });
  report("add", 3, [&] { torch::add_out(out, x, y); });
  report("add_new", 3, [&] { torch::add(x, y); });
  report("exp", 2, [&] { torch::exp_out(out, x); });
  report("gelu", 2, [&] { torch::gelu_out(out, x); });
  report("tanh", 2, [&] { torch::tanh_out(out, x); });
  report("sigmoid", 2, [&] { torch::sigmoid_out(out, x); });
  report("where", 4.5, [&] { torch::where(x > 0, x, y); });
  report("sum", 1, [&] { x.sum(); });
  report("max", 1, [&] { x.max(); });
  const auto rows = x.view({4096, 4096});
  report("sum_rows", 1, [&] { rows.sum(1); });
  report("sum_columns", 1, [&] { rows.sum(0); });
  report("var_rows", 1, [&] { rows.var(1); });
  report("softmax", 2, [&] { rows.softmax(1); });
  report("cumsum", 2, [&] { rows.cumsum(1); });
  report("cumsum_columns", 2, [&] { rows.cumsum(0); });
  report("transpose", 2, [&] { rows.t().contiguous(); });
  report("cat", 2, [&] { torch::cat({rows.slice(0, 0, 2048), rows.slice(0, 2048)}, 1); });
}

void order_and_index(const torch::Tensor& x) {
  const auto part = x.slice(0, 0, kElements / 8);
  const auto rows = part.view({2048, 1024});
  const auto index = torch::randint(part.numel(), {part.numel()}, torch::kLong);
  auto out = torch::zeros({part.numel()});
  report("sort", 0, [&] { part.sort(); });
  report("sort_rows", 0, [&] { rows.sort(1); });
  report("topk_rows", 0, [&] { rows.topk(10, 1); });
  report("unique", 0, [&] { torch::_unique2(index); });
  report("gather", 0, [&] { part.gather(0, index); });
  report("scatter_add", 0, [&] { out.scatter_add_(0, index, part); });
  report("index_select", 0, [&] { rows.index_select(0, index.slice(0, 0, 2048).remainder(2048)); });
  report("masked_select", 0, [&] { part.masked_select(part > 0); });
}

/// A million elements, which fit into the caches of two cores.
void million() {
  constexpr int64_t kMillion = 1'000'000;
  const auto x = torch::randn({kMillion}), y = torch::randn({kMillion});
  const auto index = torch::randint(kMillion, {kMillion}, torch::kLong);
  auto table = torch::zeros({kMillion});
  report("add_1m", 0, [&] { torch::add(x, y); });
  report("relu_1m", 0, [&] { torch::relu(x); });
  report("gelu_1m", 0, [&] { torch::gelu(x); });
  report("sum_1m", 0, [&] { x.sum(); });
  report("cumsum_1m", 0, [&] { x.cumsum(0); });
  report("sort_1m", 0, [&] { x.sort(); });
  report("topk_1m", 0, [&] { x.topk(100); });
  report("gather_1m", 0, [&] { x.gather(0, index); });
  report("index_1m", 0, [&] { x.index({index}); });
  report("scatter_add_1m", 0, [&] { table.scatter_add_(0, index, x); });
  report("randn_1m", 0, [&] { torch::randn({kMillion}); });
}

void products() {
  const auto square = torch::randn({1024, 1024});
  report("mm", 0, [&] { torch::mm(square, square); });
  const auto odd = torch::randn({1000, 1000});
  report("mm_1000", 0, [&] { torch::mm(odd, odd); });
  for (const int64_t n : {16, 64, 256, 1000, 4000}) {
    const auto bf16 = torch::randn({n, n}).to(torch::kBFloat16);
    report(("mm_bf16_" + std::to_string(n)).c_str(), 0, [&] { torch::mm(bf16, bf16); });
  }
  // The terms of one sum lie 4 KiB apart, so that they share cache sets.
  const auto rows = torch::randn({2048, 256}), pages = torch::randn({256, 1024});
  report("mm_pages", 0, [&] { torch::mm(rows, pages); });
}

void layers(const torch::Tensor& x) {
  const auto images = x.slice(0, 0, 64 * 32 * 32 * 32).view({64, 32, 32, 32});
  const auto weight = torch::randn({64, 32, 3, 3});
  report("conv2d", 0, [&] { torch::conv2d(images, weight, {}, 1, 1); });
  report("max_pool2d", 0, [&] { torch::max_pool2d(images, 2); });
  // The pooling of ResNet-18, in both memory orders.
  const auto padded = x.slice(0, 0, 8 * 64 * 112 * 112).view({8, 64, 112, 112});
  report("max_pool2d_padded", 0, [&] { torch::max_pool2d(padded, 3, 2, 1); });
  const auto padded_last = padded.contiguous(torch::MemoryFormat::ChannelsLast);
  report("max_pool2d_last", 0, [&] { torch::max_pool2d(padded_last, 3, 2, 1); });
  const auto rows = x.view({-1, 512});
  const auto scale = torch::ones({512});
  report("layer_norm", 2, [&] { torch::layer_norm(rows, {512}, scale, scale); });
  const auto scores = x.view({-1, 1024});
  const auto labels = torch::randint(1024, {scores.size(0)}, torch::kLong);
  report("cross_entropy", 1, [&] { torch::cross_entropy_loss(scores, labels); });
  report("embedding", 1, [&] { torch::embedding(scores, labels); });
}

void images() {
  auto x = torch::randn({8, 3, 224, 224});
  const auto grid = torch::rand({8, 256, 256, 2}) * 2 - 1;
  const std::vector<int64_t> size{512, 512};
  report("upsample_nearest", 0, [&] { torch::upsample_nearest2d(x, size); });
  report("upsample_bilinear", 0, [&] { torch::upsample_bilinear2d(x, size, false); });
  report("upsample_bicubic", 0, [&] { torch::upsample_bicubic2d(x, size, false); });
  report("grid_sampler", 0, [&] { torch::grid_sampler(x, grid, 0, 0, false); });
  const auto last = x.contiguous(torch::MemoryFormat::ChannelsLast);
  report("upsample_bilinear_last", 0, [&] { torch::upsample_bilinear2d(last, size, false); });
  const auto large = torch::randn({8, 3, 512, 512});
  report("upsample_antialias", 0, [&] {
    torch::_upsample_bilinear2d_aa(large, {224, 224}, false);
  });
  const torch::AutoGradMode on(true);
  x.requires_grad_();
  const auto back = [&](const torch::Tensor& y) { y.backward(large); };
  report("upsample_bilinear_step", 0, [&] { back(torch::upsample_bilinear2d(x, size, false)); });
  report("upsample_bicubic_step", 0, [&] { back(torch::upsample_bicubic2d(x, size, false)); });
}

void transforms() {
  const auto numbers = [](torch::IntArrayRef sizes) {
    return torch::complex(torch::randn(sizes), torch::randn(sizes));
  };
  const auto lines = numbers({64, 1024}), primes = numbers({32, 1009}),
             planes = numbers({8, 256, 256});
  const auto real_lines = torch::randn({64, 4096});
  report("fft", 0, [&] { torch::fft_fft(lines); });
  report("fft_prime", 0, [&] { torch::fft_fft(primes); });
  report("rfft", 0, [&] { torch::fft_rfft(real_lines); });
  report("fft2", 0, [&] { torch::fft_fft2(planes); });
  const auto spectra = torch::fft_rfft(real_lines);
  report("irfft", 0, [&] { torch::fft_irfft(spectra); });
}

void attention() {
  const auto query = torch::randn({4, 8, 1024, 64}), key = torch::randn({4, 8, 1024, 64}),
             value = torch::randn({4, 8, 1024, 64});
  const auto attend = [&](bool causal) {
    return torch::scaled_dot_product_attention(query, key, value, {}, 0.0, causal);
  };
  report("attention", 0, [&] { attend(false); });
  report("attention_causal", 0, [&] { attend(true); });
  const torch::AutoGradMode on(true);
  for (const auto& t : {query, key, value}) t.requires_grad_();
  report("attention_step", 0, [&] { attend(false).sum().backward(); });
}

void distances_bags_and_ctc_loss() {
  const auto table = torch::randn({100000, 128});
  const auto indices = torch::randint(100000, {4096 * 20}, torch::kLong);
  const auto offsets = torch::arange(0, 4096 * 20, 20, torch::kLong);
  const auto bags = [&](int64_t mode) {
    return std::get<0>(torch::embedding_bag(table, indices, offsets, false, mode));
  };
  report("bag_sum", 0, [&] { bags(0); });
  report("bag_mean", 0, [&] { bags(1); });
  report("bag_max", 0, [&] { bags(2); });
  const auto x = torch::randn({1000, 128}), y = torch::randn({1500, 128});
  report("cdist", 0, [&] { torch::cdist(x, y); });
  report("cdist_1", 0, [&] { torch::cdist(x, y, 1); });
  report("cdist_2", 0, [&] { torch::cdist(x, y, 2, 2); });
  report("pdist", 0, [&] { torch::pdist(x); });
  const auto scores = torch::randn({200, 32, 80});
  const auto targets = torch::randint(1, 80, {32, 50}, torch::kLong);
  const auto lengths = torch::full({32}, 200, torch::kLong);
  const auto target_lengths = torch::full({32}, 50, torch::kLong);
  const torch::AutoGradMode on(true);
  for (const auto& t : {table, x, scores}) t.requires_grad_();
  report("bag_step", 0, [&] { bags(0).sum().backward(); });
  report("cdist_step", 0, [&] { torch::cdist(x, y).sum().backward(); });
  report("cdist_1_step", 0, [&] { torch::cdist(x, y, 1).sum().backward(); });
  report("ctc_loss_step", 0, [&] {
    torch::ctc_loss(scores.log_softmax(2), targets, lengths, target_lengths).backward();
  });
}

}  // namespace

int main(int argc, char** argv) {
  select_rows(argc, argv);
  const torch::NoGradGuard no_grad;
  torch::manual_seed(0);
  const auto x = torch::randn({kElements}), y = torch::randn({kElements});
  auto out = torch::empty({kElements});
  memory_bound(x, y, out);
  order_and_index(x);
  million();
  products();
  layers(x);
  images();
  transforms();
  attention();
  distances_bags_and_ctc_loss();
}
