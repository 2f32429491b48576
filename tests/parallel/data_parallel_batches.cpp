// How many devices share a batch: as many as save time, by the sizes of parameters and arguments.
#include <mutex>
#include <set>
#include <utility>

#include "hearth/hearth.h"
#include "hearth/nn/data_parallel.h"
#include "tests/support/throws.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

using Rows = std::multiset<int64_t>;

/// Returns its input and notes its rows.
struct NoteImpl : nn::Cloneable<NoteImpl> {
  void reset() override {}
  Tensor forward(const Tensor& x) {
    const std::lock_guard lock(mutex);
    rows.insert(x.size(0));
    return x;
  }
  /// The rows of all calls of forward() since the last call of noted().
  static Rows noted() {
    const std::lock_guard lock(mutex);
    return std::exchange(rows, {});
  }
  static inline std::mutex mutex;
  static inline Rows rows;
};
HEARTH_MODULE(Note);

/// A batch is divided so that each device uses each parameter at least 128 times, and at least
/// M * P * 2^20 / E times for M multiprocessors and P parameters with E elements together
/// (src/nn/data_parallel.cpp). A simulated GPU has one multiprocessor.
class SizesOfBatches : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
    if (cuda::get_device_properties(0).multi_processor_count != 1)
      GTEST_SKIP() << "needs simulated GPUs";
    manual_seed(7);
    NoteImpl::noted();
  }
  /// The layer and a Note of its result, on the first device.
  template <class Layer>
  nn::Sequential noted(Layer layer) const {
    nn::Sequential net(std::move(layer), Note());
    net->to(first_);
    return net;
  }
  /// The rows of the parts into which a call of the layer divides x.
  template <class Layer>
  Rows parts(Layer layer, const Tensor& x, const nn::DataParallelOptions& options = {}) const {
    const Warnings warnings;
    nn::DataParallel model(noted(std::move(layer)), options);
    const NoGradGuard no_grad;
    model(x.to(first_));
    return NoteImpl::noted();
  }
  const Device first_{DeviceType::CUDA, 0};
};

TEST_F(SizesOfBatches, SmallLayersNeedMoreRows) {
  const nn::Linear large(1024, 1024), small(32, 32);
  EXPECT_EQ(parts(large, ones({255, 1024})), (Rows{255}));
  EXPECT_EQ(parts(large, ones({256, 1024})), (Rows{128, 128}));
  EXPECT_EQ(parts(small, ones({3969, 32})), (Rows{3969}));
  EXPECT_EQ(parts(small, ones({3970, 32})), (Rows{1985, 1985}));
}

TEST_F(SizesOfBatches, RowsHavePositions) {
  const nn::Linear small(32, 32);
  EXPECT_EQ(parts(small, ones({8, 400, 32})), (Rows{8}));
  EXPECT_EQ(parts(small, ones({8, 500, 32})), (Rows{4, 4}));
  const nn::Conv2d conv(3, 4, 3);
  EXPECT_EQ(parts(conv, ones({12, 3, 32, 32})), (Rows{12}));
  EXPECT_EQ(parts(conv, ones({13, 3, 32, 32})), (Rows{6, 7}));
  const nn::Embedding table(1000, 64);
  EXPECT_EQ(parts(table, zeros({4, 63}, kLong)), (Rows{4}));
  EXPECT_EQ(parts(table, zeros({4, 64}, kLong)), (Rows{2, 2}));
}

/// An LSTM without its states, so that it returns one tensor.
struct TaggerImpl : nn::Cloneable<TaggerImpl> {
  TaggerImpl() { reset(); }
  void reset() override {
    const auto options = nn::LSTMOptions(256, 256).batch_first(batch_first);
    lstm = register_module("lstm", nn::LSTM(options));
  }
  Tensor forward(const Tensor& x) { return std::get<0>(lstm(x)); }
  nn::LSTM lstm = nullptr;
  static inline bool batch_first = true;
};
HEARTH_MODULE(Tagger);

/// A layer with a table of positions, which has three dimensions.
struct WithPositionsImpl : nn::Cloneable<WithPositionsImpl> {
  WithPositionsImpl() { reset(); }
  void reset() override {
    positions = register_parameter("positions", zeros({1, 16, 256}));
    layer = register_module("layer", nn::Linear(256, 256));
  }
  Tensor forward(const Tensor& x) { return layer(x + positions); }
  Tensor positions;
  nn::Linear layer = nullptr;
};
HEARTH_MODULE(WithPositions);

