#include "commands.h"

#include "../choices.h"
#include "../train/devices.h"
#include "hearth/cuda.h"

namespace hearth::app {

CLI::Option* add_run(CLI::App& command, std::string& run) {
  return suggest_values(command.add_option("run", run, "A folder of hearth train, or a checkpoint"),
                        {{}, Values::Paths::kFiles})
      ->required();
}

void add_device(CLI::App& command, std::string& device) {
  suggest_values(
      command.add_option("--device", device, "Device (default: the GPU if there is one)"),
      {{"cpu", "cuda"}})
      ->check(device_name());
}

Device device_of(const std::string& name) {
  const std::string chosen = !name.empty() ? name : cuda::is_available() ? "cuda" : "cpu";
  check_devices({chosen});
  return Device(chosen);
}

}  // namespace hearth::app
