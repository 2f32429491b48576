// The records of SummaryWriter, read back by an independent reader. Fields have the numbers of
// TensorBoard's messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "hearth/hearth.h"
#include "hearth/utils/tensorboard.h"
#include "hearth/vision/image.h"
#include "log/pictures.h"
#include "tests/log/everything.h"
#include "tests/log/reader.h"
#include "tests/support/files.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

using utils::tensorboard::Chart;
using utils::tensorboard::EmbeddingOptions;
using utils::tensorboard::SummaryWriter;
using utils::tensorboard::SummaryWriterOptions;

/// The image of a Summary.Value, [C, H, W].
Tensor picture_of(const LoggedValue& value) {
  std::string file = value.fields.message(4).bytes(4);
  return vision::decode_image(from_blob(file.data(), {int64_t(file.size())}, kByte)).clone();
}

TEST(SummaryWriter, ScalarsHaveStepTimeAndValue) {
  const TempFolder folder;
  SummaryWriter writer(folder.str());
  writer.add_scalar("loss", 0.5, 3, 1234.5);
  writer.add_scalar("loss", tensor({{0.25}}), 4);
  writer.add_scalar("loss", -1e30);
  writer.flush();
  const auto values = values_in(folder.str(), "loss");
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[0].step, 3);
  EXPECT_EQ(values[0].time, 1234.5);
  EXPECT_EQ(values[0].fields.real32(2), 0.5f);
  EXPECT_EQ(values[1].step, 4);
  EXPECT_EQ(values[1].fields.real32(2), 0.25f);
  EXPECT_GT(values[1].time, 1.6e9);
  EXPECT_EQ(values[2].step, 0);
  EXPECT_EQ(values[2].fields.real32(2), -1e30f);
  const auto first = events_in(folder.str())[0].fields;
  EXPECT_EQ(first.bytes(3), "brain.Event:2");
}

TEST(SummaryWriter, TakesItemsOfTensors) {
  const TempFolder folder;
  {
    SummaryWriter writer(folder.str());
    writer.add_scalar("loss", tensor({0.5}).item(), 3);
  }
  EXPECT_EQ(values_in(folder.str(), "loss").at(0).fields.real32(2), 0.5f);
}

TEST(SummaryWriter, NewStyleScalarsAreTensors) {
  const TempFolder folder;
  {
    SummaryWriter writer(folder.str());
    writer.add_scalar("a", 0.1, 1, {}, true);
    writer.add_scalar("b", 0.1, 1, {}, true, true);
  }
  const auto a = values_in(folder.str(), "a")[0].fields, b = values_in(folder.str(), "b")[0].fields;
  EXPECT_EQ(a.message(8).packed<float>(5), std::vector<float>{0.1f});
  EXPECT_EQ(b.message(8).packed<double>(6), std::vector<double>{0.1});
  EXPECT_EQ(a.message(9).message(1).bytes(1), "scalars");
}

TEST(SummaryWriter, NamedScalarsHaveSubfolders) {
  const TempFolder folder;
  {
    SummaryWriter writer(folder.str());
    for (int step = 0; step < 3; ++step)
      writer.add_scalars("x/y", {{"one", step}, {"two", 2 * step}}, step);
  }
  EXPECT_EQ(values_in(folder.path("x_y_one"), "x/y").size(), 3u);
  EXPECT_EQ(values_in(folder.path("x_y_two"), "x/y")[2].fields.real32(2), 4);
}

