#include "bench.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "gpus.h"
#include "hearth/error.h"
#include "measurements.h"
#include "text_table.h"

namespace hearth::app {

namespace {

std::optional<Device> chosen_gpu(const BenchOptions& options) {
  if (!cuda::is_available()) return {};
  HEARTH_CHECK(options.gpu < cuda::device_count(), "there is no cuda:", options.gpu,
               ": the number of GPUs is ", cuda::device_count());
  return Device(DeviceType::CUDA, DeviceIndex(options.gpu));
}

std::string where(std::optional<Device> gpu) {
  if (!gpu)
    return "No GPU: " + cuda::why_not() +
           "\nSo this is the CPU alone, without the transfers. HEARTH_SIM_GPUS=1 in the "
           "environment "
           "shows the whole\ntable on a simulated GPU.";
  const cuda::DeviceProperties properties = cuda::get_device_properties(gpu->index());
  return gpu->str() + " is " + properties.name +
         (is_simulated(properties)
              ? ": this CPU in its place.\nThe table has its form; its times say nothing of a GPU."
              : ".");
}

TextTable table_of(const std::vector<Measurement>& all) {
  TextTable table(
      {"measurement", "baseline", "time", "instead", "time", "ratio", "largest difference"});
  for (const Measurement& m : all)
    table.add({m.name, m.baseline.name, duration_text(m.baseline.seconds), m.instead->name,
               duration_text(m.instead->seconds), fixed(m.ratio(), 2), scientific(*m.difference)});
  return table;
}

TextTable table_without_gpu(const std::vector<Measurement>& all) {
  TextTable table({"measurement", "cpu"});
  for (const Measurement& m : all) table.add({m.name, duration_text(m.baseline.seconds)});
  return table;
}

using Json = nlohmann::ordered_json;

Json to_json(const Measurement& m) {
  Json json{{"name", m.name}, {"seconds", {{m.baseline.name, m.baseline.seconds}}}};
  if (m.instead) {
    json["seconds"][m.instead->name] = m.instead->seconds;
    json["ratio"] = m.ratio();
    json["largest_difference"] = *m.difference;
  }
  return json;
}

Json to_json(const std::vector<Measurement>& all, std::optional<Device> gpu) {
  Json json{{"gpu", nullptr}};
  if (gpu) {
    const cuda::DeviceProperties properties = cuda::get_device_properties(gpu->index());
    json["gpu"] = {{"name", properties.name}, {"simulated", is_simulated(properties)}};
  } else {
    json["why_not"] = cuda::why_not();
  }
  json["measurements"] = Json::array();
  for (const Measurement& m : all) json["measurements"].push_back(to_json(m));
  return json;
}

}  // namespace

void run_bench(const BenchOptions& options, std::ostream& out) {
  const std::optional<Device> gpu = chosen_gpu(options);
  if (!options.as_json) out << where(gpu) << "\n\n" << std::flush;
  const std::vector<Measurement> all = measure(options, gpu);
  if (options.as_json)
    out << to_json(all, gpu).dump(2) << "\n";
  else
    out << (gpu ? table_of(all) : table_without_gpu(all)).text();
}

}  // namespace hearth::app
