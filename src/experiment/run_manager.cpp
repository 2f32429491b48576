#include "hearth/experiment/run_manager.h"

#include <chrono>
#include <sstream>

#include "experiment/columns.h"
#include "experiment/live_table.h"
#include "hearth/operators.h"
#include "hearth/vision/utils.h"

namespace hearth::experiment {

namespace {

using hearth::utils::tensorboard::SummaryWriter;
using hearth::utils::tensorboard::SummaryWriterOptions;

/// A monotonic clock.
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// "-Run(lr=0.01)", the end of a folder's name.
std::string comment_of(const Run& run) {
  std::ostringstream text;
  text << '-' << run;
  std::string comment = text.str();
  for (char& c : comment)
    if (c == '/') c = '_';
  return comment;
}

/// Adds a number to a sum on the device of the number; float64, so that sums of long epochs stay
/// accurate.
void add_to(Tensor& sum, const Tensor& value) {
  const Tensor number = value.detach().to(kDouble);
  sum = sum.defined() ? sum + number : number;
}

}  // namespace

RunManager::RunManager(RunManagerOptions options) : options_(std::move(options)) {
  if (options_.show()) table_ = std::make_unique<detail::LiveTable>();
}
RunManager::~RunManager() = default;
RunManager::RunManager(RunManager&&) noexcept = default;
RunManager& RunManager::operator=(RunManager&&) noexcept = default;

void RunManager::start_run(const Run& run, std::shared_ptr<nn::Module> network) {
  detail::check_names(run);
  end_run();
  run_start_ = now();
  params_ = run;
  network_ = std::move(network);
  run_count_ += 1;
  epoch_count_ = 0;
  if (options_.tensorboard()) writer_.emplace(SummaryWriterOptions().comment(comment_of(run)));
}

void RunManager::end_run() {
  epoch_.reset();
  writer_.reset();
  network_.reset();
}

Device RunManager::device() const {
  const std::vector<Tensor> parameters = network_->parameters();
  return parameters.empty() ? Device(kCPU) : parameters.front().device();
}

void RunManager::add_images(const Tensor& images) {
  const bool are_images = images.dim() == 4 && (images.size(1) == 1 || images.size(1) == 3);
  if (are_images) writer_->add_image("images", vision::utils::make_grid(images));
}

void RunManager::begin_epoch() {
  HEARTH_CHECK(network_, "begin_epoch() was called before begin_run()");
  HEARTH_CHECK(!epoch_, "begin_epoch() was called again before end_epoch()");
  epoch_.emplace().start = now();
  epoch_count_ += 1;
}

RunManager::Epoch& RunManager::epoch(const char* caller) {
  HEARTH_CHECK(epoch_, caller, "() was called before begin_epoch()");
  return *epoch_;
}

void RunManager::track_loss(const Tensor& loss, const Tensor& batch) {
  Epoch& current = epoch("track_loss");
  HEARTH_CHECK(loss.defined() && loss.numel() == 1,
               "track_loss() expects the mean loss of a batch, a tensor with one element");
  HEARTH_CHECK(batch.defined() && batch.dim() > 0,
               "track_loss() expects a batch, a tensor with a dimension for the examples");
  add_to(current.loss, loss.reshape({}) * static_cast<double>(batch.size(0)));
  current.num_examples += batch.size(0);
  if (table_ && table_->is_due()) table_->show_running(result());
}

void RunManager::track_num_correct(const Tensor& preds, const Tensor& labels) {
  Epoch& current = epoch("track_num_correct");
  HEARTH_CHECK(preds.defined() && labels.defined() && preds.dim() == 2 && labels.dim() == 1 &&
                   preds.size(0) == labels.size(0),
               "track_num_correct() expects scores of sizes [N, classes] and labels of sizes [N], "
               "but got ",
               preds.defined() ? preds.sizes() : IntArrayRef(), " and ",
               labels.defined() ? labels.sizes() : IntArrayRef());
  add_to(current.num_correct, preds.argmax(/*dim=*/1).eq(labels).sum());
  current.num_predictions += labels.size(0);
}

EpochResult RunManager::result() const {
  EpochResult row;
  row.run = run_count_;
  row.epoch = epoch_count_;
  row.loss = epoch_->loss.item<double>() / static_cast<double>(epoch_->num_examples);
  if (epoch_->num_predictions > 0)
    row.accuracy =
        epoch_->num_correct.item<double>() / static_cast<double>(epoch_->num_predictions);
  row.epoch_duration = now() - epoch_->start;
  row.run_duration = now() - run_start_;
  row.params = params_;
  return row;
}

void RunManager::end_epoch() {
  HEARTH_CHECK(epoch("end_epoch").num_examples > 0,
               "end_epoch() found no loss of this epoch: call track_loss() for each batch");
  const EpochResult row = result();
  epoch_.reset();
  results_.add(row);
  if (table_) table_->add(row);
  save_if_wanted();
  if (!writer_) return;
  writer_->add_scalar("Loss", row.loss, row.epoch);
  if (row.accuracy) writer_->add_scalar("Accuracy", *row.accuracy, row.epoch);
  add_histograms();
}

void RunManager::save_if_wanted() const try {
  if (!options_.results().empty()) results_.save(options_.results());
} catch (const Error& error) {
  warn(hearth::detail::str(error.msg(), "; the runs go on, and the next epoch tries again"));
}

void RunManager::add_histograms() {
  for (const auto& parameter : network_->named_parameters()) {
    writer_->add_histogram(parameter.key(), parameter.value(), epoch_count_);
    const Tensor gradient = parameter.value().grad();
    if (gradient.defined())
      writer_->add_histogram(parameter.key() + ".grad", gradient, epoch_count_);
  }
}

}  // namespace hearth::experiment
