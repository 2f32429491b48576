#include "training.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <unordered_set>

#include "../plot.h"
#include "../text_table.h"
#include "config.h"
#include "divergence.h"
#include "hearth/cuda.h"
#include "hearth/error.h"
#include "hearth/io/file.h"
#include "interrupt.h"
#include "run.h"

namespace hearth::app {

namespace {

std::string counted(int64_t count, const std::string& what) {
  return with_commas(count) + " " + what + (count == 1 ? "" : "s");
}

/// Runs that ended in the same way.
struct Failures {
  const char* what;
  size_t count = 0;
  std::string first = {};

  void add(const std::string& reason) {
    if (count++ == 0) first = reason;
  }
};

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
    if (const std::string note = note_on_classes(images_); !note.empty()) display_.line(note);
    const InterruptGuard guard;
    try {
      train_what_is_left();
      draw_curves();
    } catch (Error& error) {
      end_badly();
      if (saved_ && std::filesystem::exists(folder_.config()))
        error.add_context("What was saved can go on: " + folder_.how_to_resume());
      throw;
    } catch (...) {
      end_badly();
      throw;
    }
    show_table();
    display_.line("Files are in " + folder_.path());
    if (stopped_) display_.line("Stopped. To go on: " + folder_.how_to_resume());
    if (!stopped_) check_failures();
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
    divergences_.add(divergence.reason);
  }

  /// Another run may need less, and this one may have more another time.
  void note_out_of_memory(size_t i, const std::string& reason) {
    results_.of_run(i).status = kOutOfMemory;
    out_of_memory_.add(reason);
    const Device device(runs_[i].device);
    if (!device.is_cuda()) return;
    while (has_error(device)) {
    }
    cuda::empty_cache();
  }

  /// What a failed run has left in the device's streams is not the next one's error; each one is
  /// told once.
  static bool has_error(Device device) {
    try {
      cuda::synchronize(device.index());
      return false;
    } catch (const OutOfMemoryError&) {
      return true;
    } catch (const IndexError&) {
      return true;
    }
  }

  void check_failures() const {
    std::string text;
    for (const Failures* failures : {&divergences_, &out_of_memory_}) {
      if (failures->count == 0) continue;
      text += text.empty() ? "" : "\n";
      if (runs_.size() > 1)
        text += detail::str(failures->count, " of ", runs_.size(), " runs ", failures->what,
                            ". The first: ");
      text += failures->first;
    }
    if (out_of_memory_.count > 0) text += "\nTo try again: " + folder_.how_to_resume();
    if (!text.empty()) throw Error(std::move(text));
  }

  /// Finished, diverged or, in this process, out of memory.
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
    try {
      train_until_it_ends(i, title);
    } catch (const Divergence& divergence) {
      save_divergence(path, divergence);
      note(i, divergence);
    } catch (const OutOfMemoryError& error) {
      note_out_of_memory(i, error.what());
    } catch (const std::bad_alloc&) {
      note_out_of_memory(i, "out of memory");
    } catch (...) {
      result.status = kFailed;
      throw;
    }
    if (result.status != kFinished && result.status != kStopped)
      display_.line(title + result.status);
    write_results();
  }

  void train_until_it_ends(size_t i, const std::string& title) {
    RunResult& result = results_.of_run(i);
    Run run(options_, runs_[i], images_, folder_.of_run(i + 1), title);
    stopped_ = !run.train(display_, [&] {
      saved_ = true;
      result.epochs = run.progress().epochs;
      if (is_whole(result)) result.status = kFinished;
      write_results();
    });
    if (result.status != kFinished) result.status = stopped_ ? kStopped : kFinished;
  }

  void write_results() {
    io::write_file(folder_.results("csv"), results_.csv());
    io::write_file(folder_.results("json"), results_.json(options_));
    if (Clock::now() >= next_drawing_) draw_curves();
  }
  /// After an error, which is the one to tell if this fails for the same reason.
  void end_badly() {
    try {
      write_results();
      draw_curves();
    } catch (const std::exception&) {
    }
    show_table();
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
  Failures divergences_{"diverged"}, out_of_memory_{"ran out of memory"};
  bool saved_ = false, stopped_ = false;  // by this process
};

}  // namespace

bool train(const TrainOptions& options, const ImageSets& images, const RunFolder& folder) {
  return Training(options, images, folder).train();
}

}  // namespace hearth::app
