#pragma once

#include <cstdint>
#include <functional>

#include "hearth/tensor.h"

// The structs of DLPack 1 (dmlc.github.io/dlpack), by which libraries share tensors in memory. If
// the original header was included before, its declarations are used.
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

extern "C" {

/// A version; a change of `major` changes the structs.
struct DLPackVersion {
  uint32_t major, minor;
};

/// The types of devices; Hearth exports the first two and imports all but those of ROCm.
enum DLDeviceType : int32_t {
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLROCM = 10,
  kDLROCMHost = 11,
  kDLCUDAManaged = 13,
};
struct DLDevice {
  DLDeviceType device_type;
  int32_t device_id;
};

/// The classes of element types.
enum DLDataTypeCode {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLOpaqueHandle = 3,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6,
  kDLFloat8_e4m3fn = 10,
  kDLFloat8_e4m3fnuz = 11,
  kDLFloat8_e5m2 = 12,
  kDLFloat8_e5m2fnuz = 13,
  kDLFloat8_e8m0fnu = 14,
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;  ///< elements of a vector type, 1 for others
};

/// A tensor without ownership of its memory.
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  ///< in elements; null: contiguous
  uint64_t byte_offset;
};

/// A tensor with its owner; deleter(this) tells the owner that the tensor is no longer needed.
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
};

/// A DLManagedTensor with a version and flags.
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

}  // extern "C"

#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 0
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)

#endif  // DLPACK_DLPACK_H_

namespace hearth {

/// Exports a tensor to another library, which must call the deleter; both share the memory.
HEARTH_API DLManagedTensor* toDLPack(const Tensor& tensor);
HEARTH_API DLManagedTensorVersioned* toDLPackVersioned(const Tensor& tensor);
/// Imports a tensor, which shares another library's memory. Calls `deleter`, by default that of
/// `source`, when the memory is no longer needed. As in PyTorch, DLPACK_FLAG_BITMASK_READ_ONLY does
/// not make the tensor read-only.
HEARTH_API Tensor fromDLPack(DLManagedTensor* source, std::function<void(void*)> deleter = {});
HEARTH_API Tensor fromDLPackVersioned(DLManagedTensorVersioned* source,
                                      std::function<void(void*)> deleter = {});

HEARTH_API DLDataType getDLDataType(const Tensor& tensor);  ///< DLPack's form of the tensor's dtype
HEARTH_API DLDevice torchDeviceToDLDevice(Device device);   ///< DLPack's form of the device
HEARTH_API ScalarType
toScalarType(const DLDataType& dtype);  ///< throws if Hearth has no such dtype

}  // namespace hearth
