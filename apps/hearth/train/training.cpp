#include "training.h"

#include <algorithm>
#include <csignal>
#include <iostream>

#include "../plot.h"
#include "../text_table.h"
#include "config.h"
#include "hearth/error.h"
#include "hearth/io/file.h"
#include "interrupt.h"
#include "run.h"

namespace hearth::app {

namespace {

std::string counted(int64_t count, const std::string& what) {
  return with_commas(count) + " " + what + (count == 1 ? "" : "s");
}

class Training {
 public:
  Training(const TrainOptions& options, const ImageSets& images, const RunFolder& folder)
      : options_(options),
        images_(images),
        folder_(folder),
        runs_(runs_of(options)),
        results_(runs_) {}

  bool train() {
    // A file that may not grow further is an error, as a full disk is, and no signal.
    std::signal(SIGXFSZ, SIG_IGN);
    io::write_file(folder_.config(), config_text(options_));
    for (size_t i = 0; i < runs_.size(); ++i) take_up(i);
    write_results();
    display_.line(heading());
    const InterruptGuard guard;
    try {
      for (size_t i = 0; i < runs_.size() && !stopped_; ++i)
        if (!is_finished(i)) train_run(i);
    } catch (Error& error) {
      if (saved_) error.add_context("What was saved can go on: " + how_to_resume());
      throw;
    }
    if (!results_.empty()) {
      display_.line("");
      std::cout << results_.table() << std::flush;
    }
    display_.line("Files are in " + folder_.path());
    if (stopped_) display_.line("Stopped. To go on: " + how_to_resume());
    return !stopped_;
  }

 private:
  std::string heading() const {
    return options_.model + " on " + options_.data + ", " +
           counted(images_.train.count(), "image") + " to train and " +
           with_commas(images_.test.count()) + " to test, " +
           counted(static_cast<int64_t>(runs_.size()), "run") + " of " +
           counted(options_.epochs, "epoch");
  }

  void take_up(size_t i) {
    const auto progress = saved_progress(folder_.of_run(i + 1));
    if (!progress) return;
    saved_ = true;
    results_.of_run(i) = progress->epochs;
  }

  bool is_finished(size_t i) const {
    return results_.of_run(i).size() >= static_cast<size_t>(std::max<int64_t>(1, options_.epochs));
  }

  /// Sets stopped_ if a signal came.
  void train_run(size_t i) {
    const RunOptions& own = runs_[i];
    const bool single = runs_.size() == 1;
    const std::string name = "run " + std::to_string(i + 1) + "/" + std::to_string(runs_.size());
    if (!single)
      display_.line(name + ": lr " + shortest(own.lr) + ", batch size " +
                    std::to_string(own.batch_size) + ", " + counted(own.num_workers, "worker") +
                    ", " + own.device);
    Run run(options_, own, images_, folder_.of_run(i + 1), single ? "" : name + "  ");
    stopped_ = !run.train(display_, [&] {
      saved_ = true;
      results_.of_run(i) = run.progress().epochs;
      write_results();
    });
    write_png(folder_.curves(), results_.charts());
    const bool is_last = i + 1 == runs_.size();
    stopped_ = stopped_ || (interrupted() && !is_last);
  }

  void write_results() const {
    io::write_file(folder_.results("csv"), results_.csv());
    io::write_file(folder_.results("json"), results_.json(options_));
  }

  std::string how_to_resume() const { return "hearth train --resume " + folder_.path(); }

  const TrainOptions& options_;
  const ImageSets& images_;
  const RunFolder& folder_;
  const std::vector<RunOptions> runs_;
  Results results_;
  Display display_;
  bool saved_ = false, stopped_ = false;
};

}  // namespace

bool train(const TrainOptions& options, const ImageSets& images, const RunFolder& folder) {
  return Training(options, images, folder).train();
}

}  // namespace hearth::app
