#include "measurements.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>

#include "hearth/cuda.h"
#include "hearth/generator.h"
#include "hearth/operators.h"
#include "train/models.h"
#include "train/optimizers.h"

namespace hearth::app {

namespace {

class Bench {
 public:
  Bench(const BenchOptions& options, std::optional<Device> gpu) : options_(options), gpu_(gpu) {
    // Libraries initialise themselves at their first call.
    if (gpu_) matmul(ones({64, 64}, *gpu_), ones({64, 64}, *gpu_));
  }

  std::vector<Measurement> run() {
    for (const int64_t size : options_.sizes) multiply(size);
    if (gpu_) {
      move_rows();
      move_often();
    }
    train();
    announce("");
    return std::move(all_);
  }

 private:
  using Work = std::function<void()>;

  static void announce(const std::string& name) {
    if (!isatty(STDERR_FILENO)) return;
    std::cerr << "\r\033[K" << (name.empty() ? "" : "measuring " + name + " ...") << std::flush;
  }

  /// A measurement of the baseline so far.
  Measurement& start(const std::string& name, const std::string& baseline) {
    announce(name);
    return all_.emplace_back(Measurement{name, {baseline, 0}, {}, {}});
  }

  void settle() const {
    if (gpu_) cuda::synchronize(gpu_->index());
  }

  /// The time of one call, the device's work included.
  double seconds_of_one(const Work& work) const {
    settle();
    const auto start = std::chrono::steady_clock::now();
    work();
    settle();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// The fastest of as many calls as fit into half a second.
  double seconds_of(const Work& work) const {
    double best = seconds_of_one(work);
    for (double total = best; total < 0.5;) {
      const double seconds = seconds_of_one(work);
      best = std::min(best, seconds);
      total += seconds;
    }
    return best;
  }

  static double largest_difference(const Tensor& a, const Tensor& b) {
    return (a - b).abs().max().item<double>();
  }

  void multiply(int64_t size) {
    const std::string text = std::to_string(size);
    Measurement& result = start("matmul of " + text + " x " + text, "cpu");
    const Tensor a = randn({size, size}), b = randn({size, size});
    Tensor here, there;
    result.baseline.seconds = seconds_of([&] { here = matmul(a, b); });
    if (!gpu_) return;
    const Tensor a_there = a.to(*gpu_), b_there = b.to(*gpu_);
    result.instead = {gpu_->str(), seconds_of([&] { there = matmul(a_there, b_there); })};
    result.difference = largest_difference(there.cpu(), here);
  }

  /// Row by row, or all at once.
  void move_rows() {
    const int64_t size = options_.transfer_size;
    const std::string text = std::to_string(size);
    Measurement& result = start("move " + text + " x " + text + " to the GPU", "row by row");
    const Tensor x = randn({size, size});
    std::vector<Tensor> rows(static_cast<size_t>(size));
    Tensor whole;
    result.baseline.seconds = seconds_of([&] {
      for (int64_t i = 0; i < size; ++i) rows[size_t(i)] = x[i].to(*gpu_);
    });
    result.instead = {"whole", seconds_of([&] { whole = x.to(*gpu_); })};
    result.difference = largest_difference(whole, stack(rows));
  }

  /// There and back around every operation, or once.
  void move_often() {
    const std::string times = std::to_string(options_.repeats);
    Measurement& result = start(times + " products of 1000 x 1000", "moved each time");
    const Tensor x = randn({1000, 1000});
    const double factor = 1.01;
    Tensor often, once;
    result.baseline.seconds = seconds_of([&] {
      often = x;
      for (int64_t i = 0; i < options_.repeats; ++i) often = (often.to(*gpu_) * factor).cpu();
    });
    result.instead = {"moved once", seconds_of([&] {
                        once = x.to(*gpu_);
                        for (int64_t i = 0; i < options_.repeats; ++i) once = once * factor;
                        once = once.cpu();
                      })};
    result.difference = largest_difference(once, often);
  }

  struct Trained {
    double seconds, loss;
  };

  /// Steps with the tutorials' network on images of noise.
  Trained train_on(Device device) const {
    manual_seed(0);
    nn::AnyModule network = make_model("seed-cnn", {1, 28, 28}, 10);
    network.ptr()->to(device);
    const auto optimizer = make_optimizer("adam", network.ptr()->parameters(), 0.01);
    manual_seed(1);
    const Tensor images = randn({1000, 1, 28, 28}).to(device);
    const Tensor labels = randint(10, {1000}, kLong).to(device);
    Tensor loss;
    const auto step = [&] {
      loss = nn::functional::cross_entropy(network.forward(images), labels);
      optimizer->zero_grad();
      loss.backward();
      optimizer->step();
    };
    step();
    const double seconds = seconds_of_one([&] {
      for (int64_t i = 0; i < options_.steps; ++i) step();
    });
    return {seconds, loss.item<double>()};
  }

  void train() {
    const std::string steps = std::to_string(options_.steps);
    Measurement& result = start(steps + " training steps, CNN, batch 1000", "cpu");
    const Trained here = train_on(Device(DeviceType::CPU));
    result.baseline.seconds = here.seconds;
    if (!gpu_) return;
    const Trained there = train_on(*gpu_);
    result.instead = {gpu_->str(), there.seconds};
    result.difference = std::fabs(there.loss - here.loss);
  }

  const BenchOptions& options_;
  std::optional<Device> gpu_;
  std::vector<Measurement> all_;
};

}  // namespace

std::vector<Measurement> measure(const BenchOptions& options, std::optional<Device> gpu) {
  return Bench(options, gpu).run();
}

}  // namespace hearth::app
