#include "training.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <unordered_set>

#include "../plot.h"
#include "../text_table.h"
#include "config.h"
#include "divergence.h"
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
    const auto rows = rows_in_table();
    for (size_t i = 0; i < runs_.size(); ++i) take_up(i, rows);
    io::write_file(folder_.config(), config_text(options_));
    write_results();
    display_.line(heading());
    const InterruptGuard guard;
    try {
      train_what_is_left();
      draw_curves();
    } catch (Error& error) {
      save_what_there_is();
      show_table();
      if (saved_ && std::filesystem::exists(folder_.config()))
        error.add_context("What was saved can go on: " + folder_.how_to_resume());
      throw;
    }
    show_table();
    display_.line("Files are in " + folder_.path());
    if (stopped_) display_.line("Stopped. To go on: " + folder_.how_to_resume());
    if (!stopped_) check_divergences();
    return !stopped_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  /// A picture takes as long as many short epochs.
  static constexpr std::chrono::seconds kBetweenDrawings{5};

  std::string heading() const {
    return options_.model + " on " + options_.data + ", " +
           counted(images_.train.count(), "image") + " to train and " +
           with_commas(images_.test.count()) + " to test, " +
           counted(static_cast<int64_t>(runs_.size()), "run") + " of " +
           counted(options_.epochs, "epoch");
  }

  void show_table() {
    if (results_.empty()) return;
    display_.line("");
    std::cout << results_.table() << std::flush;
  }

  /// What the rows of the table in the folder begin with: run and epoch.
  std::unordered_set<std::string> rows_in_table() const {
    std::ifstream table(folder_.results("csv"));
    std::unordered_set<std::string> rows;
    for (std::string line; std::getline(table, line);)
      rows.insert(line.substr(0, line.find(',', line.find(',') + 1)));
    return rows;
  }

  /// What a run has come to already.
  void take_up(size_t i, const std::unordered_set<std::string>& rows) {
    const std::string path = folder_.of_run(i + 1);
    RunResult& run = results_.of_run(i);
    const auto progress = saved_progress(path, Settings(options_, runs_[i], images_));
    if (progress) {
      run.epochs = progress->epochs;
      const auto count = static_cast<int64_t>(run.epochs.size());
      HEARTH_CHECK(options_.epochs >= count, "--epochs ", options_.epochs, " is less than the ",
                   count, " that are trained already in '", path, "'");
      run.status = is_whole(run) ? kFinished : kStopped;
    }
    if (const auto divergence = saved_divergence(path)) return note(i, *divergence);
    HEARTH_CHECK(progress || !rows.contains(std::to_string(i + 1) + ",1"), "'", path, "/",
                 kLastCheckpoint, "' is not there, but ", folder_.results("csv"),
                 " has what came of it: without it, the run cannot go on");
  }

  bool is_whole(const RunResult& run) const {
    return static_cast<int64_t>(run.epochs.size()) == options_.epochs;
  }

  void note(size_t i, const Divergence& divergence) {
    results_.of_run(i).status = "diverged at step " + std::to_string(divergence.step);
    if (divergences_++ == 0) first_reason_ = divergence.reason;
  }

  void check_divergences() const {
    if (divergences_ == 0) return;
    if (runs_.size() == 1) throw Error(first_reason_);
    detail::fail<Error>(divergences_, " of ", runs_.size(),
                        " runs diverged. The first: ", first_reason_);
  }

  /// Finished or diverged.
  bool has_ended(size_t i) const {
    const std::string& status = results_.of_run(i).status;
    return !status.empty() && status != kStopped;
  }

  void train_what_is_left() {
    bool any = false;
    for (size_t i = 0; i < runs_.size() && !stopped_; ++i) {
      if (has_ended(i)) continue;
      any = true;
      train_run(i);
      const bool is_last = i + 1 == runs_.size();
      stopped_ = stopped_ || (interrupted() && !is_last);
    }
    if (!any) display_.line("Nothing is left to do.");
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
    RunResult& result = results_.of_run(i);
    result.status = kRunning;
    const std::string title = single ? "" : name + "  ", path = folder_.of_run(i + 1);
    Run run(options_, own, images_, path, title);
    try {
      stopped_ = !run.train(display_, [&] {
        saved_ = true;
        result.epochs = run.progress().epochs;
        if (is_whole(result)) result.status = kFinished;
        write_results();
      });
      if (result.status == kFinished) return;
      result.status = stopped_ ? kStopped : kFinished;
    } catch (const Divergence& divergence) {
      save_divergence(path, divergence);
      note(i, divergence);
      display_.line(title + result.status);
    } catch (const Error&) {
      result.status = kFailed;
      throw;
    }
    write_results();
  }

  void write_results() {
    io::write_file(folder_.results("csv"), results_.csv());
    io::write_file(folder_.results("json"), results_.json(options_));
    if (Clock::now() >= next_drawing_) draw_curves();
  }
  /// After an error, which is the one to tell if this fails for the same reason.
  void save_what_there_is() {
    try {
      write_results();
      draw_curves();
    } catch (const Error&) {
    }
  }
  void draw_curves() {
    if (results_.empty()) return;
    write_png(folder_.curves(), results_.charts());
    next_drawing_ = Clock::now() + kBetweenDrawings;
  }

  const TrainOptions& options_;
  const ImageSets& images_;
  const RunFolder& folder_;
  const std::vector<RunOptions> runs_;
  Results results_;
  Display display_;
  Clock::time_point next_drawing_;  // at once, at first
  size_t divergences_ = 0;
  std::string first_reason_;
  bool saved_ = false, stopped_ = false;  // by this process
};

}  // namespace

bool train(const TrainOptions& options, const ImageSets& images, const RunFolder& folder) {
  return Training(options, images, folder).train();
}

}  // namespace hearth::app
