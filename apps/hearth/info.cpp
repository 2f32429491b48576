#include "info.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "gpus.h"
#include "hearth/about.h"
#include "hearth/threads.h"
#include "text_table.h"

namespace hearth::app {

namespace {

using Json = nlohmann::ordered_json;

struct Gpu {
  cuda::DeviceProperties properties;
  size_t free_memory;
};

std::vector<Gpu> gpus() {
  std::vector<Gpu> found;
  for (int device = 0; device < cuda::device_count(); ++device)
    found.push_back({cuda::get_device_properties(device), cuda::mem_get_info(device).first});
  return found;
}

std::string capability_of(const cuda::DeviceProperties& gpu) {
  return std::to_string(gpu.major) + "." + std::to_string(gpu.minor);
}

Json to_json(const Gpu& gpu) {
  const bool simulated = is_simulated(gpu.properties);
  return {{"name", gpu.properties.name},
          {"simulated", simulated},
          {"capability", simulated ? Json() : Json(capability_of(gpu.properties))},
          {"multi_processors", gpu.properties.multi_processor_count},
          {"memory_total", gpu.properties.total_memory},
          {"memory_available", gpu.free_memory}};
}

Json to_json(const About& about, const std::vector<Gpu>& devices) {
  Json json{{"version", about.version},
            {"cpu",
             {{"name", about.processor},
              {"features", about.features},
              {"instruction_set", about.instruction_set},
              {"cores", about.cores},
              {"threads", get_num_threads()},
              {"memory_total", about.memory_total},
              {"memory_available", about.memory_available}}},
            {"cuda", {{"available", !devices.empty()}, {"devices", Json::array()}}},
            {"libraries", Json::object()}};
  if (devices.empty()) json["cuda"]["why_not"] = cuda::why_not();
  for (const Gpu& gpu : devices) json["cuda"]["devices"].push_back(to_json(gpu));
  for (const auto& [name, version] : about.libraries) json["libraries"][name] = version;
  return json;
}

std::string memory_text(size_t total, size_t available) {
  return bytes_text(double(total)) + ", " + bytes_text(double(available)) + " free";
}

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

TextTable to_table(const About& about, const std::vector<Gpu>& devices) {
  TextTable table({"Hearth", about.version});
  table.add({"CPU", about.processor.empty() ? "unknown" : about.processor});
  table.add({"", "features " + joined(about.features, " ")});
  table.add({"", "kernels for " + about.instruction_set});
  table.add({"Threads", std::to_string(get_num_threads()) + " of " + std::to_string(about.cores) +
                            (about.cores == 1 ? " core" : " cores")});
  table.add({"Memory", memory_text(about.memory_total, about.memory_available)});
  for (size_t i = 0; i < devices.size(); ++i) {
    const cuda::DeviceProperties& gpu = devices[i].properties;
    const std::string capability =
        is_simulated(gpu) ? "" : "capability " + capability_of(gpu) + ", ";
    table.add(
        {"cuda:" + std::to_string(i),
         gpu.name + ", " + capability + memory_text(gpu.total_memory, devices[i].free_memory)});
  }
  if (devices.empty()) table.add({"CUDA", "off: " + cuda::why_not()});
  std::vector<std::string> libraries;
  for (const auto& [name, version] : about.libraries) libraries.push_back(name + " " + version);
  table.add({"Libraries", joined(libraries, ", ")});
  return table;
}

}  // namespace

void print_info(std::ostream& out, bool as_json) {
  const About facts = about();
  const std::vector<Gpu> devices = gpus();
  if (as_json)
    out << to_json(facts, devices).dump(2) << "\n";
  else
    out << to_table(facts, devices).text();
}

}  // namespace hearth::app
