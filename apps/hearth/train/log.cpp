#include "log.h"

#include <algorithm>
#include <sstream>
#include <string>

#include "config.h"
#include "hearth/hearth.h"
#include "hearth/vision/utils.h"

namespace hearth::app {

namespace {

using utils::tensorboard::HParam;
using utils::tensorboard::HParams;

constexpr int64_t kMaxImages = 32, kMaxClasses = 100;  // of a picture
constexpr int64_t kBins = 64;  // TensorFlow's bins take 8 KB in each epoch for each tensor

HParam hparam(const std::string& value) { return value; }
HParam hparam(bool value) { return value; }
HParam hparam(double value) { return value; }
HParam hparam(int64_t value) { return value; }
/// As a text if TensorBoard, whose numbers are doubles, would change the value.
HParam hparam(uint64_t value) {
  constexpr uint64_t kLargestExact = uint64_t{1} << 53;
  if (value > kLargestExact) return std::to_string(value);
  return static_cast<int64_t>(value);
}
HParam hparam(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}
template <class T>
HParam hparam(const std::optional<T>& value) {
  return value ? hparam(*value) : HParam(std::string("none"));
}

/// The settings that determine a run's results.
HParams hparams_of(const TrainOptions& options, const RunOptions& run) {
  HParams params{{"lr", run.lr}, {"batch_size", run.batch_size}};
  for_each_setting(options, [&](const char* name, const auto& value, Effect effect) {
    if (effect == Effect::kResults) params.emplace_back(identifier(name), hparam(value));
  });
  return params;
}

/// The settings as a block of code in Markdown.
std::string settings_text(const TrainOptions& options, const RunOptions& run) {
  std::istringstream config(config_text(options));
  std::string text = detail::str("learning rate ", run.lr, ", batch size ", run.batch_size, ", ",
                                 run.device, "\n\n");
  for (std::string line; std::getline(config, line);) text += "    " + line + "\n";
  return text;
}

bool are_images(const Tensor& inputs) {
  return inputs.dim() == 4 && (inputs.size(1) == 1 || inputs.size(1) == 3);
}

}  // namespace

Log::Log(const std::string& folder, bool enabled, int64_t first_step) {
  using utils::tensorboard::SummaryWriterOptions;
  if (!enabled) return;
  SummaryWriterOptions options;
  options.log_dir(folder);
  options.purge_step(first_step);  // also hides the steps of a process that saved no checkpoint
  writer_.emplace(options);
}

void Log::begin(const TrainOptions& options, const RunOptions& run, const Examples& examples) {
  if (!writer_) return;
  writer_->add_text("settings", settings_text(options, run));
  const Tensor inputs = examples.batch(0, std::min(kMaxImages, examples.count())).data;
  if (are_images(inputs)) writer_->add_image("images", vision::utils::make_grid(inputs));
}

void Log::graph(nn::AnyModule& model, const Tensor& inputs) {
  if (!writer_) return;
  try {
    writer_->add_graph(model, inputs);
  } catch (const Error& error) {
    warn(std::string("the graph of the model was not logged: ") + error.what());
  }
}

void Log::step(int64_t step, double loss, double lr, double seconds) {
  if (!writer_) return;
  writer_->add_scalar("loss/step", loss, step);
  writer_->add_scalar("learning_rate", lr, step);
  writer_->add_scalar("seconds_per_step", seconds, step);
}

void Log::epoch(int64_t step, const EpochResult& epoch, const nn::Module& model) {
  if (!writer_) return;
  writer_->add_scalar("loss/epoch", epoch.loss, step);
  writer_->add_scalar("accuracy/training", epoch.accuracy, step);
  writer_->add_scalar("accuracy/test", epoch.test_accuracy, step);
  for (const auto& parameter : model.named_parameters()) {
    writer_->add_histogram("weights/" + parameter.key(), parameter.value(), step, kBins);
    const Tensor gradient = parameter.value().grad();
    if (gradient.defined())
      writer_->add_histogram("gradients/" + parameter.key(), gradient, step, kBins);
  }
}

bool Log::shows_confusion(int64_t classes) const {
  return writer_ && classes <= kMaxClasses && utils::plot::is_available();
}

void Log::confusion(int64_t step, const Tensor& matrix,
                    const std::vector<std::string>& class_names) {
  utils::plot::Figure figure;
  figure.axes().confusion_matrix(matrix, class_names);
  writer_->add_figure("confusion matrix", figure, step);
}

void Log::end(const TrainOptions& options, const RunOptions& run,
              const std::vector<EpochResult>& epochs) {
  if (!writer_ || epochs.empty()) return;
  // TensorBoard leaves a file as soon as it finds records in the next one.
  writer_->flush();
  writer_->add_hparams(
      hparams_of(options, run),
      {{"hparam/test_accuracy", best_accuracy(epochs)}, {"hparam/loss", epochs.back().loss}}, {},
      /*run_name=*/".");
}

}  // namespace hearth::app
