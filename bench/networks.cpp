#include <torch/torch.h>

#include <cstdio>
#include <string>
#include <utility>

#include "measure.h"

// Times networks and their layers: "_step" is a forward and a backward pass, and for whole networks
// also the optimizer's step. Written against LibTorch's interface, so that compare.py can compile
// the same file against LibTorch. Prints "name best median" in microseconds. The arguments are the
// names of the rows to measure, by default all.

namespace {

namespace nn = torch::nn;
using torch::Tensor;

void report(const char* name, const std::function<void()>& call) {
  if (!is_selected(name)) return;
  const Times times = measure(call);
  std::printf("%s %.1f %.1f\n", name, times.best, times.median);
}

nn::Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

struct BlockImpl : nn::Module {
  BlockImpl(int64_t in, int64_t out, int64_t stride)
      : conv1(register_module("conv1", conv(in, out, 3, stride))),
        bn1(register_module("bn1", nn::BatchNorm2d(out))),
        conv2(register_module("conv2", conv(out, out, 3, 1))),
        bn2(register_module("bn2", nn::BatchNorm2d(out))) {
    if (stride == 1 && in == out) return;
    shortcut = register_module("shortcut", conv(in, out, 1, stride));
    bn = register_module("bn", nn::BatchNorm2d(out));
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = bn2(conv2(bn1(conv1(x)).relu_()));
    return (y + (shortcut ? bn(shortcut(x)) : x)).relu_();
  }

  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Conv2d shortcut{nullptr};
  nn::BatchNorm2d bn{nullptr};
};
TORCH_MODULE(Block);

nn::Sequential resnet18() {
  nn::Sequential net(conv(3, 64, 7, 2), nn::BatchNorm2d(64), nn::ReLU(nn::ReLUOptions(true)),
                     nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  int64_t in = 64;
  for (const int64_t out : {64, 128, 256, 512}) {
    net->push_back(Block(in, out, in == out ? 1 : 2));
    net->push_back(Block(out, out, 1));
    in = out;
  }
  net->push_back(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({1, 1})));
  net->push_back(nn::Flatten());
  net->push_back(nn::Linear(512, 1000));
  return net;
}

void resnet(const char* name, torch::MemoryFormat format) {
  nn::Sequential net = resnet18();
  for (Tensor& p : net->parameters())
    if (p.dim() == 4) p.set_data(p.contiguous(format));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  const Tensor x = torch::randn({8, 3, 224, 224}).contiguous(format);
  const Tensor target = torch::randint(1000, {8}, torch::kLong);
  report(name, [&] {
    optimizer.zero_grad();
    nn::functional::cross_entropy(net->forward(x), target).backward();
    optimizer.step();
  });
}

/// A block of ResNet-18 with 64 channels, in channels_last.
void residual_block() {
  Block block(64, 64, 1);
  for (Tensor& p : block->parameters())
    if (p.dim() == 4) p.set_data(p.contiguous(torch::MemoryFormat::ChannelsLast));
  const Tensor x = torch::randn({32, 64, 32, 32}).contiguous(torch::MemoryFormat::ChannelsLast);
  report("block_64_step", [&] { block(x).sum().backward(); });
}

/// A block of GPT-2: causal attention and a feedforward network, each after a norm.
struct DecoderBlockImpl : nn::Module {
  explicit DecoderBlockImpl(int64_t width)
      : ln_1(register_module("ln_1", nn::LayerNorm(nn::LayerNormOptions({width})))),
        attn(register_module("attn", nn::Linear(width, 3 * width))),
        proj(register_module("proj", nn::Linear(width, width))),
        ln_2(register_module("ln_2", nn::LayerNorm(nn::LayerNormOptions({width})))),
        fc(register_module("fc", nn::Linear(width, 4 * width))),
        out(register_module("out", nn::Linear(4 * width, width))) {}
  Tensor forward(const Tensor& x) {
    const auto qkv = attn(ln_1(x)).chunk(3, 2);
    const auto heads = [&](const Tensor& t) {
      return t.view({t.size(0), t.size(1), 12, t.size(2) / 12}).transpose(1, 2);
    };
    const Tensor mixed = torch::scaled_dot_product_attention(heads(qkv[0]), heads(qkv[1]),
                                                             heads(qkv[2]), {}, 0.0, true);
    const Tensor y = x + proj(mixed.transpose(1, 2).reshape(x.sizes()));
    return y + out(torch::gelu(fc(ln_2(y)), "tanh"));
  }

