#include <cstdio>
#include <string>

#include "bench/measure.h"
#include "core/cpu_allocator.h"
#include "hearth/amp.h"
#include "hearth/hearth.h"
#include "hearth/utils/checkpoint.h"

// The memory and time of a step of 24 Transformer layers, plain and with each layer checkpointed,
// and the time of a step with a GradScaler. Prints ratios beside the limits that they should keep.
//
//     kernels_large_models [device]

namespace {

using namespace hearth;

constexpr int kLayers = 24, kWidth = 256, kHeads = 4, kBatch = 8, kLength = 128;

MemoryStat allocated(Device device) {
  return (device.is_cuda() ? cuda::memory_stats() : cpu_memory_stats()).allocated_bytes;
}
void reset_peak(Device device) {
  return device.is_cuda() ? cuda::reset_peak_memory_stats() : cpu_reset_peak_stats();
}

struct Model {
  explicit Model(Device where) : device(where) {
    nn::TransformerEncoderLayerOptions options(kWidth, kHeads);
    options.dim_feedforward(4 * kWidth).dropout(0.1);
    for (int i = 0; i < kLayers; ++i) layers->push_back(nn::TransformerEncoderLayer(options));
    layers->to(device);
    for (const auto& layer : *layers) calls.push_back(layer->as<nn::TransformerEncoderLayer>());
  }
  Tensor forward(Tensor x, bool checkpointed) const {
    for (nn::TransformerEncoderLayerImpl* layer : calls) {
      const auto call = [layer](const Tensor& input) { return layer->forward(input); };
      x = checkpointed ? utils::checkpoint(call, x) : call(x);
    }
    return x.pow(2).mean();
  }
  Device device;
  nn::ModuleList layers;
  std::vector<nn::TransformerEncoderLayerImpl*> calls;
};

struct Result {
  double activations;  // MB that a forward pass adds
  double peak;         // MB that a step adds to weights and gradients at most
  double best;         // microseconds
};

Result run(const Model& model, bool checkpointed) {
  const Tensor x = rand({kBatch, kLength, kWidth}, model.device);
  const auto wait = [&] {
    if (model.device.is_cuda()) cuda::synchronize();
  };
  const auto step = [&] {
    model.forward(x, checkpointed).backward();
    wait();
  };
  step();  // allocates the gradients
  Result result;
  const int64_t before = allocated(model.device).current;
  reset_peak(model.device);
  {
    const Tensor loss = model.forward(x, checkpointed);
    result.activations = double(allocated(model.device).current - before) / 1e6;
    loss.backward();
  }
  wait();
  result.peak = double(allocated(model.device).peak - before) / 1e6;
  result.best = measure(step).best;
  return result;
}

void scaler_cost(Model& model) {
  optim::SGD optimizer(model.layers->parameters(), optim::SGDOptions(1e-4));
  amp::GradScaler scaler(model.device);
  const Tensor x = rand({kBatch, kLength, kWidth}, model.device);
  const auto loss = [&] {
    optimizer.zero_grad();
    return model.forward(x, false);
  };
  const Times plain = measure([&] {
    loss().backward();
    optimizer.step();
    if (model.device.is_cuda()) cuda::synchronize();
  });
  const Times scaled = measure([&] {
    scaler.scale(loss()).backward();
    scaler.step(optimizer);
    scaler.update();
    if (model.device.is_cuda()) cuda::synchronize();
  });
  std::printf("GradScaler: step %.1f ms, without %.1f ms, %+.1f %% (limit +3 %%)\n",
              scaled.best / 1e3, plain.best / 1e3, 100 * (scaled.best / plain.best - 1));
}

}  // namespace

int main(int argc, char** argv) {
  Model model(argc > 1 ? Device(std::string(argv[1])) : Device(kCPU));
  const Result plain = run(model, false), checkpointed = run(model, true);
  std::printf("plain: activations %.1f MB, peak %.1f MB, step %.1f ms\n", plain.activations,
              plain.peak, plain.best / 1e3);
  std::printf("checkpointed: activations %.1f MB, peak %.1f MB, step %.1f ms\n",
              checkpointed.activations, checkpointed.peak, checkpointed.best / 1e3);
  std::printf("activations 1/%.1f, peak 1/%.1f (limit 1/6), step %.2f times (limit 1.35)\n",
              plain.activations / checkpointed.activations, plain.peak / checkpointed.peak,
              checkpointed.best / plain.best);
  scaler_cost(model);
}
