// Several simulated GPUs in one process: what DataParallel costs the host, whether it is ever
// slower than one device, and the time that a pipeline's stages wait, beside the theory.
#include <cstdio>
#include <cstdlib>

#include "bench/measure.h"
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

/// Microseconds of a training step without the optimizer.
template <class Model>
double step_time(Model& model, const Tensor& x) {
  return measure([&] {
           model->zero_grad();
           model->forward(x).sum().backward();
           synchronize();
         })
      .median;
}

/// The halves of a batch on two devices by two modules that know nothing of each other.
double time_of_halves(const nn::Sequential& net, const Tensor& x) {
  nn::Sequential modules[2] = {
      net, nn::Sequential(std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone(kSecond)))};
  const std::vector<Tensor> parts = nn::parallel::scatter(x, {kFirst, kSecond});
  return measure([&] {
           Tensor results[2];
           for (int i = 0; i < 2; ++i) {
             modules[i]->zero_grad();
             results[i] = modules[i]->forward(parts[size_t(i)]).sum();
           }
           for (const Tensor& result : results) result.backward();
           synchronize();
         })
      .median;
}

/// 50 layers have 100 parameters.
void data_parallel(const char* name, int64_t width, int64_t rows) {
  nn::Sequential net = layers(50, width);
  net->to(kFirst);
  nn::DataParallel model(net);
  const Tensor x = randn({rows, width}, kFirst);
  const double one = step_time(net, x), both = step_time(model, x);
  const double halves = time_of_halves(net, x);
  std::printf("%-26s one device %7.0f us, two %7.0f us, of which DataParallel's own %6.0f us\n",
              name, one, both, both - halves);
}

/// The forwards of equal stages. The theory is that of stages that never wait for the host.
void pipeline(int64_t chunks) {
  constexpr int64_t kStages = 2, kWidth = 384, kRows = 64;
  nn::Pipeline model(layers(16, kWidth), nn::PipelineOptions({kFirst, kSecond}).chunks(chunks));
  nn::Sequential stage = layers(8, kWidth);
  stage->to(kFirst);
  const NoGradGuard no_grad;
  const Tensor x = randn({kRows * chunks, kWidth}, kFirst), part = randn({kRows, kWidth}, kFirst);
  const double busy = static_cast<double>(chunks) * measure([&] {
                                                      for (int i = 0; i < 8; ++i)
                                                        stage->forward(part);
                                                      synchronize();
                                                    }).median /
                      8;
  const double total = measure([&] {
                         model->forward(x);
                         synchronize();
                       }).median;
  std::printf("pipeline, %2d micro-batches     waits %5.1f %% of the time, in theory %5.1f %%\n",
              static_cast<int>(chunks), 100 * (1 - busy / total),
              100. * (kStages - 1) / static_cast<double>(chunks + kStages - 1));
}

}  // namespace

int main() {
  setenv("HEARTH_SIM_GPUS", "2", /*overwrite=*/0);
  set_num_threads(1);
  data_parallel("100 small parameters", 16, 8);
  data_parallel("100 parameters, 1024 rows", 128, 1024);
  for (const int64_t chunks : {1, 2, 4, 8, 16}) pipeline(chunks);
}
