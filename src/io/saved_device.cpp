#include "io/saved_device.h"

#include "hearth/cuda.h"

namespace hearth::io {

void check_reachable(const std::string& name, Device device) {
  HEARTH_CHECK(!device.is_cuda() || cuda::is_available(),
               "Attempting to deserialize object on a CUDA device but cuda::is_available() is "
               "false: ",
               cuda::why_not(), " '", name, "' was saved on ", device,
               "; name the device to load it to: load(value, path, kCPU)");
}

}  // namespace hearth::io
