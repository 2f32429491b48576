#include "tests/log/everything.h"

#include <cmath>
#include <limits>

#include "hearth/hearth.h"
#include "hearth/utils/tensorboard.h"

namespace hearth::testing {

namespace {

using utils::tensorboard::SummaryWriter;
using utils::tensorboard::SummaryWriterOptions;

constexpr double kStart = 1.7e9;  // the time of the first record

/// sin(k / 7) for k = 0, 1, … in the given sizes.
Tensor waves(IntArrayRef sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return (arange(count, kDouble) / 7).sin().view(sizes);
}

void add_scalars(SummaryWriter& writer) {
  for (int i = 0; i < 100; ++i) {
    writer.add_scalar("loss/train", 1.0 / (i + 1), i, kStart + i);
    writer.add_scalars("a/b", {{"sin", std::sin(i / 5.0)}, {"cos", std::cos(i / 5.0)}}, i,
                       kStart + i);
  }
  writer.add_scalar("of a tensor", tensor({{2.5}}), 3, kStart);
  writer.add_scalar("not a number", std::nan(""), 3, kStart);
  writer.add_scalar("infinite", -std::numeric_limits<double>::infinity(), 3, kStart);
  writer.add_scalar("new style", 0.1, 5, kStart, true);
  writer.add_scalar("double", 0.1, 5, kStart, true, true);
  writer.add_scalar("without a step", 0.25, {}, kStart);
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kByte, kChar, kShort, kInt,
                                 kLong, kBool, kComplexFloat, kComplexDouble})
    writer.add_tensor(std::string("tensor/") + toString(dtype), arange(6).view({2, 3}).to(dtype), 1,
                      kStart);
}

void add_histograms(SummaryWriter& writer) {
  const Tensor values = waves({10, 100}) * arange(1000, kDouble).view({10, 100}) / 100;
  for (const char* bins : {"tensorflow", "auto", "fd", "doane", "scott", "rice", "sturges", "sqrt"})
    writer.add_histogram(std::string("histogram/") + bins, values, 1, bins, kStart);
  writer.add_histogram("histogram/30", values, 1, 30, kStart);
  writer.add_histogram("histogram/edges", values, 1, std::vector<double>{-2, -1, 0.5, 3}, kStart);
  writer.add_histogram("histogram/max", values, 1, "tensorflow", kStart, 10);
  writer.add_histogram("histogram/float", values.to(kFloat), 1, "tensorflow", kStart);
  writer.add_histogram("histogram/int", arange(20), 1, "tensorflow", kStart);
  writer.add_histogram("histogram/equal", ones({7}), 1, "auto", kStart);
  Tensor damaged = values.clone();
  damaged[0][0] = std::nan("");
  damaged[0][1] = std::numeric_limits<double>::infinity();
  writer.add_histogram("histogram/nan", damaged, 1, "tensorflow", kStart);
  for (int step = 0; step < 5; ++step)
    writer.add_histogram("histogram/steps", values + step, step, "tensorflow", kStart + step);
  writer.add_histogram_raw("histogram/raw", -1, 2, 6, 3, 8, {0, 1, 2}, {1, 2, 3}, 1, kStart);
}

void add_images(SummaryWriter& writer) {
  writer.add_image("image/chw", waves({3, 16, 20}) * 1.5, 1, kStart);  // clipped
  writer.add_image("image/hwc", (waves({16, 20, 3}) * 100 + 100).to(kByte), 1, kStart, "HWC");
  writer.add_image("image/gray", waves({1, 16, 20}).to(kFloat), 1, kStart);
  writer.add_image("image/hw", waves({16, 20}).to(kFloat), 1, kStart, "HW");
  writer.add_image("image/wh", waves({16, 20}).to(kFloat), 1, kStart, "wh");
  writer.add_image("image/rgba", waves({4, 16, 20}).abs(), 1, kStart);
  writer.add_images("image/batch", waves({10, 1, 8, 9}).abs(), 1, kStart);
  writer.add_images("image/nhwc", waves({3, 8, 9, 3}).abs(), 1, kStart, "NHWC");
  if (utils::plot::is_available()) {
    utils::plot::Figure figure(2);
    figure.axes(0).plot(arange(50), waves({50}), "sin").bar({"a", "b"}, {0.5, -0.5});
    figure.axes(1).heatmap(waves({3, 4}));
    writer.add_figure("figure", figure, 1, true, kStart);
    writer.add_figure("figures", {figure, utils::plot::Figure()}, 1, true, kStart);
  }
  writer.add_video("video", waves({2, 4, 3, 16, 16}).abs(), 1, 8, kStart);
  writer.add_audio("audio", waves({1, 4000}).to(kFloat), 1, 8000, kStart);
}