TEST_F(SizesOfBatches, SequencesHaveAPositionPerVectorOfFeatures) {
  TaggerImpl::batch_first = true;
  EXPECT_EQ(parts(Tagger(), ones({31, 8, 256})), (Rows{31}));
  EXPECT_EQ(parts(Tagger(), ones({32, 8, 256})), (Rows{16, 16}));
  TaggerImpl::batch_first = false;
  const auto second = nn::DataParallelOptions().dim(1);
  EXPECT_EQ(parts(Tagger(), ones({8, 31, 256}), second), (Rows{8}));
  EXPECT_EQ(parts(Tagger(), ones({8, 32, 256}), second), (Rows{8, 8}));
  EXPECT_EQ(parts(WithPositions(), ones({15, 16, 256})), (Rows{15}));
  EXPECT_EQ(parts(WithPositions(), ones({16, 16, 256})), (Rows{8, 8}));
}

TEST_F(SizesOfBatches, LayersThatTakeWholeRowsUseEachParameterOncePerRow) {
  const auto flat = [] { return nn::Sequential(nn::Flatten(), nn::Linear(784, 64)); };
  EXPECT_EQ(parts(flat(), ones({255, 1, 28, 28})), (Rows{255}));
  EXPECT_EQ(parts(flat(), ones({256, 1, 28, 28})), (Rows{128, 128}));
  // In each row, the convolution's 112 elements have 3072 uses, the linear layer's 921,856 one.
  const auto mixed = [] {
    return nn::Sequential(nn::Conv2d(3, 4, 3), nn::Flatten(), nn::Linear(3600, 256));
  };
  EXPECT_EQ(parts(mixed(), ones({186, 3, 32, 32})), (Rows{186}));
  EXPECT_EQ(parts(mixed(), ones({187, 3, 32, 32})), (Rows{93, 94}));
}

TEST_F(SizesOfBatches, ParametrizedConvolutionsAreConvolutions) {
  nn::Conv1d conv(3, 4, 3);
  nn::utils::parametrizations::weight_norm(conv);
  // Three parameters with 4 * 3 * 3 + 4 + 4 elements need 71,493 uses on each device.
  EXPECT_EQ(parts(conv, ones({1489, 3, 32})), (Rows{1489}));
  EXPECT_EQ(parts(conv, ones({1490, 3, 32})), (Rows{745, 745}));
}

TEST_F(SizesOfBatches, OptionsDecide) {
  const nn::Linear small(4, 2);
  const auto min_rows = [](int64_t rows) { return nn::DataParallelOptions().min_rows(rows); };
  const nn::Identity none;
  EXPECT_EQ(parts(none, ones({2, 4})), (Rows{1, 1})) << "nothing to copy";
  EXPECT_EQ(parts(small, ones({5, 4}), min_rows(1)), (Rows{2, 3}));
  EXPECT_EQ(parts(small, ones({5, 4}), min_rows(3)), (Rows{5}));
  EXPECT_EQ(parts(small, ones({6, 4}), min_rows(3)), (Rows{3, 3}));
  EXPECT_EQ(parts(small, ones({1, 4}), min_rows(3)), (Rows{1}));
  EXPECT_ERROR(nn::DataParallel(nn::Linear(4, 2), min_rows(0)), "min_rows to be positive");
}

/// Returns n numbers, with a parameter of its own.
struct CountImpl : nn::Cloneable<CountImpl> {
  CountImpl() { reset(); }
  void reset() override { scale = register_parameter("scale", ones({1})); }
  Tensor forward(int64_t n) { return scale.expand({n}).clone(); }
  Tensor scale;
};
HEARTH_MODULE(Count);

TEST_F(SizesOfBatches, ArgumentsWithoutTensorsGoToAllDevices) {
  for (const auto& options : {nn::DataParallelOptions(), nn::DataParallelOptions().min_rows(1)}) {
    Count count;
    count->to(first_);
    nn::DataParallel model(count, options);
    EXPECT_EQ(model(int64_t{3}).size(0), 3 * cuda::device_count());
  }
}

TEST_F(SizesOfBatches, WarnsOfSmallBatchesOnce) {
  const Warnings warnings;
  nn::Linear net(4, 2);
  net->to(first_);
  nn::DataParallel model(net);
  const Tensor x = rand({6, 4}, first_);
  EXPECT_TRUE(model(x).equal(net(x)));
  model(x);
  ASSERT_EQ(Warnings::said().size(), 1u);
  EXPECT_TRUE(Warnings::contains("a batch of 6 rows is too small to gain from 2 devices"));
}

TEST_F(SizesOfBatches, TheSameBitsInEachRun) {
  nn::Sequential net(nn::Linear(256, 256), nn::Tanh(), nn::Linear(256, 256), Note());
  net->to(first_);
  nn::DataParallel model(net);
  const Tensor x = randn({256, 256}, first_);
  std::vector<Tensor> before;
  for (int run = 0; run < 3; ++run) {
    net->zero_grad();
    model(x).sin().sum().backward();
    EXPECT_EQ(NoteImpl::noted(), (Rows{128, 128}));
    std::vector<Tensor> gradients;
    for (const Tensor& parameter : net->parameters()) gradients.push_back(parameter.grad().cpu());
    for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(gradients[i].equal(before[i]));
    before = std::move(gradients);
  }
}

}  // namespace
}  // namespace hearth::testing