TEST(SummaryWriter, HistogramsCountAsNumpy) {
  const TempFolder folder;
  {
    SummaryWriter writer(folder.str());
    const Tensor values = tensor({0., 0.5, 1., 1., 2., 4.});
    writer.add_histogram("edges", values, 1, std::vector<double>{-1, 0, 1, 2, 3});
    writer.add_histogram("four", values, 1, 4);
    writer.add_histogram("tensorflow", tensor({-1., 2., 2.}));
  }
  const auto edges = values_in(folder.str(), "edges")[0].fields.message(5);
  EXPECT_EQ(edges.packed<double>(6), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(edges.packed<double>(7), (std::vector<double>{0, 2, 2, 1}));
  EXPECT_EQ(edges.real(2), 4);
  EXPECT_EQ(edges.real(3), 6);
  EXPECT_EQ(edges.real(4), 8.5);
  EXPECT_EQ(edges.real(5), 22.25);
  const auto four = values_in(folder.str(), "four")[0].fields.message(5);
  EXPECT_EQ(four.packed<double>(6), (std::vector<double>{0, 1, 2, 3, 4}));
  EXPECT_EQ(four.packed<double>(7), (std::vector<double>{0, 2, 2, 1, 1}));
  const auto counts = values_in(folder.str(), "tensorflow")[0].fields.message(5).packed<double>(7);
  EXPECT_EQ(counts[1], 1);
  EXPECT_EQ(counts.back(), 2);
}

TEST(SummaryWriter, AHistogramKeepsTheValuesOfTheCall) {
  const TempFolder folder;
  {
    SummaryWriter writer(folder.str());
    Tensor weights = ones({1000});
    weights.requires_grad_();
    writer.add_histogram("weights", weights);
    NoGradGuard no_grad;
    weights.zero_();
  }
  EXPECT_EQ(values_in(folder.str(), "weights")[0].fields.message(5).real(4), 1000);
}

TEST(SummaryWriter, ImagesAreScaledAndClipped) {
  const TempFolder folder;
  {
    SummaryWriter writer(folder.str());
    writer.add_image("numbers", tensor({{-1., 0., 0.5}, {1., 2., std::nan("")}}), 1, {}, "HW");
    writer.add_image("bytes", arange(24).to(kByte).view({2, 4, 3}), 1, {}, "HWC");
    writer.add_images("batch", ones({9, 1, 2, 2}), 1);
  }
  const auto values = values_in(folder.str());
  const Tensor numbers = picture_of(values[0]);
  EXPECT_TRUE(numbers[0].equal(tensor({{0, 0, 127}, {255, 255, 0}}).to(kByte)));
  EXPECT_TRUE(numbers[0].equal(numbers[2]));
  EXPECT_TRUE(picture_of(values[1]).equal(arange(24).to(kByte).view({2, 4, 3}).permute({2, 0, 1})));
  const auto image = values[1].fields.message(4);
  EXPECT_EQ(image.integer(1), 2);
  EXPECT_EQ(image.integer(2), 4);
  EXPECT_EQ(image.integer(3), 3);
  const Tensor batch = picture_of(values[2]);
  EXPECT_EQ(batch.sizes(), IntArrayRef({3, 4, 16}));
  EXPECT_EQ(batch.eq(255).sum().item<int64_t>(), 3 * 9 * 4);
}

TEST(SummaryWriter, AVideoIsAnAnimatedPng) {
  const TempFolder folder;
  {
    SummaryWriter writer(folder.str());
    writer.add_video("video", stack({zeros({3, 4, 5}), ones({3, 4, 5})}).unsqueeze(0), 1, 10);
  }
  const auto value = values_in(folder.str(), "video")[0];
  const std::string file = value.fields.message(4).bytes(4);
  EXPECT_NE(file.find("acTL"), std::string::npos);
  EXPECT_NE(file.find("fdAT"), std::string::npos);
  EXPECT_EQ(picture_of(value).sum().item<int64_t>(), 0);  // readers without animations show frame 1
}

TEST(SummaryWriter, WrongArgumentsAreErrors) {
  const TempFolder folder;
  SummaryWriter writer(folder.str());
  EXPECT_ERROR(writer.add_scalar("a", ones({2})), "Tensor should contain one element");
  EXPECT_ERROR(writer.add_scalar("\xff", 1), "The tag is not valid UTF-8");
  EXPECT_ERROR(writer.add_histogram("a", zeros({0})), "The input has no element.");
  EXPECT_ERROR(writer.add_histogram("a", ones({2}), 1, "best"), "'best' is not a valid estimator");
  EXPECT_ERROR(writer.add_histogram("a", ones({2}), 1, 0), "`bins` must be positive");
  EXPECT_ERROR(writer.add_histogram("a", ones({2}), 1, std::vector<double>{1, 0}),
               "must increase monotonically");
  EXPECT_ERROR(writer.add_histogram_raw("a", 0, 1, 1, 1, 1, {1, 2}, {1}), "bucket_counts");
  EXPECT_ERROR(writer.add_image("a", ones({3, 4})), "size of input tensor and input format");
  EXPECT_ERROR(writer.add_image("a", ones({3, 4, 4}), 1, {}, "CHH"), "shorthand twice");
  EXPECT_ERROR(writer.add_image("a", ones({3, 4, 4}), 1, {}, "CHX"), "must have the letters of HW");
  EXPECT_ERROR(writer.add_image("a", ones({5, 4, 4})), "1 to 4 channels");
  EXPECT_ERROR(writer.add_images("a", ones({2, 4, 4, 4})), "1 or 3 channels");
  EXPECT_ERROR(writer.add_image("a", ones({3, 0, 4})), "no pixels");
  EXPECT_ERROR(writer.add_audio("a", ones({2, 4})), "should be 1 dimensional");
  EXPECT_ERROR(writer.add_embedding(ones({2, 2, 2})), "mat should be 2D");
  EXPECT_ERROR(writer.add_embedding(ones({2, 2}), EmbeddingOptions().metadata({"a"})),
               "#labels should equal");
  EXPECT_ERROR(writer.add_hparams({{"a", 1}}, {}, {{"a", {"x"}}}), "should be a list of same type");
  EXPECT_ERROR(writer.add_custom_scalars_marginchart({"a", "b"}), "Expected 3 tags, got 2.");
  EXPECT_ERROR(writer.add_mesh("a", ones({4, 3})), "BxNx3");
  const Tensor meta = empty({1, 4, 3}, Device("meta")), points = ones({1, 4, 3}), n = ones({2});
  EXPECT_ERROR(writer.add_mesh("a", meta), "argument 'vertices'");
  EXPECT_ERROR(writer.add_mesh("a", points, meta), "argument 'colors'");
  EXPECT_ERROR(writer.add_mesh("a", points, {}, meta), "argument 'faces'");
  EXPECT_ERROR(writer.add_pr_curve_raw("a", n, meta, n, n, n, n, 1), "false_positive_counts");
  EXPECT_ERROR(writer.add_pr_curve_raw("a", n, n, n, n, n, meta, 1), "recall");
  EXPECT_ERROR(writer.add_pr_curve("a", ones({2}), ones({3})), "same sizes");
  EXPECT_ERROR(writer.add_tensor("a", empty({2}, Device("meta"))), "meta tensor");
  EXPECT_ERROR(writer.add_scalar("a", ones({1}, kComplexFloat)), "cannot be complex");
  EXPECT_ERROR(writer.add_audio("a", ones({1, 0})), "has no samples");
}

TEST(SummaryWriter, ValuesThatTensorBoardCannotReadAreErrors) {
  const TempFolder folder;
  SummaryWriter writer(folder.str());
  const auto with_tag = [](const char* tag) { return EmbeddingOptions().tag(tag); };
  EXPECT_ERROR(writer.add_scalar("a", 1, 1, std::nan("")), "walltime must be finite");
  EXPECT_ERROR(writer.add_embedding(ones({0, 2})), "at least one row and one column");
  EXPECT_ERROR(writer.add_embedding(ones({2, 0})), "at least one row and one column");
  EXPECT_ERROR(writer.add_embedding(ones({2, 2}, kComplexFloat)), "cannot be complex");
  EXPECT_ERROR(writer.add_embedding(ones({2, 2}), with_tag("a\nb")), "control characters");
  EXPECT_ERROR(writer.add_embedding(ones({2, 2}), with_tag("\xff")), "not valid UTF-8");
  for (const char* name : {"a\nb", "a\tb"})
    EXPECT_ERROR(writer.add_embedding(ones({1, 2}),
                                      EmbeddingOptions().metadata({"a"}).metadata_header({name})),
                 "The name of a column cannot contain a tab or a line break");
  EXPECT_ERROR(writer.add_embedding(ones({1, 2}), EmbeddingOptions().metadata({"\xff"})),
               "not valid UTF-8");
  EXPECT_ERROR(writer.add_mesh("a", ones({1, 4, 2})), "BxNx3");
  EXPECT_ERROR(writer.add_mesh("a", ones({1, 4, 3}), ones({1, 5, 3})), "a color for each vertex");
  EXPECT_ERROR(writer.add_mesh("a", ones({1, 4, 3}), {}, ones({2, 5, 3})), "faces");
  EXPECT_ERROR(writer.add_mesh("a", ones({1, 4, 3}), {}, {}, "{oops"), "not valid JSON");
  EXPECT_ERROR(writer.add_custom_scalars({{"x", {{"t", "Bars", {"a"}}}}}),
               "'Multiline' or 'Margin', but got 'Bars'");
}

TEST(SummaryWriter, RangesThatCannotBeDividedGiveAWarning) {
  const TempFolder folder;
  const Warnings warnings;
  SummaryWriter writer(folder.str());
  constexpr double kLarge = 1.7e308;  // the range overflows
  writer.add_histogram("large", tensor({-kLarge, kLarge}, kDouble), 1, 10);
  writer.add_histogram("large", tensor({-kLarge, 1.0, kLarge}, kDouble), 1, "auto");
  writer.add_histogram("close", tensor({1e16, 1e16 + 2}, kDouble), 1, 100);
  writer.flush();
  EXPECT_TRUE(
      Warnings::contains("Too many bins for data range. Cannot create 10 finite-sized bins"));
  EXPECT_TRUE(Warnings::contains("Cannot create 100 finite-sized bins"));
  EXPECT_EQ(values_in(folder.str()).size(), 0u);
}

TEST(SummaryWriter, ValuesThatCannotBeCountedGiveAWarning) {
  const TempFolder folder;
  const Warnings warnings;
  SummaryWriter writer(folder.str());
  writer.add_histogram("bad", full({4}, std::nan("")));
  writer.add_histogram("bad", full({4}, std::nan("")));
  writer.add_histogram("range", full({4}, std::nan("")), 1, "auto");
  writer.add_scalar("good", 1);
  writer.flush();
  EXPECT_EQ(warnings.said().size(), 2u);
  EXPECT_TRUE(Warnings::contains("The histogram is empty"));
  EXPECT_TRUE(Warnings::contains("in the histogram 'bad'"));
  EXPECT_TRUE(Warnings::contains("is not finite"));
  EXPECT_EQ(values_in(folder.str()).size(), 1u);
}

TEST(SummaryWriter, EmbeddingsAreFiles) {
  const TempFolder folder;
  {
    SummaryWriter writer(folder.str());
    writer.add_embedding(tensor({{1., 0.5}, {-2., 0.125}}),
                         EmbeddingOptions().metadata({"a", "b"}).tag("x/y").global_step(3));
    writer.add_embedding(ones({1, 2}), EmbeddingOptions().label_img(ones({1, 3, 2, 2})));
  }
  EXPECT_EQ(bytes_of(folder.path("00003/x%2fy/tensors.tsv")), "1\t0.5\n-2\t0.125\n");
  EXPECT_EQ(bytes_of(folder.path("00003/x%2fy/metadata.tsv")), "a\nb\n");
  EXPECT_TRUE(std::filesystem::exists(folder.path("00000/default/sprite.png")));
  const std::string config = bytes_of(folder.path("projector_config.pbtxt"));
  EXPECT_NE(config.find("tensor_path: \"00003/x%2fy/tensors.tsv\""), std::string::npos);
  EXPECT_NE(config.find("single_image_dim: 2"), std::string::npos);
}

TEST(SummaryWriter, EmbeddingsOfAnEarlierWriterStay) {
  const TempFolder folder;
  for (const char* tag : {"first", "second", "second"}) {
    SummaryWriter writer(folder.str());
    writer.add_embedding(ones({1, 2}), EmbeddingOptions().tag(tag));
  }
  const std::string config = bytes_of(folder.path("projector_config.pbtxt"));
  EXPECT_NE(config.find("\"first:00000\""), std::string::npos);
  const size_t second = config.find("\"second:00000\"");
  EXPECT_NE(second, std::string::npos);
  EXPECT_EQ(config.find("\"second:00000\"", second + 1), std::string::npos);
}

TEST(SummaryWriter, HyperparametersAreARunOfTheirOwn) {
  const TempFolder folder;
  {
    SummaryWriter writer(folder.str());
    writer.add_hparams({{"lr", 0.1}, {"name", "x"}}, {{"accuracy", 0.9}}, {}, "trial", 2);
  }
  const auto values = values_in(folder.path("trial"));
  ASSERT_EQ(values.size(), 4u);
  EXPECT_EQ(values[0].tag, "_hparams_/experiment");
  EXPECT_EQ(values[3].fields.real32(2), 0.9f);
  EXPECT_EQ(values[3].step, 2);
}

// The writer's queue is limited by these bytes.
TEST(SummaryWriter, TheSizeOfAFigureIncludesItsTexts) {
  using utils::plot::Figure;
  using utils::tensorboard::detail::bytes_of;
  const std::vector<std::string> names(100, std::string(1000, 'x'));
  Figure bars, map, line;
  bars.axes().bar(names, std::vector<double>(100, 1));
  map.axes().heatmap(ones({100, 100}), names, names);
  line.axes().plot({1, 2}, {3, 4}, names[0]).set_title(names[0]);
  for (const auto& [figure, bytes] : {std::pair(&bars, 100 * 1000 + 2 * 100 * sizeof(double)),
                                      {&map, 100 * 100 * sizeof(double) + 2 * 100 * 1000},
                                      {&line, 2000 + 4 * sizeof(double)}}) {
    EXPECT_GE(bytes_of(*figure), bytes);
    EXPECT_LE(bytes_of(*figure), 2 * bytes);
  }
  Figure with_texts;
  with_texts.axes().heatmap(ones({30, 30}));
  EXPECT_GE(bytes_of(with_texts), 900 * (sizeof(double) + sizeof(std::string)));
}

TEST(SummaryWriter, TheDefaultFolderHasDateAndComment) {
  const TempFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.str());
  SummaryWriter writer(SummaryWriterOptions().comment("-lr=0.1"));
  const std::string log_dir = writer.get_logdir();
  writer.add_scalar("a", 1);
  writer.close();
  EXPECT_EQ(values_in(log_dir).size(), 1u);
  std::filesystem::current_path(before);
  EXPECT_EQ(log_dir.rfind("runs/", 0), 0u);
  EXPECT_TRUE(log_dir.ends_with("-lr=0.1"));
}

TEST(SummaryWriter, TakesEveryKindOfRecord) {
  const TempFolder folder;
  write_everything(folder.str());
  EXPECT_GE(values_in(folder.str()).size(), 150u);
  EXPECT_EQ(values_in(folder.path("a_b_sin"), "a/b").size(), 100u);
}

// tests/oracle/read_by_tensorboard.py runs this test in the folder for the files.
TEST(SummaryWriter, DISABLED_WriteForTheOracle) { write_everything("."); }

}  // namespace
}  // namespace hearth::testing
