#include "bench.h"

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "hearth/hearth.h"
#include "text_table.h"

namespace hearth::app {

namespace {

/// Two ways to do one thing; without a GPU there is only the first.
struct Measurement {
  struct Way {
    std::string name;
    double seconds;
  };
  std::string name;
  Way slow;
  std::optional<Way> fast;
  std::optional<double> difference;  // the largest between the results

  double ratio() const { return slow.seconds / fast->seconds; }
};

class Bench {
 public:
  explicit Bench(const BenchOptions& options) : options_(options) {
    if (cuda::is_available()) gpu_ = Device(DeviceType::CUDA, DeviceIndex(options.gpu));
  }

  std::vector<Measurement> run() {
    std::vector<Measurement> all;
    for (const int64_t size : options_.sizes) all.push_back(multiply(size));
    if (gpu_) {
      all.push_back(move_rows());
      all.push_back(move_often());
    }
    all.push_back(train());
    return all;
  }

 private:
  /// The time of one call, the device's work included.
  double seconds_of(const std::function<void()>& work) const {
    const auto settle = [this] {
      if (gpu_) cuda::synchronize(gpu_->index());
    };
    settle();
    const auto start = std::chrono::steady_clock::now();
    work();
    settle();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  std::string gpu_name() const { return gpu_->str(); }

  Measurement multiply(int64_t size) const {
    const Tensor a = randn({size, size}), b = randn({size, size});
    Tensor here, there;
    Measurement result{"matmul " + std::to_string(size) + " x " + std::to_string(size),
                       {"cpu", seconds_of([&] { here = matmul(a, b); })},
                       {},
                       {}};
    if (!gpu_) return result;
    const Tensor a_there = a.to(*gpu_), b_there = b.to(*gpu_);
    matmul(a_there, b_there);  // libraries initialise themselves at the first call
    result.fast = {gpu_name(), seconds_of([&] { there = matmul(a_there, b_there); })};
    result.difference = (there.cpu() - here).abs().max().item<double>();
    return result;
  }

  /// Row by row, or all at once.
  Measurement move_rows() const {
    const int64_t size = options_.transfer_size;
    const Tensor x = randn({size, size});
    const Tensor rows = empty({size, size}, TensorOptions(*gpu_));
    Tensor whole;
    const double slow = seconds_of([&] {
      for (int64_t i = 0; i < size; ++i) rows[i].copy_(x[i]);
    });
    const double fast = seconds_of([&] { whole = x.to(*gpu_); });
    return {"move " + std::to_string(size) + " x " + std::to_string(size) + " to the GPU",
            {"row by row", slow},
            Measurement::Way{"whole", fast},
            (whole - rows).abs().max().item<double>()};
  }

  /// There and back around every operation, or once.
  Measurement move_often() const {
    const Tensor x = randn({1000, 1000});
    const double factor = 1.01;
    Tensor often = x, once;
    const double slow = seconds_of([&] {
      for (int64_t i = 0; i < options_.repeats; ++i) often = (often.to(*gpu_) * factor).cpu();
    });
    const double fast = seconds_of([&] {
      once = x.to(*gpu_);
      for (int64_t i = 0; i < options_.repeats; ++i) once = once * factor;
      once = once.cpu();
    });
    return {std::to_string(options_.repeats) + " products of 1000 x 1000 numbers",
            {"there and back each time", slow},
            Measurement::Way{"once", fast},
            (once - often).abs().max().item<double>()};
  }

  /// Steps of gradient descent on two layers; the loss after them.
  double train_on(Device device, double* seconds) const {
    manual_seed(0);
    const auto weight = [&](int64_t rows, int64_t columns) {
      const double scale = 1 / std::sqrt(double(columns));
      return (randn({rows, columns}) * scale).to(device).requires_grad_();
    };
    const Tensor x = randn({1000, 784}).to(device), labels = randint(10, {1000}).to(device);
    const Tensor first = weight(256, 784), second = weight(10, 256);
    Tensor loss;
    *seconds = seconds_of([&] {
      for (int64_t i = 0; i < options_.repeats; ++i) {
        loss = cross_entropy_loss(linear(relu(linear(x, first)), second), labels);
        loss.backward();
        const NoGradGuard off;
        for (const Tensor& w : {first, second}) {
          w.sub_(w.grad(), 0.1);
          w.mutable_grad().reset();
        }
      }
    });
    return loss.item<double>();
  }

  Measurement train() const {
    double slow = 0, fast = 0;
    const double here = train_on(Device(DeviceType::CPU), &slow);
    Measurement result{std::to_string(options_.repeats) + " training steps, 784-256-10, batch 1000",
                       {"cpu", slow},
                       {},
                       {}};
    if (!gpu_) return result;
    const double there = train_on(*gpu_, &fast);
    result.fast = {gpu_name(), fast};
    result.difference = std::fabs(there - here);
    return result;
  }

  const BenchOptions& options_;
  std::optional<Device> gpu_;
};

std::string scientific(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  return text;
}

std::string where(const BenchOptions& options) {
  if (!cuda::is_available())
    return "No GPU (" + cuda::why_not() +
           "). HEARTH_SIM_GPUS=1 in the environment shows the form of the whole table.";
  return "cuda:" + std::to_string(options.gpu) + " is " + cuda::get_device_name(options.gpu) + ".";
}

TextTable to_table(const std::vector<Measurement>& all) {
  const auto shown = [](const Measurement::Way& way) {
    return way.name + "  " + duration_text(way.seconds);
  };
  TextTable table({"measurement", "baseline", "instead", "ratio", "largest difference"});
  for (const Measurement& m : all)
    table.add({m.name, shown(m.slow), m.fast ? shown(*m.fast) : "",
               m.fast ? fixed(m.ratio(), 2) : "", m.difference ? scientific(*m.difference) : ""});
  return table;
}

nlohmann::ordered_json to_json(const std::vector<Measurement>& all, const BenchOptions& options) {
  nlohmann::ordered_json json{{"gpu", nullptr}, {"measurements", nlohmann::ordered_json::array()}};
  if (cuda::is_available())
    json["gpu"] = cuda::get_device_name(options.gpu);
  else
    json["why_not"] = cuda::why_not();
  for (const Measurement& m : all) {
    nlohmann::ordered_json entry{{"name", m.name}, {"seconds", {{m.slow.name, m.slow.seconds}}}};
    if (m.fast) {
      entry["seconds"][m.fast->name] = m.fast->seconds;
      entry["ratio"] = m.ratio();
    }
    if (m.difference) entry["largest_difference"] = *m.difference;
    json["measurements"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace

void run_bench(const BenchOptions& options, std::ostream& out) {
  HEARTH_CHECK(!cuda::is_available() || (options.gpu >= 0 && options.gpu < cuda::device_count()),
               "there is no cuda:", options.gpu, ": the number of devices is ",
               cuda::device_count());
  const std::vector<Measurement> all = Bench(options).run();
  if (options.as_json)
    out << to_json(all, options).dump(2) << "\n";
  else
    out << where(options) << "\n\n" << to_table(all).text();
}

}  // namespace hearth::app
