#include "hearth/optim/optim.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hearth/hearth.h"

// Times one step of each optimizer but Muon, and the clipping of gradients, over the parameters of
// ResNet-50 and over 200 small tensors; LBFGS trains a small network instead, and its vector
// operations are timed alone. peer/optim.sh compares the times with PyTorch's. Prints "name best
// median" in microseconds. The argument is the number of threads, by default 1.

namespace {

using hearth::Tensor;
using Tensors = std::vector<Tensor>;
using namespace hearth::optim;

void add(Tensors& params, hearth::IntArrayRef sizes) {
  params.push_back(hearth::randn(sizes).requires_grad_());
  params.back().mutable_grad() = hearth::randn(sizes);
}

void add_convolution(Tensors& params, int64_t in, int64_t out, int64_t kernel) {
  add(params, {out, in, kernel, kernel});
  add(params, {out});
  add(params, {out});
}

/// The parameters of ResNet-50: 161 tensors, 25.6 million elements.
Tensors resnet50() {
  Tensors params;
  add_convolution(params, 3, 64, 7);
  int64_t in = 64, width = 64;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int block = 0; block < blocks; ++block, in = 4 * width) {
      add_convolution(params, in, width, 1);
      add_convolution(params, width, width, 3);
      add_convolution(params, width, 4 * width, 1);
      if (block == 0) add_convolution(params, in, 4 * width, 1);
    }
    width *= 2;
  }
  add(params, {1000, 2048});
  add(params, {1000});
  return params;
}

Tensors small_tensors() {
  Tensors params;
  for (int i = 0; i < 100; ++i) {
    add(params, {16, 16});
    add(params, {16});
  }
  return params;
}

double microseconds_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::micro>(end - start).count();
}

void report(const std::string& name, const std::function<void()>& call, int rounds) {
  for (int i = 0; i < 3; ++i) microseconds_of(call);
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) times.push_back(microseconds_of(call));
  std::sort(times.begin(), times.end());
  std::printf("%-16s %10.1f %10.1f\n", name.c_str(), times.front(), times[times.size() / 2]);
}

void report_all(const std::string& prefix, const Tensors& params, int rounds) {
  const auto run = [&](const char* name, std::unique_ptr<Optimizer> optimizer) {
    report(
        prefix + "_" + name, [&] { optimizer->step(); }, rounds);
  };
  run("sgd", std::make_unique<SGD>(params, SGDOptions(1e-6)));
  run("momentum", std::make_unique<SGD>(params, SGDOptions(1e-6).momentum(0.9).weight_decay(1e-4)));
  run("adam", std::make_unique<Adam>(params, AdamOptions(1e-6)));
  run("adamw", std::make_unique<AdamW>(params, AdamWOptions(1e-6)));
  run("rmsprop", std::make_unique<RMSprop>(params, RMSpropOptions(1e-6)));
  run("adagrad", std::make_unique<Adagrad>(params, AdagradOptions(1e-6)));
  run("nadam", std::make_unique<NAdam>(params, NAdamOptions(1e-6)));
  run("radam", std::make_unique<RAdam>(params, RAdamOptions(1e-6)));
  run("adamax", std::make_unique<Adamax>(params, AdamaxOptions(1e-6)));
  run("adadelta", std::make_unique<Adadelta>(params, AdadeltaOptions(1e-6)));
  run("asgd", std::make_unique<ASGD>(params, ASGDOptions(1e-6)));
  run("rprop", std::make_unique<Rprop>(params, RpropOptions(1e-6)));
  run("adafactor", std::make_unique<Adafactor>(params, AdafactorOptions(1e-6)));
  report(
      prefix + "_clip_norm", [&] { hearth::nn::utils::clip_grad_norm_(params, 1e9); }, rounds);
}

/// Times L-BFGS on two layers, 256 -> 256 -> 10, and 128 examples; one step has up to 20
/// iterations.
void report_lbfgs(const char* name, const LBFGSOptions& options) {
  hearth::manual_seed(0);
  hearth::nn::Sequential net(hearth::nn::Linear(256, 256), hearth::nn::Tanh(),
                             hearth::nn::Linear(256, 10));
  const Tensor x = hearth::randn({128, 256}), y = hearth::randn({128, 10});
  LBFGS optimizer(net->parameters(), options);
  const auto step = [&] {
    optimizer.step([&] {
      optimizer.zero_grad();
      const Tensor loss = hearth::mse_loss(net->forward(x), y);
      loss.backward();
      return loss;
    });
  };
  report(name, step, 15);
}

/// Times only the vector operations of L-BFGS: the gradients of a million parameters cost next to
/// nothing.
void report_lbfgs_vectors() {
  const Tensor param = hearth::zeros({1'000'000}).requires_grad_();
  param.mutable_grad() = hearth::randn({1'000'000});
  const Tensor loss = hearth::ones({});
  LBFGS optimizer({param}, LBFGSOptions(1e-3).history_size(10).tolerance_change(-1));
  const auto closure = [&] {
    const hearth::NoGradGuard no_grad;
    param.mutable_grad().mul_(0.99);
    return loss;
  };
  report(
      "lbfgs_vectors", [&] { optimizer.step(closure); }, 15);
}

}  // namespace

int main(int argc, char** argv) {
  hearth::set_num_threads(argc > 1 ? std::stoi(argv[1]) : 1);
  report_all("resnet50", resnet50(), 15);
  report_all("small", small_tensors(), 300);
  report_lbfgs("lbfgs", LBFGSOptions());
  report_lbfgs("lbfgs_wolfe", LBFGSOptions().line_search_fn("strong_wolfe"));
  report_lbfgs_vectors();
}
