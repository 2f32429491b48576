#include "bench.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "gpus.h"
#include "hearth/about.h"
#include "hearth/error.h"
#include "hearth/threads.h"
#include "measurements.h"
#include "text_table.h"

namespace hearth::app {

namespace {

std::optional<Device> chosen_gpu(const BenchOptions& options) {
  const bool has_gpu = cuda::is_available();
  HEARTH_CHECK(has_gpu || !options.gpu, "there is no device cuda:", options.gpu.value_or(0), ": ",
               cuda::why_not());
  if (!has_gpu) return {};
  const int gpu = options.gpu.value_or(0);
  HEARTH_CHECK(gpu < cuda::device_count(), "there is no device cuda:", gpu,
               ": the number of GPUs is ", cuda::device_count());
  return Device(DeviceType::CUDA, DeviceIndex(gpu));
}

std::string heading(std::optional<Device> gpu) {
  if (!gpu)
    return "No GPU: " + cuda::why_not() +
           "\nOnly the CPU is measured, without transfers. Set HEARTH_SIM_GPUS=1 in the "
           "environment to see the\nwhole table on a simulated GPU.";
  const cuda::DeviceProperties properties = cuda::get_device_properties(gpu->index());
  return gpu->str() + " is " + properties.name +
         (is_simulated(properties)
              ? ", run by this CPU.\nThe times are those of the simulation, not of a real GPU."
              : ".");
}

/// Prints each row of the table as soon as it is measured.
class Table {
 public:
  Table(const std::vector<Measurement>& measurements, bool with_gpu, std::ostream& out)
      : with_gpu_(with_gpu), rows_(columns(measurements, with_gpu)), out_(out) {
    out_ << rows_.head() << std::flush;
  }

  void add(const Measurement& m) { out_ << rows_.row(cells(m)) << std::flush; }

 private:
  static std::vector<RowWriter::Column> columns(const std::vector<Measurement>& measurements,
                                                bool with_gpu) {
    const auto longest = [&measurements](const auto& text_of) {
      size_t length = 0;
      for (const Measurement& m : measurements) length = std::max(length, text_of(m).size());
      return length;
    };
    const size_t title_width = longest(title);
    constexpr size_t kTimeWidth = 7, kRatioWidth = 6;
    if (!with_gpu) return {{"measurement", title_width, false}, {"cpu", kTimeWidth, true}};
    const size_t baseline_width = longest([](const Measurement& m) { return m.baseline.name; });
    const size_t alternative_width =
        longest([](const Measurement& m) { return m.alternative->name; });
    return {{"measurement", title_width, false}, {"baseline", baseline_width, false},
            {"time", kTimeWidth, true},          {"alternative", alternative_width, false},
            {"time", kTimeWidth, true},          {"ratio", kRatioWidth, true},
            {"largest difference", 0, true}};
  }

  std::vector<std::string> cells(const Measurement& m) const {
    if (!m.error.empty()) return {title(m), m.error};
    if (!with_gpu_) return {title(m), duration_text(m.baseline.seconds)};
    return {title(m),
            m.baseline.name,
            duration_text(m.baseline.seconds),
            m.alternative->name,
            duration_text(m.alternative->seconds),
            fixed(m.ratio(), 2),
            scientific(*m.difference)};
  }

  bool with_gpu_;
  RowWriter rows_;
  std::ostream& out_;
};

using Json = nlohmann::ordered_json;

Json to_json(const Measurement::Way& way) { return {{"name", way.name}, {"seconds", way.seconds}}; }

Json to_json(const Measurement& m) {
  Json json{{"kind", kind_name(m)}, {"size", m.size}, {"repetitions", m.repetitions}};
  if (!m.error.empty()) {
    json["error"] = m.error;
    return json;
  }
  json["baseline"] = to_json(m.baseline);
  if (m.alternative) {
    json["alternative"] = to_json(*m.alternative);
    json["ratio"] = m.ratio();
    json["largest_difference"] = *m.difference;
  }
  return json;
}

Json to_json(const std::vector<Measurement>& measurements, std::optional<Device> gpu) {
  const About facts = about();
  Json json{{"format", 1},
            {"hearth", facts.version},
            {"cpu", {{"name", facts.processor}, {"threads", get_num_threads()}}},
            {"gpu", nullptr}};
  if (gpu) {
    const cuda::DeviceProperties properties = cuda::get_device_properties(gpu->index());
    json["gpu"] = {{"name", properties.name}, {"simulated", is_simulated(properties)}};
  } else {
    json["why_not"] = cuda::why_not();
  }
  json["measurements"] = Json::array();
  for (const Measurement& m : measurements) json["measurements"].push_back(to_json(m));
  return json;
}

}  // namespace

bool run_bench(const BenchOptions& options, std::ostream& out) {
  const std::optional<Device> gpu = chosen_gpu(options);
  std::vector<Measurement> measurements = planned(options, gpu);
  std::optional<Table> table;
  if (!options.as_json) {
    out << heading(gpu) << "\n\n";
    table.emplace(measurements, gpu.has_value(), out);
  }
  for (Measurement& m : measurements) {
    measure(m, gpu);
    if (table) table->add(m);
  }
  if (options.as_json) out << to_json(measurements, gpu).dump(2) << "\n";
  return std::all_of(measurements.begin(), measurements.end(),
                     [](const Measurement& m) { return m.error.empty(); });
}

}  // namespace hearth::app
