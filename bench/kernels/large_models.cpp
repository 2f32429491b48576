#include <cstdio>
#include <string>
#include <vector>

#include "bench/turns.h"
#include "core/cpu_allocator.h"
#include "hearth/amp.h"
#include "hearth/hearth.h"
#include "hearth/utils/checkpoint.h"

// The memory and time of a step of 24 Transformer layers, plain and with each layer checkpointed,
// and the time of a step with a GradScaler. Prints the medians of calls made in turns, and their
// ratios beside the limits.
//
//     bench_kernels_large_models [device]

namespace {

using namespace hearth;

constexpr int kLayers = 24, kWidth = 128, kHeads = 4, kBatch = 8, kLength = 128;

MemoryStat allocated(Device device) {
  return (device.is_cuda() ? cuda::memory_stats() : cpu_memory_stats()).allocated_bytes;
}
void reset_peak(Device device) {
  return device.is_cuda() ? cuda::reset_peak_memory_stats() : cpu_reset_peak_stats();
}

struct Model {
  Model(Device where, double dropout) : device(where) {
    nn::TransformerEncoderLayerOptions options(kWidth, kHeads);
    options.dim_feedforward(4 * kWidth).dropout(dropout);
    for (int i = 0; i < kLayers; ++i) layers->push_back(nn::TransformerEncoderLayer(options));
    layers->to(device);
    for (const auto& layer : *layers)
      layer_impls.push_back(layer->as<nn::TransformerEncoderLayer>());
  }
  Tensor forward(Tensor x, bool checkpointed) const {
    for (nn::TransformerEncoderLayerImpl* layer : layer_impls) {
      const auto call = [layer](const Tensor& input) { return layer->forward(input); };
      x = checkpointed ? utils::checkpoint(call, x) : call(x);
    }
    return x.pow(2).mean();
  }
  void wait() const {
    if (device.is_cuda()) cuda::synchronize();
  }
  Device device;
  nn::ModuleList layers;
  std::vector<nn::TransformerEncoderLayerImpl*> layer_impls;
};

/// Megabytes that a forward pass adds, and that a step adds to weights and gradients at most.
struct Memory {
  double activations, peak;
};

/// A step with loss and gradients, without an optimizer.
void step(const Model& model, const Tensor& x, bool checkpointed) {
  model.forward(x, checkpointed).backward();
  model.wait();
}

Memory memory_of_step(const Model& model, const Tensor& x, bool checkpointed) {
  step(model, x, checkpointed);  // allocates the gradients
  const int64_t before = allocated(model.device).current;
  const auto added = [&](int64_t bytes) { return double(bytes - before) / 1e6; };
  reset_peak(model.device);
  const Tensor loss = model.forward(x, checkpointed);
  const double activations = added(allocated(model.device).current);
  loss.backward();
  model.wait();
  return {activations, added(allocated(model.device).peak)};
}

void checkpointing(const Model& model, const Tensor& x) {
  const Memory plain = memory_of_step(model, x, false),
               checkpointed = memory_of_step(model, x, true);
  const auto [without, with, ratio] =
      compare([&] { step(model, x, false); }, [&] { step(model, x, true); });
  std::printf("plain: activations %.1f MB, peak %.1f MB, step %.1f ms\n", plain.activations,
              plain.peak, without / 1e3);
  std::printf("checkpointed: activations %.1f MB, peak %.1f MB, step %.1f ms\n",
              checkpointed.activations, checkpointed.peak, with / 1e3);
  std::printf("activations 1/%.1f, peak 1/%.1f (limit 1/6), step %.2f times (limit 1.35)\n",
              plain.activations / checkpointed.activations, plain.peak / checkpointed.peak, ratio);
}

void scaling(const Model& model, const Tensor& x) {
  optim::SGD optimizer(model.layers->parameters(), optim::SGDOptions(1e-4));
  amp::GradScaler scaler(model.device);
  const auto loss = [&] {
    optimizer.zero_grad();
    return model.forward(x, false);
  };
  const auto [plain, scaled, ratio] = compare(
      [&] {
        loss().backward();
        optimizer.step();
        model.wait();
      },
      [&] {
        scaler.scale(loss()).backward();
        scaler.step(optimizer);
        scaler.update();
        model.wait();
      });
  std::printf("GradScaler: step %.1f ms, without %.1f ms, %+.1f %% (limit +3 %%)\n", scaled / 1e3,
              plain / 1e3, 100 * (ratio - 1));
}

}  // namespace

int main(int argc, char** argv) {
  const Device device = argc > 1 ? Device(std::string(argv[1])) : Device(kCPU);
  const Tensor x = rand({kBatch, kLength, kWidth}, device);
  for (const double dropout : {0.0, 0.1}) {
    std::printf("dropout %.1f\n", dropout);
    const Model model(device, dropout);
    checkpointing(model, x);
    if (dropout == 0) scaling(model, x);
  }
}
