#include "measurements.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <new>

#include "hearth/cuda.h"
#include "hearth/generator.h"
#include "hearth/operators.h"
#include "names.h"
#include "train/models.h"
#include "train/optimizers.h"

namespace hearth::app {

namespace {

using Kind = Measurement::Kind;
using Work = std::function<void()>;

void announce(const std::string& text) {
  if (isatty(STDERR_FILENO)) std::cerr << "\r\033[K" << text << std::flush;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  return (a - b).abs().max().item<double>();
}

/// Runs one measurement and stores its times and difference.
class Bench {
 public:
  Bench(Measurement& result, std::optional<Device> gpu) : result_(result), gpu_(gpu) {}

  void run() {
    // The first call initialises the libraries, which must not be measured.
    if (gpu_) matmul(ones({64, 64}, *gpu_), ones({64, 64}, *gpu_));
    switch (result_.kind) {
      case Kind::kMatmul: return multiply();
      case Kind::kRows: return transfer_rows();
      case Kind::kTransfers: return transfer_repeatedly();
      case Kind::kTraining: return train();
    }
  }

 private:
  void synchronize() const {
    if (gpu_) cuda::synchronize(gpu_->index());
  }

  /// The time of one call, including the device's work.
  double seconds_of_call(const Work& work) const {
    synchronize();
    const auto start = std::chrono::steady_clock::now();
    work();
    synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// The shortest time of one call; calls are repeated for half a second.
  double shortest_seconds(const Work& work) const {
    double best = seconds_of_call(work);
    for (double total = best; total < 0.5;) {
      const double seconds = seconds_of_call(work);
      best = std::min(best, seconds);
      total += seconds;
    }
    return best;
  }

  Tensor random_square() const { return randn({result_.size, result_.size}); }

  void multiply() {
    const Tensor a = random_square(), b = random_square();
    Tensor on_cpu, on_gpu;
    result_.baseline.seconds = shortest_seconds([&] { on_cpu = matmul(a, b); });
    if (!gpu_) return;
    const Tensor a_on_gpu = a.to(*gpu_), b_on_gpu = b.to(*gpu_);
    result_.alternative->seconds = shortest_seconds([&] { on_gpu = matmul(a_on_gpu, b_on_gpu); });
    result_.difference = largest_difference(on_gpu.cpu(), on_cpu);
  }

  /// Transfers a matrix row by row and as a whole.
  void transfer_rows() {
    const Tensor x = random_square();
    std::vector<Tensor> rows(static_cast<size_t>(result_.size));
    Tensor whole;
    result_.baseline.seconds = shortest_seconds([&] {
      for (int64_t i = 0; i < result_.size; ++i) rows[size_t(i)] = x[i].to(*gpu_);
    });
    result_.alternative->seconds = shortest_seconds([&] { whole = x.to(*gpu_); });
    result_.difference = largest_difference(whole, stack(rows));
  }

  /// Multiplies a matrix on the GPU by a scalar many times, with transfers each time and only once.
  void transfer_repeatedly() {
    const Tensor x = random_square();
    const double factor = 1.01;
    Tensor moved_each_time, moved_once;
    result_.baseline.seconds = shortest_seconds([&] {
      moved_each_time = x;
      for (int64_t i = 0; i < result_.repetitions; ++i)
        moved_each_time = (moved_each_time.to(*gpu_) * factor).cpu();
    });
    result_.alternative->seconds = shortest_seconds([&] {
      moved_once = x.to(*gpu_);
      for (int64_t i = 0; i < result_.repetitions; ++i) moved_once = moved_once * factor;
      moved_once = moved_once.cpu();
    });
    result_.difference = largest_difference(moved_once, moved_each_time);
  }

  struct TrainingResult {
    double seconds, loss;
  };

  /// Trains the tutorials' network on random images.
  TrainingResult train_on(Device device) const {
    manual_seed(0);
    nn::AnyModule network = make_model("tutorial-cnn", {1, 28, 28}, 10);
    network.ptr()->to(device);
    const auto optimizer = make_optimizer("adam", network.ptr()->parameters(), 0.01);
    manual_seed(1);
    const Tensor images = randn({result_.size, 1, 28, 28}).to(device);
    const Tensor labels = randint(10, {result_.size}, kLong).to(device);
    Tensor loss;
    const auto step = [&] {
      loss = nn::functional::cross_entropy(network.forward(images), labels);
      optimizer->zero_grad();
      loss.backward();
      optimizer->step();
    };
    step();
    const double seconds = seconds_of_call([&] {
      for (int64_t i = 0; i < result_.repetitions; ++i) step();
    });
    return {seconds, loss.item<double>()};
  }

  void train() {
    const TrainingResult on_cpu = train_on(Device(DeviceType::CPU));
    result_.baseline.seconds = on_cpu.seconds;
    if (!gpu_) return;
    const TrainingResult on_gpu = train_on(*gpu_);
    result_.alternative->seconds = on_gpu.seconds;
    result_.difference = std::fabs(on_gpu.loss - on_cpu.loss);
  }

  Measurement& result_;
  std::optional<Device> gpu_;
};

}  // namespace

std::string kind_name(const Measurement& measurement) {
  switch (measurement.kind) {
    case Kind::kMatmul: return "matmul";
    case Kind::kRows: return "rows";
    case Kind::kTransfers: return "transfers";
    case Kind::kTraining: return "training";
  }
  return "";
}

std::string title(const Measurement& measurement) {
  const std::string size = std::to_string(measurement.size), sizes = size + " x " + size;
  const int64_t times = measurement.repetitions;
  switch (measurement.kind) {
    case Kind::kMatmul: return "matmul of " + sizes;
    case Kind::kRows: return "move " + sizes + " to the GPU";
    case Kind::kTransfers: return "scale " + sizes + ", " + counted(times, "time");
    case Kind::kTraining: return counted(times, "training step") + ", CNN, batch " + size;
  }
  return "";
}

std::vector<Measurement> planned(const BenchOptions& options, std::optional<Device> gpu) {
  std::vector<Measurement> measurements;
  const auto add = [&](Kind kind, int64_t size, int64_t times, const char* baseline,
                       const std::string& alternative) {
    measurements.push_back({kind, size, times, {baseline}, {}, {}, {}});
    if (gpu) measurements.back().alternative = Measurement::Way{alternative};
  };
  const std::string gpu_name = gpu ? gpu->str() : "";
  for (const int64_t size : options.sizes) add(Kind::kMatmul, size, 1, "cpu", gpu_name);
  if (gpu) {
    add(Kind::kRows, options.transfer_size, 1, "row by row", "whole");
    add(Kind::kTransfers, 1000, options.repeats, "moved each time", "moved once");
  }
  add(Kind::kTraining, 1000, options.steps, "cpu", gpu_name);
  return measurements;
}

void measure(Measurement& measurement, std::optional<Device> gpu) {
  announce("measuring " + title(measurement) + " ...");
  try {
    Bench(measurement, gpu).run();
  } catch (const std::bad_alloc&) {
    measurement.error = "out of memory";
  } catch (const std::exception& error) {
    measurement.error = error.what();
  }
  announce("");
}

}  // namespace hearth::app
