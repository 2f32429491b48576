#include "hearth/dlpack.h"

#include <memory>
#include <string>
#include <vector>

#include "hearth/operators.h"

namespace hearth {

namespace {

struct DlpackDtype {
  ScalarType type;
  DLDataTypeCode code;
  uint8_t bits;
};
constexpr DlpackDtype kDtypes[] = {
    {kByte, kDLUInt, 8},
    {kChar, kDLInt, 8},
    {kShort, kDLInt, 16},
    {kInt, kDLInt, 32},
    {kLong, kDLInt, 64},
    {kHalf, kDLFloat, 16},
    {kFloat, kDLFloat, 32},
    {kDouble, kDLFloat, 64},
    {kBFloat16, kDLBfloat, 16},
    {kComplexFloat, kDLComplex, 64},
    {kComplexDouble, kDLComplex, 128},
    {kBool, kDLBool, 8},
    {kUInt16, kDLUInt, 16},
    {kUInt32, kDLUInt, 32},
    {kUInt64, kDLUInt, 64},
    {kFloat8_e5m2, kDLFloat8_e5m2, 8},
    {kFloat8_e4m3fn, kDLFloat8_e4m3fn, 8},
    {kFloat8_e5m2fnuz, kDLFloat8_e5m2fnuz, 8},
    {kFloat8_e4m3fnuz, kDLFloat8_e4m3fnuz, 8},
    {kFloat8_e8m0fnu, kDLFloat8_e8m0fnu, 8},
};

/// A tensor that another library uses, and the arrays to which its struct points.
template <class Managed>
struct Exported {
  Tensor tensor;
  std::vector<int64_t> sizes, strides;
  Managed managed{};
};

template <class Managed>
Managed* export_tensor(const Tensor& tensor) {
  HEARTH_CHECK(tensor.defined(), "tensor does not have a device");
  const DLDevice device = torchDeviceToDLDevice(tensor.device());
  auto exported = std::make_unique<Exported<Managed>>();
  exported->tensor = tensor.detach();
  exported->sizes = tensor.sizes().vec();
  exported->strides = tensor.strides().vec();
  Managed& managed = exported->managed;
  managed.dl_tensor.data = exported->tensor.data_ptr();
  managed.dl_tensor.device = device;
  managed.dl_tensor.ndim = static_cast<int32_t>(tensor.dim());
  managed.dl_tensor.dtype = getDLDataType(tensor);
  managed.dl_tensor.shape = exported->sizes.data();
  managed.dl_tensor.strides = exported->strides.data();
  managed.manager_ctx = exported.get();
  managed.deleter = [](Managed* self) {
    delete static_cast<Exported<Managed>*>(self->manager_ctx);
  };
  return &exported.release()->managed;
}

Device device_from(const DLDevice& device) {
  if (device.device_type == kDLCPU || device.device_type == kDLCUDAHost) return kCPU;
  HEARTH_CHECK(device.device_type == kDLCUDA || device.device_type == kDLCUDAManaged,
               "Unsupported device_type: ", int(device.device_type));
  return Device(kCUDA, static_cast<DeviceIndex>(device.device_id));
}

Tensor import_tensor(const DLTensor& source, std::function<void(void*)> deleter) {
  HEARTH_CHECK(source.ndim >= 0 && source.ndim <= kMaxDims, "fromDLPack: a tensor of ", source.ndim,
               " dimensions; Hearth supports at most ", kMaxDims);
  const auto dims = static_cast<size_t>(source.ndim);
  const TensorOptions options =
      TensorOptions(device_from(source.device)).dtype(toScalarType(source.dtype));
  HEARTH_CHECK(source.byte_offset % (source.dtype.bits / 8U) == 0,
               "byte offset must be multiple of element size");
  const IntArrayRef sizes(source.shape, dims);
  char* const data = static_cast<char*>(source.data);
  void* const first = data ? data + source.byte_offset : nullptr;
  if (!source.strides) return from_blob(first, sizes, std::move(deleter), options);
  return from_blob(first, sizes, IntArrayRef(source.strides, dims), std::move(deleter), options);
}

/// Returns `deleter`; if it is empty, a function that calls the source's own deleter.
template <class Managed>
std::function<void(void*)> deleter_of(Managed* source, std::function<void(void*)> deleter) {
  if (deleter) return deleter;
  return [source](void*) {
    if (source->deleter) source->deleter(source);
  };
}

}  // namespace

DLDataType getDLDataType(const Tensor& tensor) {
  for (const DlpackDtype& dtype : kDtypes)
    if (dtype.type == tensor.scalar_type())
      return {static_cast<uint8_t>(dtype.code), dtype.bits, 1};
  detail::fail<Error>("toDLPack: an undefined tensor has no dtype");
}

ScalarType toScalarType(const DLDataType& dtype) {
  HEARTH_CHECK(dtype.lanes == 1, "ATen does not support lanes != 1 for dtype code",
               std::to_string(dtype.code));
  for (const DlpackDtype& known : kDtypes)
    if (known.code == dtype.code && known.bits == dtype.bits) return known.type;
  constexpr const char* kNames[] = {"kInt",    "kUInt",    "kFloat", "kOpaqueHandle",
                                    "kBfloat", "kComplex", "kBool"};
  HEARTH_CHECK(dtype.code < std::size(kNames) && dtype.code != kDLOpaqueHandle, "Unsupported code ",
               std::to_string(dtype.code));
  detail::fail<Error>("Unsupported ", kNames[dtype.code], " bits ", std::to_string(dtype.bits));
}

DLDevice torchDeviceToDLDevice(Device device) {
  HEARTH_CHECK(device.is_cpu() || device.is_cuda(), "Cannot pack tensors on ", device);
  return {device.is_cuda() ? kDLCUDA : kDLCPU, device.is_cuda() ? device.index() : 0};
}

DLManagedTensor* toDLPack(const Tensor& tensor) { return export_tensor<DLManagedTensor>(tensor); }
DLManagedTensorVersioned* toDLPackVersioned(const Tensor& tensor) {
  DLManagedTensorVersioned* managed = export_tensor<DLManagedTensorVersioned>(tensor);
  managed->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  return managed;
}

Tensor fromDLPack(DLManagedTensor* source, std::function<void(void*)> deleter) {
  return import_tensor(source->dl_tensor, deleter_of(source, std::move(deleter)));
}
Tensor fromDLPackVersioned(DLManagedTensorVersioned* source, std::function<void(void*)> deleter) {
  HEARTH_CHECK(source->version.major <= DLPACK_MAJOR_VERSION, "fromDLPack: the tensor has version ",
               source->version.major, " of DLPack, but Hearth supports ", DLPACK_MAJOR_VERSION);
  return import_tensor(source->dl_tensor, deleter_of(source, std::move(deleter)));
}

}  // namespace hearth
