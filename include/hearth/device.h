#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hearth/error.h"

namespace hearth {

/// The types of devices that PyTorch knows. Tensors can be on CPU, CUDA and Meta; meta tensors have
/// metadata but no data.
enum class DeviceType : int8_t {
  CPU,
  CUDA,
  MKLDNN,
  OPENGL,
  OPENCL,
  IDEEP,
  HIP,
  FPGA,
  MAIA,
  XLA,
  Vulkan,
  Metal,
  XPU,
  MPS,
  Meta,
  HPU,
  VE,
  Lazy,
  IPU,
  MTIA,
  PrivateUse1
};
inline constexpr DeviceType kCPU = DeviceType::CPU;
inline constexpr DeviceType kCUDA = DeviceType::CUDA;
inline constexpr DeviceType kMeta = DeviceType::Meta;

using DeviceIndex = int8_t;  ///< the number of a GPU, or -1 for the current one

/// The device of a tensor: "cpu", "cuda:1", "meta"; index -1 means the current device.
struct Device {
  using Type = DeviceType;

  DeviceType type_ = DeviceType::CPU;
  DeviceIndex index_ = -1;

  constexpr Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  HEARTH_API Device(const std::string& text);  ///< parses "cpu", "cuda:0", "meta" …
  Device(const char* text) : Device(std::string(text)) {}

  constexpr DeviceType type() const { return type_; }
  constexpr DeviceIndex index() const { return index_; }
  constexpr bool has_index() const { return index_ != -1; }  ///< false for "cuda" without a number
  void set_index(DeviceIndex index) { index_ = index; }
  constexpr bool is_cpu() const { return type_ == DeviceType::CPU; }
  constexpr bool is_cuda() const { return type_ == DeviceType::CUDA; }
  constexpr bool is_meta() const { return type_ == DeviceType::Meta; }
  constexpr bool is_hip() const { return type_ == DeviceType::HIP; }
  constexpr bool is_mps() const { return type_ == DeviceType::MPS; }
  constexpr bool is_xpu() const { return type_ == DeviceType::XPU; }
  constexpr bool is_hpu() const { return type_ == DeviceType::HPU; }
  constexpr bool is_ipu() const { return type_ == DeviceType::IPU; }
  constexpr bool is_lazy() const { return type_ == DeviceType::Lazy; }
  constexpr bool is_maia() const { return type_ == DeviceType::MAIA; }
  constexpr bool is_metal() const { return type_ == DeviceType::Metal; }
  constexpr bool is_mtia() const { return type_ == DeviceType::MTIA; }
  constexpr bool is_privateuseone() const { return type_ == DeviceType::PrivateUse1; }
  constexpr bool is_ve() const { return type_ == DeviceType::VE; }
  constexpr bool is_vulkan() const { return type_ == DeviceType::Vulkan; }
  constexpr bool is_xla() const { return type_ == DeviceType::XLA; }
  HEARTH_API std::string str() const;  ///< "cuda:1"
  friend constexpr bool operator==(Device a, Device b) {
    return a.type_ == b.type_ && a.index_ == b.index_;
  }
};

inline std::string as_text(Device device) { return device.str(); }
namespace by_name {
HEARTH_API const char* name_of(DeviceType type);  ///< "CPU", "CUDA", "Meta" …
}
/// name_of(type), or "cpu", "cuda", "meta" … if lower_case.
inline std::string DeviceTypeName(DeviceType type, bool lower_case = false) {
  return lower_case ? Device(type).str() : by_name::name_of(type);
}
inline std::string as_text(DeviceType type) { return Device(type).str(); }

/// The storage layout of elements; Hearth has only strided tensors.
enum class Layout : int8_t {
  Strided = 0,
  Sparse = 1,
  SparseCsr = 2,
  Mkldnn = 3,
  SparseCsc = 4,
  SparseBsr = 5,
  SparseBsc = 6,
  Jagged = 7,
  NumOptions = 8
};
inline constexpr Layout kStrided = Layout::Strided, kSparse = Layout::Sparse,
                        kSparseCsr = Layout::SparseCsr, kMkldnn = Layout::Mkldnn,
                        kSparseCsc = Layout::SparseCsc, kSparseBsr = Layout::SparseBsr,
                        kSparseBsc = Layout::SparseBsc, kJagged = Layout::Jagged;

/// The order of dimensions in memory. Preserve keeps the strides of a dense input.
enum class MemoryFormat : int8_t {
  Contiguous = 0,
  Preserve = 1,
  ChannelsLast = 2,
  ChannelsLast3d = 3
};
HEARTH_API std::string as_text(Layout layout);
HEARTH_API std::string as_text(MemoryFormat format);
inline constexpr int kMaxDims = 16;  ///< the most dimensions that a tensor can have

}  // namespace hearth
