#include "run.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "../text_table.h"
#include "augment.h"
#include "divergence.h"
#include "evaluate.h"
#include "hearth/hearth.h"
#include "interrupt.h"
#include "run_folder.h"

namespace hearth::app {

namespace {

constexpr const char* kWeights = "weights.safetensors";
constexpr const char* kLosses = "losses.csv";
constexpr const char* kSettings = "settings";
constexpr const char* kProgress = "progress";

bool all_finite(const Tensor& tensor) { return tensor.isfinite().all().item<bool>(); }

Examples augmented(const Examples& examples, const TrainOptions& options) {
  const std::vector<int64_t>& sizes = examples.input_sizes();
  if (options.augment.empty()) return examples;
  HEARTH_CHECK(sizes.size() == 3, "--augment changes images, but the data has none");
  return examples.transformed(make_augmentation(options.augment, sizes[1], sizes[2]), sizes);
}

int64_t steps_per_epoch(const TrainOptions& options, const RunOptions& point,
                        const DataSets& data) {
  const int64_t batches = (data.train.count() - 1) / point.batch_size + 1;
  return (batches - 1) / options.accumulate + 1;
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

Run::Run(const TrainOptions& options, const RunOptions& point, const DataSets& data,
         std::string folder, std::string title)
    : options_(options),
      point_(point),
      data_(data),
      settings_(options, point, data),
      folder_(std::move(folder)),
      title_(std::move(title)),
      device_(point.device),
      watch_(options.profile, point.num_workers) {
  create_folder(folder_);
  manual_seed(options.seed);
  model_ = make_model(options.model, data.train.input_sizes(), data.classes);
  module_ = model_.ptr();
  module_->to(device_);
  if (options.ema) average_.emplace(model_, *options.ema);
  update_.emplace(options, point, module_->parameters(), device_,
                  steps_per_epoch(options, point, data));
  loader_ = data::make_data_loader(augmented(data.train, options),
                                   data::DataLoaderOptions(static_cast<size_t>(point.batch_size))
                                       .workers(static_cast<size_t>(point.num_workers))
                                       .pin_memory(device_.is_cuda()));
  checkpoint_.add(kSettings, settings_).add("model", module_);
  if (average_) checkpoint_.add("average", *average_);
  update_->add_to(checkpoint_);
  checkpoint_.add("loader", loader_).add(kProgress, progress_);
  if (std::filesystem::exists(path(kLastCheckpoint)))
    read_checkpoint(path(kLastCheckpoint),
                    [&](const std::string& file) { checkpoint_.load(file, device_); });
  log_.emplace(folder_, !options.no_tensorboard, progress_.step + 1);
}

void Run::save() {
  const nn::Module& trained = average_ ? *average_->model().ptr() : *module_;
  io::save_safetensors(trained.state_dict(), path(kWeights), settings_.of_network());
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
  last_time_ = last_step_ = Clock::now();
  if (options_.epochs == 0) save();
  while (!has_ended()) {
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
  last_step_ = Clock::now();
  correct_ = full({}, progress_.correct, TensorOptions(kLong).device(device_));
  std::vector<Batch> batches;
  int64_t waiting = 0;  // examples in them
  for (const Batch& batch : *loader_) {
    batches.push_back(batch);
    waiting += batch.data.size(0);
    const bool is_last = progress_.seen + waiting == data_.train.count();
    if (static_cast<int64_t>(batches.size()) < options_.accumulate && !is_last) continue;
    step(batches);
    watch_.step();
    batches.clear();
    waiting = 0;
    const bool stop = interrupted();
    if (!stop && !display.is_due()) continue;
    progress_.correct = correct_.item<int64_t>();
    display.show(status());
    if (stop) return false;
  }
  progress_.correct = correct_.item<int64_t>();
  return true;
}

void Run::step(const std::vector<Batch>& batches) {
  ++progress_.step;
  progress_.batches += static_cast<int64_t>(batches.size());
  const double lr = update_->lr(progress_.step);
  std::optional<double> loss;  // and right answers before the step: L-BFGS computes more
  update_->step(progress_.step, [&] {
    Tensor correct = zeros({}, TensorOptions(kLong).device(device_));
    const double mean = backward(batches, correct);
    if (!loss) correct_ += correct;
    if (!loss) loss = mean;
    return full({}, mean, kDouble);
  });
  if (average_) average_->update(*module_);
  int64_t count = 0;
  for (const Batch& batch : batches) count += batch.data.size(0);
  progress_.seen += count;
  progress_.loss_sum += *loss * static_cast<double>(count);
  if (options_.log_losses) progress_.losses.push_back(*loss);
  const std::chrono::duration<double> seconds =
      Clock::now() - std::exchange(last_step_, Clock::now());
  log_->step(progress_.step, *loss, lr, seconds.count());
}

double Run::backward(const std::vector<Batch>& batches, Tensor& correct) {
  double count = 0, sum = 0;
  for (const Batch& batch : batches) count += static_cast<double>(batch.data.size(0));
  for (const Batch& batch : batches) {
    const Tensor inputs = batch.data.to(device_), targets = batch.target.to(device_);
    const Tensor scores = scores_of(model_, inputs, device_, amp_dtype(options_.amp));
    Tensor loss =
        cross_entropy_loss(scores, targets, {}, Reduction::Mean, -100, options_.label_smoothing);
    const double share = static_cast<double>(inputs.size(0)) / count;
    if (share != 1) loss = loss * share;
    update_->scaled(loss).backward();
    sum += loss.item<double>();
    if (!std::isfinite(sum)) throw Divergence{progress_.step, divergence_reason(sum)};
    correct += correct_in(scores, targets);
  }
  return sum;
}

double Run::test_accuracy() {
  return evaluate(average_ ? average_->model() : model_, data_.test,
                  {device_, data_.classes, point_.num_workers, amp_dtype(options_.amp)})
      .accuracy();
}

void Run::end_epoch(Display& display) {
  const double best = best_accuracy(progress_.epochs), accuracy = test_accuracy();
  const double rate = static_cast<double>(progress_.seen) / progress_.epoch_seconds;
  progress_.run_seconds += take_seconds();
  progress_.end_epoch(accuracy, data_.train.targets_per_example());
  update_->after_epoch(accuracy);
  const EpochResult& epoch = progress_.epochs.back();
  log_->epoch(progress_.step, epoch);
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
  const int64_t count = data_.train.count(), epoch = int64_t(progress_.epochs.size()) + 1;
  const int64_t samples_left = count - progress_.seen + (options_.epochs - epoch) * count;
  return {epoch_title(size_t(epoch)),
          progress_.seen,
          count,
          progress_.loss_sum / seen,
          static_cast<double>(progress_.correct) /
              (seen * static_cast<double>(data_.train.targets_per_example())),
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
