// Opens files of cuDNN that have all functions, some or none.
#include <gtest/gtest.h>

#include "kernels/cuda/cudnn_library.h"

namespace hearth::cuda {
namespace {

TEST(CudnnFile, HasAllParts) {
  const CudnnFile cudnn(HEARTH_FAKE_CUDNN);
  EXPECT_EQ(cudnn.file.why_not(), "");
  EXPECT_TRUE(cudnn.functions.has_nets);
  EXPECT_TRUE(cudnn.functions.has_graphs);
  EXPECT_NE(cudnn.functions.cudnnConvolutionForward, nullptr);
  EXPECT_NE(cudnn.functions.cudnnBackendExecute, nullptr);
}

TEST(CudnnFile, AnOlderReleaseComputesConvolutions) {
  const CudnnFile cudnn(HEARTH_OLD_FAKE_CUDNN);
  EXPECT_EQ(cudnn.file.why_not(), "");
  EXPECT_NE(cudnn.functions.cudnnConvolutionForward, nullptr);
  EXPECT_NE(cudnn.functions.cudnnConvolutionBackwardFilter, nullptr);
  EXPECT_FALSE(cudnn.functions.has_nets);
  EXPECT_FALSE(cudnn.functions.has_graphs);
}

TEST(CudnnFile, IsMissingWithoutFunctionsForConvolutions) {
  EXPECT_NE(CudnnFile("libm.so.6").file.why_not().find("libm.so.6 has no cudnn"),
            std::string::npos);
  const CudnnFile missing("no_such_file.so");
  EXPECT_NE(missing.file.why_not().find("no_such_file.so: cannot open"), std::string::npos)
      << missing.file.why_not();
  EXPECT_FALSE(missing.functions.has_nets);
}

}  // namespace
}  // namespace hearth::cuda
