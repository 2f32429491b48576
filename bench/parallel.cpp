// Several simulated GPUs in one process: the cost of DataParallel on the host, whether DataParallel
// is ever slower than one device, and the time that a pipeline's stages wait, beside the theory.
#include <cstdio>
#include <cstdlib>

#include "bench/turns.h"
#include "hearth/hearth.h"
#include "hearth/nn/data_parallel.h"
#include "hearth/nn/pipeline.h"

namespace {

using namespace hearth;

const Device kFirst(DeviceType::CUDA, 0), kSecond(DeviceType::CUDA, 1);

void synchronize() {
  for (int i = 0; i < cuda::device_count(); ++i) cuda::synchronize(i);
}

nn::Sequential layers(int count, int64_t width) {
  nn::Sequential net;
  for (int i = 0; i < count; ++i) {
    net->push_back(nn::Linear(width, width));
    net->push_back(nn::Tanh());
  }
  return net;
}

/// A training step without the optimizer.
template <class Model>
void step(Model& model, const Tensor& x) {
  model->zero_grad();
  model->forward(x).sum().backward();
  synchronize();
}

/// Steps with the halves of a batch on two devices by two independent modules.
class Halves {
 public:
  Halves(const nn::Sequential& net, const Tensor& x)
      : modules_{net, nn::Sequential(
                          std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone(kSecond)))},
        parts_(nn::parallel::scatter(x, {kFirst, kSecond})) {}
  void step() {
    Tensor results[2];
    for (int i = 0; i < 2; ++i) {
      modules_[i]->zero_grad();
      results[i] = modules_[i]->forward(parts_[size_t(i)]).sum();
    }
    for (const Tensor& result : results) result.backward();
    synchronize();
  }

 private:
  nn::Sequential modules_[2];
  std::vector<Tensor> parts_;
};

/// Times a network with 100 parameter tensors: on one device, by a DataParallel that chooses the
/// number of devices, and by one that always divides the batch, which Halves does without
/// DataParallel's own work.
void data_parallel(int64_t width, int64_t rows) {
  nn::Sequential net = layers(50, width);
  net->to(kFirst);
  nn::DataParallel model(net), divided(net, nn::DataParallelOptions().min_rows(1));
  const Tensor x = randn({rows, width}, kFirst);
  Halves halves(net, x);
  const auto one = [&] { step(net, x); };
  const auto both = [&] { step(divided, x); };
  const Comparison chosen = compare(one, [&] { step(model, x); });
  const Comparison always = compare(one, both), own = compare([&] { halves.step(); }, both);
  std::printf(
      "width %3d, %4d rows: one device %7.0f us, DataParallel %.2f times, always two devices %.2f "
      "times, of which DataParallel's own %5.0f us\n",
      int(width), int(rows), chosen.first, chosen.ratio, always.ratio, own.second - own.first);
}

/// Compares the forwards of one stage alone with those of a pipeline of two equal stages. The
/// theory assumes that stages never wait for the host.
void pipeline(int64_t chunks) {
  constexpr int64_t kStages = 2, kWidth = 384, kRows = 64;
  nn::Pipeline model(layers(16, kWidth), nn::PipelineOptions({kFirst, kSecond}).chunks(chunks));
  nn::Sequential stage = layers(8, kWidth);
  stage->to(kFirst);
  const NoGradGuard no_grad;
  const Tensor x = randn({kRows * chunks, kWidth}, kFirst), part = randn({kRows, kWidth}, kFirst);
  const Comparison stage_and_pipeline = compare(
      [&] {
        for (int64_t i = 0; i < chunks; ++i) stage->forward(part);
        synchronize();
      },
      [&] {
        model->forward(x);
        synchronize();
      });
  std::printf("pipeline, %2d micro-batches     waits %5.1f %% of the time, in theory %5.1f %%\n",
              static_cast<int>(chunks), 100 * (1 - 1 / stage_and_pipeline.ratio),
              100. * (kStages - 1) / static_cast<double>(chunks + kStages - 1));
}

}  // namespace

int main() {
  setenv("HEARTH_SIM_GPUS", "2", /*overwrite=*/0);
  set_num_threads(1);
  set_warning_sink([](const std::string&) {});
  data_parallel(16, 8);
  // At these widths, DataParallel uses two devices from 256 rows on.
  for (const int64_t rows : {254, 256, 1024}) data_parallel(128, rows);
  for (const int64_t rows : {254, 256}) data_parallel(512, rows);
  for (const int64_t chunks : {1, 2, 4, 8, 16}) pipeline(chunks);
}