  nn::LayerNorm ln_1;
  nn::Linear attn, proj;
  nn::LayerNorm ln_2;
  nn::Linear fc, out;
};
TORCH_MODULE(DecoderBlock);

void transformers() {
  DecoderBlock block(768);
  const Tensor tokens = torch::randn({4, 256, 768});
  report("gpt2_block_step", [&] { block(tokens).sum().backward(); });
  nn::TransformerEncoderLayer layer(
      nn::TransformerEncoderLayerOptions(256, 8).dim_feedforward(1024).dropout(0));
  const Tensor x = torch::randn({128, 16, 256});
  report("encoder_layer_step", [&] { layer(x).sum().backward(); });
}

void recurrent() {
  const Tensor x = torch::randn({64, 32, 128});
  nn::LSTM lstm(nn::LSTMOptions(128, 256).num_layers(2));
  nn::GRU gru(nn::GRUOptions(128, 256).num_layers(2));
  report("lstm_step", [&] { std::get<0>(lstm(x)).sum().backward(); });
  report("gru_step", [&] { std::get<0>(gru(x)).sum().backward(); });
  const torch::NoGradGuard no_grad;
  report("lstm", [&] { lstm(x); });
  report("gru", [&] { gru(x); });
}

/// The network of the tutorials for images of 28x28 pixels.
nn::Sequential small_cnn() {
  nn::Sequential net;
  for (const auto& [in, out] : {std::pair<int64_t, int64_t>(1, 6), {6, 12}}) {
    net->push_back(nn::Conv2d(nn::Conv2dOptions(in, out, 5)));
    net->push_back(nn::ReLU());
    net->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(2)));
  }
  net->push_back(nn::Flatten());
  net->push_back(nn::Linear(192, 120));
  net->push_back(nn::ReLU());
  net->push_back(nn::Linear(120, 60));
  net->push_back(nn::ReLU());
  net->push_back(nn::Linear(60, 10));
  return net;
}

/// A network whose arithmetic takes less time than the overhead of its calls.
void simple_net() {
  nn::Sequential net(nn::Linear(100, 50), nn::ReLU(), nn::Linear(50, 10));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-3));
  const Tensor x = torch::randn({64, 100});
  const Tensor target = torch::randint(10, {64}, torch::kLong);
  report("simple_net_step", [&] {
    optimizer.zero_grad();
    nn::functional::cross_entropy(net->forward(x), target).backward();
    optimizer.step();
  });
}

void small_networks() {
  for (const int64_t batch : {100, 1000}) {
    nn::Sequential net = small_cnn();
    torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(0.01));
    const Tensor x = torch::randn({batch, 1, 28, 28});
    const Tensor target = torch::randint(10, {batch}, torch::kLong);
    const std::string name = "small_cnn_" + std::to_string(batch);
    report((name + "_step").c_str(), [&] {
      optimizer.zero_grad();
      nn::functional::cross_entropy(net->forward(x), target).backward();
      optimizer.step();
    });
    const torch::NoGradGuard no_grad;
    report(name.c_str(), [&] { net->forward(x); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  select_rows(argc, argv);
  torch::manual_seed(0);
  simple_net();
  small_networks();
  residual_block();
  resnet("resnet18_step", torch::MemoryFormat::Contiguous);
  resnet("resnet18_step_channels_last", torch::MemoryFormat::ChannelsLast);
  transformers();
  recurrent();
}
