#include "devices.h"

#include "../names.h"
#include "hearth/about.h"
#include "hearth/cuda.h"
#include "hearth/device.h"
#include "hearth/error.h"

namespace hearth::app {

namespace {

std::string check_device(const std::string& name) {
  try {
    if (!Device(name).is_meta()) return "";
  } catch (const Error&) {
  }
  return unknown_name("device", name, {"cpu", "cuda", "cuda:0"});
}

}  // namespace

CLI::Validator device_name() { return CLI::Validator(check_device, ""); }

void check_devices(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Device device(name);
    if (device.is_cpu()) continue;
    HEARTH_CHECK(cuda::is_available(), "there is no device '", name, "': ", cuda::why_not(),
                 " Set HEARTH_SIM_GPUS=1 in the environment to simulate one.");
    HEARTH_CHECK(device.index() < cuda::device_count(), "there is no device '", name,
                 "': the number of GPUs is ", cuda::device_count());
  }
}

std::string devices_text(const std::vector<std::string>& names, bool by_user) {
  std::string text;
  for (const std::string& name : names) {
    const Device device(name);
    text += name + " is " +
            (device.is_cuda() ? cuda::get_device_name(device.index()) : about().processor) +
            (by_user || device.is_cuda() ? "" : "; no GPU: " + cuda::why_not()) + "\n";
  }
  return text;
}

}  // namespace hearth::app
