#include "tests/cuda/cudnn/fake.h"

#include "hearth/error.h"

namespace hearth::testing {

FakeCudnn& fake_cudnn() {
  static FakeCudnn fake;
  return fake;
}

ScalarType dtype_of_fake(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_HALF: return kHalf;
    case CUDNN_DATA_BFLOAT16: return kBFloat16;
    case CUDNN_DATA_DOUBLE: return kDouble;
    case CUDNN_DATA_FLOAT: return kFloat;
    default: return kBool;
  }
}

}  // namespace hearth::testing

namespace hearth::cuda {

const Cudnn& Cudnn::get() {
  static const Cudnn functions = [] {
    Cudnn all;
    all.cudnnGetVersion = [] { return size_t(testing::fake_cudnn().version); };
    testing::add_fake_graphs(all);
    testing::add_fake_nets(all);
    return all;
  }();
  return functions;
}
const Cudnn* Cudnn::find() { return &get(); }

void check_cudnn(cudnnStatus_t status, const char* call) {
  HEARTH_CHECK(status == CUDNN_STATUS_SUCCESS, "cuDNN error ", int(status), " in ", call);
}
cudnnHandle_t cudnn_handle(const NativeStream&) { return reinterpret_cast<cudnnHandle_t>(1); }
const CudnnParts& cudnn_parts() { return testing::fake_cudnn().parts; }

}  // namespace hearth::cuda
