// The decisions between cuDNN and Hearth's own kernels, and the layouts of cuDNN's recurrent nets.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "kernels/cuda/attention_choice.h"
#include "kernels/cuda/cudnn_parts.h"
#include "kernels/cuda/recurrence_layout.h"

namespace hearth::cuda {
namespace {

TEST(CudnnParts, AreReadFromAList) {
  const auto read = [](const char* text) {
    const std::optional<CudnnParts> parts = cudnn_parts_in(text);
    return parts ? std::string(parts->attention ? "a" : "") + (parts->recurrence ? "r" : "") : "?";
  };
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("attention"), "a");
  EXPECT_EQ(read("recurrence"), "r");
  EXPECT_EQ(read("recurrence,attention"), "ar");
  EXPECT_EQ(read("1"), "?");
  EXPECT_EQ(read("attention recurrence"), "?");
  EXPECT_EQ(read("attention,,recurrence"), "?");
}

alignas(16) char memory[64];

View view_of(std::vector<int64_t> sizes, ScalarType dtype = kHalf) {
  View view;
  view.data = memory;
  view.dtype = dtype;
  view.dim = 4;
  view.numel = 1;
  for (int d = 0; d < 4; ++d) {
    view.sizes[d] = sizes[size_t(d)];
    view.numel *= sizes[size_t(d)];
  }
  view.make_contiguous();
  return view;
}

AttentionBackwardParams backward_of(int64_t keys) {
  AttentionBackwardParams params;
  AttentionOperands& o = params.operands;
  o.query = o.out = params.grad_out = params.grad_query = view_of({2, 4, 32, 64});
  o.key = o.value = params.grad_key = params.grad_value = view_of({2, 2, keys, 64});
  return params;
}

bool suits(const AttentionBackwardParams& params) { return suits_cudnn(params, 91900, false); }

TEST(AttentionChoice, DependsOnDtypeWidthAndDropout) {
  EXPECT_TRUE(suits(backward_of(100)));
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    AttentionBackwardParams params = backward_of(100);
    for (View* view : {&params.operands.query, &params.operands.key, &params.operands.value})
      view->dtype = dtype;
    EXPECT_EQ(suits_cudnn(params.operands), dtype == kBFloat16);
  }
  for (const int64_t width : {8, 12, 65, 256, 264}) {
    AttentionBackwardParams params = backward_of(100);
    params.operands.value = view_of({2, 2, 100, width});
    EXPECT_EQ(suits_cudnn(params.operands), width == 8 || width == 256) << width;
  }
  AttentionBackwardParams dropped = backward_of(100);
  dropped.operands.kept = view_of({2, 4, 32, 100}, kBool);
  EXPECT_FALSE(suits(dropped));
}

TEST(AttentionChoice, DependsOnLayout) {
  const auto with = [](auto change) {
    AttentionBackwardParams params = backward_of(100);
    change(params.operands.key);
    return suits_cudnn(params.operands);
  };
  EXPECT_TRUE(with([](View& v) { v.strides[2] = 72; }));
  EXPECT_FALSE(with([](View& v) { v.strides[2] = 68; })) << "rows that are not aligned";
  EXPECT_FALSE(with([](View& v) { v.strides[3] = 2; }));
  EXPECT_FALSE(with([](View& v) { v.strides[0] = 0; })) << "an expanded tensor";
  EXPECT_FALSE(with([](View& v) { v.strides[1] = -6400; }));
  EXPECT_FALSE(with([](View& v) { v.data = memory + 2; }));
  EXPECT_TRUE(with([](View& v) {
    v.sizes[0] = 1;
    v.strides[0] = 3;
  })) << "the stride of a dimension of size 1 has no meaning";
  AttentionBackwardParams params = backward_of(100);
  params.grad_out.strides[0] = 0;
  EXPECT_FALSE(suits(params));
  params = backward_of(100);
  params.grad_key = View();
  EXPECT_TRUE(suits(params)) << "a gradient that is not wanted";
}

TEST(AttentionChoice, DependsOnTheMask) {
  AttentionBackwardParams params = backward_of(128);
  View& mask = params.operands.mask;
  mask = view_of({2, 4, 32, 128});
  EXPECT_TRUE(suits(params));
  mask.strides[1] = 0;
  EXPECT_TRUE(suits(params)) << "heads with one mask";
  const View layout = graph_layout(mask, true);
  EXPECT_EQ(layout.sizes[1], 1);
  EXPECT_EQ(layout.strides[1], 32 * 128);
  EXPECT_EQ(layout.sizes[0], 2);
  mask.strides[3] = 0;
  EXPECT_FALSE(suits(params)) << "keys with one mask";
  mask = view_of({2, 4, 32, 128}, kFloat);
  EXPECT_FALSE(suits(params)) << "a float mask of half operands";
  params = backward_of(77);
  EXPECT_TRUE(suits_cudnn(params.operands));
  params.operands.mask = view_of({2, 4, 32, 77});
  EXPECT_FALSE(suits_cudnn(params.operands)) << "rows of the mask that are not aligned";
  params = backward_of(192);
  EXPECT_TRUE(suits(params));
  params.operands.mask = view_of({2, 4, 32, 192});
  EXPECT_TRUE(suits_cudnn(params.operands));
  EXPECT_FALSE(suits(params)) << "192 keys are no multiple of 128";
}

