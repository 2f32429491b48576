#include "log.h"

namespace hearth::app {

Log::Log(const std::string& folder, bool enabled, int64_t first_step) {
  using utils::tensorboard::SummaryWriterOptions;
  if (!enabled) return;
  SummaryWriterOptions options;
  options.log_dir(folder);
  options.purge_step(first_step);  // also hides the steps of a process that saved no checkpoint
  writer_.emplace(options);
}

void Log::step(int64_t step, double loss, double lr, double seconds) {
  if (!writer_) return;
  writer_->add_scalar("loss/step", loss, step);
  writer_->add_scalar("learning_rate", lr, step);
  writer_->add_scalar("seconds_per_step", seconds, step);
}

void Log::epoch(int64_t step, const EpochResult& epoch) {
  if (!writer_) return;
  writer_->add_scalar("loss/epoch", epoch.loss, step);
  writer_->add_scalar("accuracy/training", epoch.accuracy, step);
  writer_->add_scalar("accuracy/test", epoch.test_accuracy, step);
}

}  // namespace hearth::app
