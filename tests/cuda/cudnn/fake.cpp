#include "tests/cuda/cudnn/fake.h"

#include "hearth/error.h"

namespace hearth::testing {

FakeCudnn& fake_cudnn() {
  static FakeCudnn fake;
  return fake;
}

ScalarType dtype_from_cudnn(cudnnDataType_t type) {
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

namespace {

Cudnn functions_of(bool has_graphs, bool has_nets) {
  Cudnn functions;
  functions.cudnnGetVersion = [] { return size_t(testing::fake_cudnn().version); };
  if (has_graphs) testing::add_fake_graphs(functions);
  if (has_nets) testing::add_fake_nets(functions);
  functions.has_graphs = has_graphs;
  functions.has_nets = has_nets;
  return functions;
}

}  // namespace

const Cudnn& Cudnn::get() {
  static const Cudnn all = functions_of(true, true), without_graphs = functions_of(false, true),
                     without_nets = functions_of(true, false), oldest = functions_of(false, false);
  const testing::FakeCudnn& fake = testing::fake_cudnn();
  if (fake.lacks_graphs) return fake.lacks_nets ? oldest : without_graphs;
  return fake.lacks_nets ? without_nets : all;
}
const Cudnn* Cudnn::find() { return &get(); }

void check_cudnn(cudnnStatus_t status, const char* call) {
  HEARTH_CHECK(status == CUDNN_STATUS_SUCCESS, "cuDNN error ", int(status), " in ", call);
}
cudnnHandle_t cudnn_handle(const NativeStream&) { return reinterpret_cast<cudnnHandle_t>(1); }
const CudnnParts& cudnn_parts() { return testing::fake_cudnn().parts; }

}  // namespace hearth::cuda
