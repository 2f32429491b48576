#pragma once

#include <string_view>

#include "c10/namespaces.h"
#include "c10/util/Exception.h"
#include "hearth/device.h"

// X(Name, DeviceType) for each backend, in LibTorch's order. Hearth's tensors have CPU, CUDA and
// Meta.
#define HEARTH_BACKENDS(X)             \
  X(CPU, CPU)                          \
  X(CUDA, CUDA)                        \
  X(HIP, HIP)                          \
  X(VE, VE)                            \
  X(FPGA, FPGA)                        \
  X(IPU, IPU)                          \
  X(XPU, XPU)                          \
  X(SparseCPU, CPU)                    \
  X(SparseCUDA, CUDA)                  \
  X(SparseCsrCPU, CPU)                 \
  X(SparseCsrCUDA, CUDA)               \
  X(SparseCsrMPS, MPS)                 \
  X(SparseMPS, MPS)                    \
  X(SparseHIP, HIP)                    \
  X(SparseVE, VE)                      \
  X(SparseXPU, XPU)                    \
  X(SparsePrivateUse1, PrivateUse1)    \
  X(SparseCsrHIP, HIP)                 \
  X(SparseCsrVE, VE)                   \
  X(SparseCsrXPU, XPU)                 \
  X(SparseCsrPrivateUse1, PrivateUse1) \
  X(MAIA, MAIA)                        \
  X(XLA, XLA)                          \
  X(Vulkan, Vulkan)                    \
  X(Metal, Metal)                      \
  X(Meta, Meta)                        \
  X(QuantizedCPU, CPU)                 \
  X(QuantizedCUDA, CUDA)               \
  X(QuantizedXPU, XPU)                 \
  X(QuantizedPrivateUse1, PrivateUse1)
#define HEARTH_LATER_BACKENDS(X) \
  X(MkldnnCPU, CPU)              \
  X(MPS, MPS)                    \
  X(HPU, HPU)                    \
  X(Lazy, Lazy)                  \
  X(MTIA, MTIA)                  \
  X(PrivateUse1, PrivateUse1)

namespace c10 {

/// A device type together with a layout or a library, as LibTorch's deprecated types name them.
enum class Backend {
#define HEARTH_BACKEND(Name, Device) Name,
  HEARTH_BACKENDS(HEARTH_BACKEND) Undefined,
  HEARTH_LATER_BACKENDS(HEARTH_BACKEND) NumOptions
#undef HEARTH_BACKEND
};

inline DeviceType backendToDeviceType(Backend backend) {
  switch (backend) {
#define HEARTH_BACKEND(Name, Device) \
  case Backend::Name: return DeviceType::Device;
    HEARTH_BACKENDS(HEARTH_BACKEND)
    HEARTH_LATER_BACKENDS(HEARTH_BACKEND)
#undef HEARTH_BACKEND
    case Backend::Undefined: TORCH_CHECK(false, "Undefined backend is not a valid device type");
    default: TORCH_CHECK(false, "Unknown backend");
  }
}

using hearth::toString;
inline const char* toString(Backend backend) {
  switch (backend) {
#define HEARTH_BACKEND(Name, Device) \
  case Backend::Name: return #Name;
    HEARTH_BACKENDS(HEARTH_BACKEND)
#undef HEARTH_BACKEND
    case Backend::MkldnnCPU: return "MkldnnCPU";
    case Backend::MPS: return "MPS";
    case Backend::HPU: return "HPU";
    case Backend::Lazy: return "Lazy";
    case Backend::MTIA: return "MTIA";
    case Backend::PrivateUse1: return "PrivateUseOne";
    default: return "UNKNOWN_BACKEND";
  }
}

inline bool isSparseCsr(Backend backend) {
  // LibTorch's list lacks this one.
  return std::string_view(toString(backend)).substr(0, 9) == "SparseCsr" &&
         backend != Backend::SparseCsrMPS;
}
inline bool isSparse(Backend backend) {
  const std::string_view name = toString(backend);
  return name.substr(0, 6) == "Sparse" && name.substr(0, 9) != "SparseCsr";
}

}  // namespace c10

#undef HEARTH_BACKENDS
#undef HEARTH_LATER_BACKENDS

namespace at {
using c10::Backend;
using c10::backendToDeviceType;
using c10::isSparse;
using c10::isSparseCsr;
using c10::toString;
}  // namespace at
namespace torch {
using c10::Backend;
using c10::toString;
}  // namespace torch
