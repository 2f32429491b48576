// A fake cuDNN for tests of the plugin's calls: it computes with the CPU's operators. It follows
// NVIDIA's documentation; these tests cannot show whether cuDNN itself follows it.
#pragma once

#include <atomic>
#include <cstdint>

#include "hearth/tensor.h"
#include "kernels/cuda/cudnn_library.h"
#include "kernels/cuda/cudnn_parts.h"

namespace hearth::testing {

struct FakeCudnn {
  cuda::CudnnParts parts;                         // in place of HEARTH_CUDNN
  int64_t version = 91900;                        // 9.19.0
  bool refuses = false;                           // every graph and net
  bool lacks_graphs = false, lacks_nets = false;  // as a release without these functions
  std::atomic<int> graph_compilations{0}, graph_runs{0}, net_runs{0};
};
FakeCudnn& fake_cudnn();

/// Lets the plugin use the fake during its lifetime.
struct UseFakeCudnn {
  UseFakeCudnn() { reset({true, true}); }
  ~UseFakeCudnn() { reset({}); }
  UseFakeCudnn(const UseFakeCudnn&) = delete;
  UseFakeCudnn& operator=(const UseFakeCudnn&) = delete;

 private:
  static void reset(cuda::CudnnParts parts) {
    FakeCudnn& fake = fake_cudnn();
    fake.parts = parts;
    fake.version = 91900;
    fake.refuses = fake.lacks_graphs = fake.lacks_nets = false;
    fake.graph_compilations = fake.graph_runs = fake.net_runs = 0;
  }
};

ScalarType dtype_from_cudnn(cudnnDataType_t type);
/// Adds the functions of the graph interface, or of recurrent nets.
void add_fake_graphs(cuda::Cudnn& functions);
void add_fake_nets(cuda::Cudnn& functions);

}  // namespace hearth::testing
