#include "run.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "../text_table.h"
#include "augment.h"
#include "checkpointed.h"
#include "divergence.h"
#include "hearth/hearth.h"
#include "hearth/nn/sync_batch_norm.h"
#include "run_folder.h"
#include "step_random.h"

namespace hearth::app {

namespace {

constexpr const char* kWeights = "weights.safetensors";
constexpr const char* kLosses = "losses.csv";
constexpr const char* kSettings = "settings";
constexpr const char* kProgress = "progress";

Examples augmented(const Examples& examples, const TrainOptions& options,
                   const Processes& processes) {
  const std::vector<int64_t>& sizes = examples.input_sizes();
  if (options.augment.empty()) return examples;
  HEARTH_CHECK(sizes.size() == 3, "--augment changes images, but the data has none");
  auto change = make_augmentation(options.augment, sizes[1], sizes[2]);
  if (processes.are_several()) change = differing(std::move(change), processes.rank());
  return examples.transformed(std::move(change), sizes);
}

/// Calls read() and adds the checkpoint's name to its errors.
template <class Read>
void read_checkpoint(const std::string& file, const Read& read) {
  try {
    read();
  } catch (Error& error) {
    error.append_line("while reading the checkpoint '" + file + "'");
    throw;
  }
}

}  // namespace

std::optional<Progress> saved_progress(const std::string& run_folder, const Settings& settings) {
  const std::string path = run_folder + "/" + kLastCheckpoint;
  if (!std::filesystem::exists(path)) return std::nullopt;
  Progress progress;
  read_checkpoint(path, [&] {
    io::Checkpoint::check_file(path);
    serialize::InputArchive archive, part;
    archive.load_from(path);
    archive.read(kSettings, part);
    settings.load(part);
    archive.read(kProgress, part);
    progress.load(part);
  });
  return progress;
}

Run::Run(const TrainOptions& options, const RunOptions& run, const DataSets& data,
         const Processes& processes, std::string folder, std::string title)
    : options_(options),
      run_options_(run),
      data_(data),
      processes_(processes),
      settings_(options, run, data, steps_per_epoch(options, run, data.train.count(), processes)),
      folder_(std::move(folder)),
      title_(std::move(title)),
      device_(processes.device(run.device)),
      watch_(processes.is_first() ? options.profile : "", run.num_workers) {
  processes.on_first([&] { create_folder(folder_); });
  manual_seed(options.seed);
  model_ = make_model(options.model, data.train.input_sizes(), data.classes);
  module_ = model_.ptr();
  if (options.sync_batch_norm) nn::convert_sync_batchnorm(*module_);
  module_->to(device_);
  if (options.ema) average_.emplace(model_, *options.ema);
  if (options.checkpoint_activations) checkpoint_blocks(*module_);
  const int64_t batch_size = batch_size_of_process(options, run, processes);
  update_.emplace(options, run, module_->parameters(), device_,
                  steps_per_epoch(options, run, data.train.count(), processes));
  batches_ = std::make_unique<Batches>(augmented(data.train, options, processes), run, batch_size,
                                       device_.is_cuda(), processes, progress_.seen);
  load();
  gradients_.emplace(options, model_, device_, processes);
  const bool logs = processes.is_first() && !options.no_tensorboard;
  log_.emplace(folder_, logs, progress_.step + 1);
  if (progress_.step == 0) log_->begin(options, run, data.train);
}

void Run::load() {
  checkpoint_.add(kSettings, settings_).add("model", module_);
  if (average_) checkpoint_.add("average", *average_);
  update_->add_to(checkpoint_);
  checkpoint_.add(kProgress, progress_).add("loader", batches_);
  if (const auto file = processes_.file_of_first(path(kLastCheckpoint)))
    read_checkpoint(path(kLastCheckpoint), [&] { checkpoint_.load(file->path(), device_); });
}

void Run::save(bool is_best) {
  if (!processes_.is_first()) return;
  const nn::Module& trained = average_ ? *average_->model().ptr() : *module_;
  io::save_safetensors(trained.state_dict(), path(kWeights), settings_.of_network());
  if (options_.log_losses) save_losses();
  if (is_best) checkpoint_.save(path(kBestCheckpoint));
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

bool Run::train(int64_t last, Display& display, const std::function<void()>& after_epoch) {
  last_time_ = last_step_ = Clock::now();
  if (options_.epochs == 0) save(false);
  while (!ended(progress_.epochs, options_, last)) {
    const bool complete = train_epoch(display);
    const double seconds = take_seconds();
    progress_.epoch_seconds += seconds;
    progress_.run_seconds += seconds;
    if (!complete) {
      save(false);
      return false;
    }
    end_epoch(display);
    after_epoch();
    progress_.run_seconds += take_seconds();
  }
  if (ended(progress_.epochs, options_, options_.epochs))
    log_->end(options_, run_options_, progress_.epochs);
  if (progress_.step > 0) display.line(title_ + watch_.verdict());
  if (const std::string note = watch_.missing_profile(); !note.empty()) display.line(note);
  return true;
}

bool Run::train_epoch(Display& display) {
  const StepWatch::Epoch measured = watch_.epoch();
  last_step_ = Clock::now();
  correct_ = full({}, progress_.correct, TensorOptions(kLong).device(device_));
  std::vector<Batch> batches;
  int64_t waiting = 0;  // examples in `batches`, on all processes
  for (const Batch& batch : *batches_) {
    batches.push_back(batch);
    waiting += batch.data.size(0) * processes_.count();
    const bool is_last = progress_.seen + waiting >= data_.train.count();
    if (static_cast<int64_t>(batches.size()) < options_.accumulate && !is_last) continue;
    step(batches);
    watch_.step();
    batches.clear();
    waiting = 0;
    if (!interrupted_ && !display.is_due()) continue;
    progress_.correct = correct_.item<int64_t>();
    display.show(status());
    if (interrupted_) return false;
  }
  progress_.correct = correct_.item<int64_t>();
  HEARTH_CHECK(progress_.seen >= data_.train.count(), "the epoch ended after ", progress_.seen,
               " of ", data_.train.count(), " examples");
  return true;
}

void Run::step(const std::vector<Batch>& batches) {
  ++progress_.step;
  progress_.batches += static_cast<int64_t>(batches.size());
  const double lr = update_->lr(progress_.step);
  std::optional<StepResult> first;  // before the update: L-BFGS computes several results
  update_->step(progress_.step, [&] {
    const StepResult result = gradients_->compute(batches, progress_.step, *update_);
    if (!std::isfinite(result.loss)) diverge(result.loss);
    if (!first) first = result;
    return full({}, result.loss, kDouble);
  });
  if (average_) average_->update(*module_);
  correct_ += first->correct;
  interrupted_ = first->interrupted;
  progress_.seen += first->examples;
  profiler::report_step(progress_.step, first->examples / processes_.count());
  progress_.loss_sum += first->loss * static_cast<double>(first->examples);
  if (options_.log_losses) progress_.losses.push_back(first->loss);
  const std::chrono::duration<double> seconds =
      Clock::now() - std::exchange(last_step_, Clock::now());
  log_->step(progress_.step, first->loss, lr, seconds.count());
  if (progress_.step > 1) return;
  // After the first step, because the errors of a step say more than those of graph().
  log_->graph(model_, batches.front().data.narrow(0, 0, 1).to(device_));
  last_step_ = Clock::now();
}

Evaluation Run::test() {
  const bool has_confusion = !processes_.are_several() && log_->shows_confusion(data_.classes);
  return evaluate(average_ ? average_->model() : model_, data_.test,
                  {.device = device_,
                   .num_workers = run_options_.num_workers,
                   .amp = amp_dtype(options_.amp),
                   .classes = has_confusion ? data_.classes : 0,
                   .processes = &processes_});
}

void Run::end_epoch(Display& display) {
  const Evaluation tested = test();
  const double best = best_accuracy(progress_.epochs), accuracy = tested.accuracy;
  const double rate = static_cast<double>(progress_.seen) / progress_.epoch_seconds;
  progress_.run_seconds += take_seconds();
  progress_.end_epoch(accuracy, data_.train.targets_per_example());
  update_->after_epoch(accuracy);
  const EpochResult& epoch = progress_.epochs.back();
  log_->epoch(progress_.step, epoch, *module_);
  if (tested.confusion.defined()) log_->confusion(progress_.step, tested.confusion, class_names());
  display.line(epoch_title(progress_.epochs.size()) + "  loss " + fixed(epoch.loss, 4) +
               "  accuracy " + fixed(epoch.accuracy, 4) + "  test accuracy " +
               fixed(epoch.test_accuracy, 4) + "  " + duration_text(epoch.epoch_duration) + "  " +
               with_commas(std::llround(rate)) + " samples/s");
  save(accuracy > best);
}

std::vector<std::string> Run::class_names() const {
  std::vector<std::string> names = data_.class_names;
  for (int64_t i = std::ssize(names); i < data_.classes; ++i) names.push_back(std::to_string(i));
  return names;
}

std::string Run::epoch_title(size_t epoch) const {
  return title_ + "epoch " + std::to_string(epoch) + "/" + std::to_string(options_.epochs);
}

Display::Status Run::status() const {
  const auto seen = static_cast<double>(progress_.seen);  // some may be in the last batch twice
  const std::chrono::duration<double> since = Clock::now() - last_time_;
  const double rate = seen / (progress_.epoch_seconds + since.count());
  const int64_t count = data_.train.count(), epoch = int64_t(progress_.epochs.size()) + 1;
  const int64_t shown = std::min(progress_.seen, count);
  const int64_t samples_left = count - shown + (options_.epochs - epoch) * count;
  return {epoch_title(size_t(epoch)),
          shown,
          count,
          progress_.loss_sum / seen,
          static_cast<double>(progress_.correct) /
              (seen * static_cast<double>(data_.train.targets_per_example())),
          rate,
          static_cast<double>(samples_left) / rate};
}

void Run::diverge(double loss) const {
  throw Divergence{
      progress_.step,
      detail::str("the loss became ", std::isnan(loss) ? "nan" : "infinite", " at step ",
                  progress_.step, " (", epoch_title(progress_.epochs.size() + 1), ", batch ",
                  progress_.batches, "): ", divergence_reason(*module_))};
}

}  // namespace hearth::app
