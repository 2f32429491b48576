#include "run.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "../text_table.h"
#include "divergence.h"
#include "hearth/hearth.h"
#include "interrupt.h"
#include "run_folder.h"

namespace hearth::app {

namespace {

constexpr const char* kWeights = "weights.safetensors";
constexpr const char* kLosses = "losses.csv";
constexpr const char* kSettings = "settings";
constexpr const char* kProgress = "progress";
constexpr int64_t kTestBatch = 1000;

bool all_finite(const Tensor& tensor) { return tensor.isfinite().all().item<bool>(); }

double best_accuracy(const std::vector<EpochResult>& epochs) {
  double best = -1;
  for (const EpochResult& epoch : epochs) best = std::max(best, epoch.test_accuracy);
  return best;
}

/// Calls read(file) and adds the file's name to its errors.
template <class Read>
void read_checkpoint(const std::string& file, const Read& read) {
  try {
    read(file);
  } catch (Error& error) {
    error.add_context("while reading the checkpoint '" + file + "'");
    throw;
  }
}

}  // namespace

std::optional<Progress> saved_progress(const std::string& run_folder, const Settings& settings) {
  const std::string path = run_folder + "/" + kLastCheckpoint;
  if (!std::filesystem::exists(path)) return std::nullopt;
  Progress progress;
  read_checkpoint(path, [&](const std::string& file) {
    io::Checkpoint::check_file(file);
    serialize::InputArchive archive, part;
    archive.load_from(file);
    archive.read(kSettings, part);
    settings.load(part);
    archive.read(kProgress, part);
    progress.load(part);
  });
  return progress;
}

Run::Run(const TrainOptions& options, const RunOptions& point, const ImageSets& images,
         std::string folder, std::string title)
    : options_(options),
      point_(point),
      images_(images),
      settings_(options, point, images),
      folder_(std::move(folder)),
      title_(std::move(title)),
      device_(point.device),
      scaler_(device_, amp::GradScalerOptions().enabled(options.amp == "fp16")),
      watch_(options.profile, point.num_workers) {
  create_folder(folder_);
  manual_seed(options.seed);
  model_ = make_model(options.model, images.train.images().sizes().slice(1), images.classes);
  module_ = model_.ptr();
  module_->to(device_);
  optimizer_ = make_optimizer(options.optimizer, module_->parameters(), point.lr);
  loader_ = data::make_data_loader(images.train,
                                   data::DataLoaderOptions(static_cast<size_t>(point.batch_size))
                                       .workers(static_cast<size_t>(point.num_workers))
                                       .pin_memory(device_.is_cuda()));
  checkpoint_.add(kSettings, settings_)
      .add("model", module_)
      .add("optimizer", *optimizer_)
      .add("loader", loader_)
      .add(kProgress, progress_);
  if (scaler_.is_enabled()) checkpoint_.add("scaler", scaler_);
  if (std::filesystem::exists(path(kLastCheckpoint)))
    read_checkpoint(path(kLastCheckpoint),
                    [&](const std::string& file) { checkpoint_.load(file, device_); });
}

void Run::save() {
  io::save_safetensors(module_->state_dict(), path(kWeights), settings_.of_network());
  if (options_.log_losses) save_losses();
  checkpoint_.save(path(kLastCheckpoint));
}

void Run::save_losses() const {
  std::string text = "step,loss\n";
  for (size_t i = 0; i < progress_.losses.size(); ++i)
    text += std::to_string(i + 1) + "," + shortest(progress_.losses[i]) + "\n";
  io::write_file(path(kLosses), text);
}

double Run::take_seconds() {
  const Clock::time_point now = Clock::now();
  return std::chrono::duration<double>(now - std::exchange(last_time_, now)).count();
}

bool Run::train(Display& display, const std::function<void()>& after_epoch) {
  last_time_ = Clock::now();
  if (options_.epochs == 0) save();
  while (static_cast<int64_t>(progress_.epochs.size()) < options_.epochs) {
    const bool complete = train_epoch(display);
    const double seconds = take_seconds();
    progress_.epoch_seconds += seconds;
    progress_.run_seconds += seconds;
    if (!complete) {
      save();
      return false;
    }
    end_epoch(display);
    after_epoch();
    progress_.run_seconds += take_seconds();
  }
  if (progress_.step > 0) display.line(title_ + watch_.verdict());
  return true;
}

bool Run::train_epoch(Display& display) {
  const StepWatch::Epoch measured = watch_.epoch();
  correct_ = full({}, progress_.correct, TensorOptions(kLong).device(device_));
  for (const data::Example<>& batch : *loader_) {
    step(batch);
    watch_.step();
    const bool stop = interrupted();
    if (!stop && !display.is_due()) continue;
    progress_.correct = correct_.item<int64_t>();
    display.show(status());
    if (stop) return false;
  }
  progress_.correct = correct_.item<int64_t>();
  return true;
}

Tensor Run::scores_of(const Tensor& images) {
  const amp::autocast autocast(device_, options_.amp == "fp16" ? kHalf : kBFloat16,
                               options_.amp != "off");
  return model_.forward(images).to(kFloat);
}

void Run::step(const data::Example<>& batch) {
  const Tensor images = batch.data.to(device_), labels = batch.target.to(device_);
  const Tensor scores = scores_of(images);
  const Tensor loss = cross_entropy_loss(scores, labels);
  optimizer_->zero_grad();
  scaler_.scale(loss).backward();
  ++progress_.step;
  ++progress_.batches;
  const double value = loss.item<double>();
  if (!std::isfinite(value)) throw Divergence{progress_.step, divergence_reason(value)};
  scaler_.step(*optimizer_);
  scaler_.update();
  correct_ += scores.argmax(1).eq(labels).sum();
  progress_.seen += images.size(0);
  progress_.loss_sum += value * static_cast<double>(images.size(0));
  if (options_.log_losses) progress_.losses.push_back(value);
}

double Run::test_accuracy() {
  const NoGradGuard no_grad;
  module_->eval();
  const Images& test = images_.test;
  int64_t correct = 0, most = kTestBatch;
  for (int64_t start = 0; start < test.count();) {
    const int64_t size = std::min(most, test.count() - start);
    try {
      correct += correct_of(start, size);
      start += size;
    } catch (const OutOfMemoryError&) {
      if (size == 1) throw;
      most = size / 2;
      device_.is_cuda() ? cuda::empty_cache() : empty_cpu_cache();
    }
  }
  module_->train();
  return static_cast<double>(correct) / static_cast<double>(test.count());
}

int64_t Run::correct_of(int64_t start, int64_t size) {
  const Images& test = images_.test;
  const Tensor scores = scores_of(test.images().narrow(0, start, size).to(device_));
  return scores.argmax(1)
      .eq(test.labels().narrow(0, start, size).to(device_))
      .sum()
      .item<int64_t>();
}

void Run::end_epoch(Display& display) {
  const double best = best_accuracy(progress_.epochs), accuracy = test_accuracy();
  const double rate = static_cast<double>(progress_.seen) / progress_.epoch_seconds;
  progress_.run_seconds += take_seconds();
  progress_.end_epoch(accuracy);
  const EpochResult& epoch = progress_.epochs.back();
  display.line(epoch_title(progress_.epochs.size()) + "  loss " + fixed(epoch.loss, 4) +
               "  accuracy " + fixed(epoch.accuracy, 4) + "  test accuracy " +
               fixed(epoch.test_accuracy, 4) + "  " + duration_text(epoch.epoch_duration) + "  " +
               with_commas(std::llround(rate)) + " samples/s");
  if (accuracy > best) checkpoint_.save(path(kBestCheckpoint));
  save();
}

std::string Run::epoch_title(size_t epoch) const {
  return title_ + "epoch " + std::to_string(epoch) + "/" + std::to_string(options_.epochs);
}

Display::Status Run::status() const {
  const auto seen = static_cast<double>(progress_.seen);
  const std::chrono::duration<double> since = Clock::now() - last_time_;
  const double rate = seen / (progress_.epoch_seconds + since.count());
  const int64_t count = images_.train.count(), epoch = int64_t(progress_.epochs.size()) + 1;
  const int64_t samples_left = count - progress_.seen + (options_.epochs - epoch) * count;
  return {epoch_title(size_t(epoch)),
          progress_.seen,
          count,
          progress_.loss_sum / seen,
          static_cast<double>(progress_.correct) / seen,
          rate,
          static_cast<double>(samples_left) / rate};
}

std::string Run::divergence_reason(double loss) const {
  const std::string where = detail::str(
      "the loss became ", std::isnan(loss) ? "nan" : "infinite", " at step ", progress_.step, " (",
      epoch_title(progress_.epochs.size() + 1), ", batch ", progress_.batches, "): ");
  const auto message = [&](const std::string& name, const char* kind) {
    return where + "'" + name + "' is the first parameter with a " + kind +
           " that is not finite. Try a smaller --lr.";
  };
  const auto parameters = module_->named_parameters();
  for (const auto& parameter : parameters)
    if (!all_finite(parameter.value())) return message(parameter.key(), "value");
  for (const auto& parameter : parameters)
    if (const Tensor& gradient = parameter.value().grad();
        gradient.defined() && !all_finite(gradient))
      return message(parameter.key(), "gradient");
  return where + "all parameters and gradients are finite";
}

}  // namespace hearth::app