void add_other_kinds(SummaryWriter& writer) {
  writer.add_text("text", "# Title\n*some* **Markdown** \xc3\xbc", 1, kStart);
  writer.add_hparams({{"lr", 0.1}, {"bsize", 32}, {"optimizer", "adam"}, {"augment", true}},
                     {{"hparam/accuracy", 0.9}, {"hparam/loss", 0.3}},
                     {{"optimizer", {"adam", "sgd"}}, {"lr", {0.1, 0.01}}}, "trial", 7);
  const Tensor labels = waves({200}).gt(0), scores = (waves({200}) + 1.0001) / 2.1;
  writer.add_pr_curve("pr", labels, scores.to(kFloat), 1, 127, {}, kStart);
  writer.add_pr_curve("pr/weights", labels, scores, 1, 50, waves({200}).abs(), kStart);
  const Tensor counts = arange(4, kDouble);
  writer.add_pr_curve_raw("pr/raw", counts, counts + 1, counts + 2, counts + 3, counts / 4,
                          counts / 5, 1, 4, kStart);
  writer.add_custom_scalars({{"Losses", {{"both", "Multiline", {"loss/train", "new style"}}}},
                             {"Bounds", {{"margin", "Margin", {"a", "b", "c"}}}}});
  const Tensor corners = waves({1, 4, 3});
  writer.add_mesh("mesh", corners, (corners.abs() * 255).to(kInt),
                  tensor({{0, 2, 3}, {0, 3, 1}, {0, 1, 2}, {1, 3, 2}}).to(kInt).unsqueeze(0),
                  R"({"camera": {"cls": "PerspectiveCamera", "fov": 75}})", 1, kStart);
  writer.add_mesh("points", corners, {}, {}, "{}", 1, kStart);
  using utils::tensorboard::EmbeddingOptions;
  writer.add_embedding(waves({5, 3}), EmbeddingOptions()
                                          .metadata({"a", "b", "c", "d", "e"})
                                          .label_img(waves({5, 3, 6, 6}).abs())
                                          .global_step(2)
                                          .tag("points/of \xc3\xbc"));
  writer.add_embedding(
      waves({2, 3}).to(kFloat),
      EmbeddingOptions().metadata({"a\t1", "b\t2"}).metadata_header({"name", "class"}));
}

/// A run that was interrupted after step 9 and resumed from step 6.
void write_resumed(const std::string& folder) {
  {
    SummaryWriter writer(folder);
    for (int step = 0; step < 10; ++step) writer.add_scalar("resumed", step, step, kStart + step);
  }
  SummaryWriter writer(SummaryWriterOptions().log_dir(folder).purge_step(6));
  for (int step = 6; step < 12; ++step) writer.add_scalar("resumed", -step, step, kStart + 20);
}

}  // namespace

void write_everything(const std::string& folder) {
  write_resumed(folder + "/resumed");
  SummaryWriter writer(folder);
  add_scalars(writer);
  add_histograms(writer);
  add_images(writer);
  add_other_kinds(writer);
  nn::Sequential model(nn::Conv2d(nn::Conv2dOptions(1, 2, 3)), nn::ReLU(), nn::Flatten(),
                       nn::Linear(32, 3));
  writer.add_graph(model, waves({1, 1, 6, 6}).to(kFloat));
}

}  // namespace hearth::testing