TEST(AttentionChoice, DependsOnTheVersion) {
  EXPECT_FALSE(suits_cudnn(backward_of(100), 91500, false));
  EXPECT_TRUE(suits_cudnn(backward_of(100), 91600, false));
  EXPECT_TRUE(suits_cudnn(backward_of(256), 90100, false));
  EXPECT_FALSE(suits_cudnn(backward_of(256), 91900, true)) << "deterministic";
}

TEST(RecurrenceLayout, LengthsFollowFromBatchSizes) {
  EXPECT_EQ(sequence_lengths({3, 3, 2, 1}), (std::vector<int32_t>{4, 3, 2}));
  EXPECT_EQ(sequence_lengths({2, 2}), (std::vector<int32_t>{2, 2}));
  EXPECT_TRUE(sequence_lengths({}).empty());
}

RecurrenceNetShape net_shape(RecurrenceMode mode) {
  RecurrenceNetShape shape;
  shape.mode = mode;
  shape.layers = 2;
  shape.bidirectional = true;
  shape.input = 3;
  shape.hidden = 5;
  shape.state = mode == RecurrenceMode::kLstm ? 4 : 5;
  shape.batch_sizes = {2, 1};
  return shape;
}

TEST(RecurrenceLayout, WeightsHaveTheNumbersOfTheDocumentation) {
  const auto weights = weights_of(net_shape(RecurrenceMode::kLstm));
  // For each layer and direction: 8 matrices, 8 biases, 1 projection.
  ASSERT_EQ(weights.size(), size_t{4 * 17});
  const NetWeight& forget = weights[1];  // of w_ih: rows 5 to 9
  EXPECT_EQ(forget.number, 1);
  EXPECT_EQ(forget.start, 5 * 3);
  EXPECT_EQ(forget.rows, 5);
  EXPECT_EQ(forget.columns, 3);
  const NetWeight& cell = weights[6];  // of w_hh: rows 10 to 14
  EXPECT_EQ(cell.number, 6);
  EXPECT_EQ(cell.start, 20 * 3 + 10 * 4);
  EXPECT_EQ(cell.columns, 4);
  EXPECT_TRUE(weights[8].is_bias);
  EXPECT_EQ(weights[8].number, 0);
  EXPECT_EQ(weights[12].number, 4) << "b_hh";
  EXPECT_EQ(weights[16].number, 8) << "projection";
  EXPECT_EQ(weights[16].rows, 4);
  EXPECT_EQ(weights[16].columns, 5);
  EXPECT_EQ(weights[17].pseudo_layer, 1) << "the reverse direction";
  EXPECT_EQ(weights[34].pseudo_layer, 2);
  EXPECT_EQ(weights[34].columns, 8) << "both directions of the layer below";
}

TEST(RecurrenceLayout, WeightsCoverTheVectorOnce) {
  for (const RecurrenceMode mode :
       {RecurrenceMode::kLstm, RecurrenceMode::kGru, RecurrenceMode::kRnnRelu})
    for (const bool has_biases : {false, true}) {
      RecurrenceNetShape shape = net_shape(mode);
      shape.has_biases = has_biases;
      int64_t end = 0;
      std::set<std::tuple<int, int, bool>> names;
      for (const NetWeight& weight : weights_of(shape)) {
        EXPECT_EQ(weight.start, end);
        end += weight.count();
        EXPECT_TRUE(names.insert({weight.pseudo_layer, weight.number, weight.is_bias}).second);
        EXPECT_TRUE(has_biases || !weight.is_bias);
      }
      const int64_t rows = shape.gates() * 5, state = shape.state,
                    biases = has_biases ? 2 * rows : 0, projection = state == 4 ? 20 : 0;
      EXPECT_EQ(end, 2 * (rows * 3 + rows * 2 * state) + 4 * (rows * state + biases + projection));
    }
}

TEST(RecurrenceLayout, AdjacentRangesAreJoined) {
  const auto ranges = joined({{0, 10, 4}, {4, 14, 2}, {6, 17, 1}, {8, 18, 1}, {9, 19, 3}});
  ASSERT_EQ(ranges.size(), size_t{3});
  EXPECT_EQ(ranges[0].count, 6);
  EXPECT_EQ(ranges[1].library, 17);
  EXPECT_EQ(ranges[2].vector, 8);
  EXPECT_EQ(ranges[2].count, 4);
}

TEST(RecurrenceLayout, CudnnMayNotComputeEveryNet) {
  const auto suits_with = [](auto change) {
    RecurrenceNetShape shape = net_shape(RecurrenceMode::kLstm);
    change(shape);
    return suits_cudnn(shape);
  };
  using Shape = RecurrenceNetShape;
  EXPECT_TRUE(suits_with([](Shape&) {}));
  EXPECT_FALSE(suits_with([](Shape& s) { s.mode = RecurrenceMode::kGru; })) << "projection";
  EXPECT_FALSE(suits_with([](Shape& s) { s.state = 6; }));
  EXPECT_FALSE(suits_with([](Shape& s) { s.batch_sizes = {}; }));
  EXPECT_FALSE(suits_with([](Shape& s) { s.batch_sizes = {2, 0}; }));
  EXPECT_FALSE(suits_with([](Shape& s) { s.batch_sizes = {1, 2}; }));
  EXPECT_FALSE(suits_with([](Shape& s) { s.input = 0; }));
  EXPECT_FALSE(suits_with([](Shape& s) { s.hidden = int64_t{1} << 31; }));
  EXPECT_FALSE(suits_with([](Shape& s) { s.dtype = kLong; }));
}

}  // namespace
}  // namespace hearth::cuda
