#include "training.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <numeric>
#include <unordered_map>

#include "../plot.h"
#include "../text_table.h"
#include "batches.h"
#include "config.h"
#include "divergence.h"
#include "hearth/cuda.h"
#include "hearth/error.h"
#include "hearth/io/file.h"
#include "hearth/utils/plot.h"
#include "interrupt.h"
#include "processes.h"
#include "run.h"

namespace hearth::app {

namespace {

/// "1 run", "2,000 runs".
std::string counted_with_commas(int64_t count, const std::string& noun) {
  return with_commas(count) + " " + noun + (count == 1 ? "" : "s");
}

/// The runs that failed in the same way.
struct Failures {
  const char* description;
  size_t count = 0;
  std::string first = {};

  void add(const std::string& reason) {
    if (count++ == 0) first = reason;
  }
};

class Training {
 public:
  Training(const TrainOptions& options, const DataSets& data, const RunFolder& folder,
           const Processes& processes)
      : options_(options),
        data_(data),
        folder_(folder),
        processes_(processes),
        runs_(runs_of(options)),
        results_(runs_),
        display_(!processes.is_first()) {}

  bool train() {
    // Ignore SIGXFSZ: at the limit on file sizes, a write must fail as it does on a full disk.
    std::signal(SIGXFSZ, SIG_IGN);
    processes_.on_first([&] {
      const auto rows = recorded_rows();
      for (size_t i = 0; i < runs_.size(); ++i) {
        load_progress(i, rows);
        failed_before_.push_back(recorded_failure(i, rows));
      }
      io::write_file(folder_.config(), config_text(options_));
      write_results();
    });
    display_.line(heading());
    if (processes_.is_first() && !utils::plot::is_available())
      display_.line("There will be no curves.png: " + utils::plot::why_not());
    if (const std::string note = note_on_classes(data_); !note.empty()) display_.line(note);
    const InterruptGuard guard;
    try {
      train_unfinished_runs();
      draw_curves();
    } catch (Error& error) {
      save_after_error();
      if (saved_ && std::filesystem::exists(folder_.config()))
        error.append_line("To resume from the last checkpoint: " + folder_.resume_command());
      throw;
    } catch (...) {
      save_after_error();
      throw;
    }
    show_table();
    display_.line("Files are in " + folder_.path());
    if (stopped_) display_.line("Stopped. To resume: " + folder_.resume_command());
    if (!stopped_) processes_.on_first([&] { check_failures(); });
    return !stopped_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  /// Drawing may take longer than a short epoch.
  static constexpr std::chrono::seconds kDrawingInterval{5};

  std::string heading() const {
    const bool has_images = data_.train.input_sizes().size() == 3;
    return options_.model + " on " + options_.data + ", " +
           counted_with_commas(data_.train.count(), has_images ? "image" : "example") +
           " to train and " + with_commas(data_.test.count()) + " to test, " +
           counted_with_commas(static_cast<int64_t>(runs_.size()), "run") + " of " +
           counted_with_commas(options_.epochs, "epoch") +
           (processes_.are_several() ? ", " + with_commas(processes_.count()) + " processes" : "");
  }

  void show_table() {
    if (results_.empty() || !processes_.is_first()) return;
    display_.line("");
    std::cout << results_.table(options_.trials.has_value()) << std::flush;
  }

  /// The status in each row of the folder's results.csv, by the row's text "run,epoch".
  std::unordered_map<std::string, std::string> recorded_rows() const {
    std::ifstream csv(folder_.results("csv"));
    std::unordered_map<std::string, std::string> rows;
    for (std::string line; std::getline(csv, line);)
      rows[line.substr(0, line.find(',', line.find(',') + 1))] = line.substr(line.rfind(',') + 1);
    return rows;
  }

  /// Whether a run ended with an error when it was trained last.
  bool recorded_failure(size_t index,
                        const std::unordered_map<std::string, std::string>& rows) const {
    const size_t epochs = results_.of_run(index).epochs.size();
    const auto row = rows.find(std::to_string(index + 1) + "," +
                               (epochs ? std::to_string(epochs) : std::string()));
    return row != rows.end() && (row->second == kFailed || row->second == kOutOfMemory);
  }

  /// Restores a run's results and status from its folder.
  void load_progress(size_t index, const std::unordered_map<std::string, std::string>& rows) {
    const std::string path = folder_.of_run(index + 1);
    RunResult& run = results_.of_run(index);
    const auto progress = saved_progress(
        path, Settings(options_, runs_[index], data_,
                       steps_per_epoch(options_, runs_[index], data_.train.count(), processes_)));
    if (progress) {
      run.epochs = progress->epochs;
      const auto count = static_cast<int64_t>(run.epochs.size());
      HEARTH_CHECK(options_.epochs >= count, "--epochs ", options_.epochs, " is less than the ",
                   count, " already trained in '", path, "'");
      run.status = status_of(run.epochs);
    }
    if (const auto divergence = saved_divergence(path))
      return record_divergence(index, *divergence);
    HEARTH_CHECK(progress || !rows.contains(std::to_string(index + 1) + ",1"), "'", path, "/",
                 kLastCheckpoint, "' is missing, but ", folder_.results("csv"),
                 " has results of this run: without the checkpoint it cannot be resumed");
  }

  /// The status of a run after these epochs.
  const char* status_of(const std::vector<EpochResult>& epochs) const {
    if (!ended(epochs, options_, options_.epochs)) return kStopped;
    return std::ssize(epochs) < options_.epochs ? kStoppedEarly : kFinished;
  }

  void record_divergence(size_t index, const Divergence& divergence) {
    results_.of_run(index).status = "diverged at step " + std::to_string(divergence.step);
    divergences_.add(divergence.reason);
  }

  /// In a single process, the other runs go on: they may need less memory, and --resume may find
  /// more.
  void record_out_of_memory(size_t index, const std::string& reason) {
    results_.of_run(index).status = kOutOfMemory;
    out_of_memory_.add(reason);
    const Device device(runs_[index].device);
    if (!device.is_cuda()) return;
    while (clear_error(device)) {
    }
    cuda::empty_cache();
  }

  /// Clears one error that a failed run has left in the device's streams; false if there is none.
  static bool clear_error(Device device) {
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
        text += detail::str(failures->count, " of ", runs_.size(), " runs ", failures->description,
                            ". The first: ");
      text += failures->first;
    }
    if (out_of_memory_.count > 0) text += "\nTo try again: " + folder_.resume_command();
    if (!text.empty()) throw Error(std::move(text));
  }

  /// Whether a run has nothing left to train up to epoch `last`, as the first process decides.
  bool has_ended(size_t index, int64_t last) const {
    const RunResult& run = results_.of_run(index);
    const bool is_open = run.status.empty() || run.status == kStopped;
    const bool has_work = run.epochs.empty() || !ended(run.epochs, options_, last);
    return processes_.of_first(is_open && has_work ? 0 : 1) != 0;
  }

  void train_unfinished_runs() {
    std::vector<size_t> candidates(runs_.size());
    std::iota(candidates.begin(), candidates.end(), size_t{0});
    // An error in one of several processes ends all runs, so runs that failed before come last.
    if (processes_.are_several())
      std::ranges::stable_partition(candidates, [this](size_t i) {
        return processes_.of_first(processes_.is_first() && failed_before_[i] ? 1 : 0) == 0;
      });
    const std::vector<int64_t> stages = options_.search == "halving"
                                            ? Halving::stages(std::ssize(runs_), options_.epochs)
                                            : std::vector<int64_t>{options_.epochs};
    bool has_trained = false;
    for (const int64_t last : stages) {
      has_trained = train_stage(candidates, last) || has_trained;
      if (stopped_) return;
      if (last < options_.epochs) eliminate(candidates, last);
    }
    if (!has_trained) display_.line("Nothing is left to do.");
  }

  /// Trains the candidates up to epoch number `last`; false if there was nothing to do.
  bool train_stage(const std::vector<size_t>& candidates, int64_t last) {
    bool has_trained = false;
    for (const size_t i : candidates) {
      if (has_ended(i, last)) continue;
      has_trained = true;
      train_run(i, last);
      const bool is_end = i == candidates.back() && last == options_.epochs;
      stopped_ = stopped_ || (processes_.any(interrupted()) && !is_end);
      if (stopped_) break;
    }
    return has_trained;
  }

  /// Keeps the best candidates after a stage, as the first process chooses them.
  void eliminate(std::vector<size_t>& candidates, int64_t last) {
    std::vector<size_t> trained = candidates, kept;
    std::erase_if(trained, [this](size_t i) {
      const std::string& status = results_.of_run(i).status;
      return status != kStopped && status != kStoppedEarly && status != kFinished;
    });
    const std::vector<size_t> best = Halving::best(trained, results_.runs(), last);
    for (const size_t i : candidates) {
      const bool goes_on = std::ranges::find(best, i) != best.end();
      if (processes_.of_first(goes_on ? 1 : 0) != 0)
        kept.push_back(i);
      else if (results_.of_run(i).status == kStopped)
        results_.of_run(i).status = kEliminated;
    }
    display_.line("After epoch " + std::to_string(last) + ", " + std::to_string(kept.size()) +
                  " of " + counted_with_commas(std::ssize(candidates), "run") + " go on");
    candidates = kept;
    write_results();
  }

  /// Sets stopped_ if a signal arrived.
  void train_run(size_t index, int64_t last) {
    const RunOptions& run = runs_[index];
    const bool is_single = runs_.size() == 1;
    const std::string name =
        "run " + std::to_string(index + 1) + "/" + std::to_string(runs_.size());
    if (!is_single)
      display_.line(name + ": lr " + shortest(run.lr) + ", batch size " +
                    std::to_string(run.batch_size) + ", " +
                    counted_with_commas(run.num_workers, "worker") + ", " + run.device);
    RunResult& result = results_.of_run(index);
    result.status = kRunning;
    const std::string title = is_single ? "" : name + "  ", path = folder_.of_run(index + 1);
    try {
      train_until(index, last, title);
    } catch (const Divergence& divergence) {
      if (processes_.is_first()) save_divergence(path, divergence);
      record_divergence(index, divergence);
    } catch (const OutOfMemoryError& error) {
      record_out_of_memory(index, error.what());
      if (processes_.are_several()) throw;  // the others wait for this process
    } catch (const std::bad_alloc&) {
      record_out_of_memory(index, "out of memory");
      if (processes_.are_several()) throw;
    } catch (...) {
      result.status = kFailed;
      throw;
    }
    if (result.status != kFinished && result.status != kStopped)
      display_.line(title + result.status);
    write_results();
  }

  void train_until(size_t index, int64_t last, const std::string& title) {
    RunResult& result = results_.of_run(index);
    Run run(options_, runs_[index], data_, processes_, folder_.of_run(index + 1), title);
    stopped_ = !run.train(last, display_, [&] {
      saved_ = processes_.is_first();
      result.epochs = run.progress().epochs;
      if (ended(result.epochs, options_, options_.epochs)) result.status = status_of(result.epochs);
      write_results();
    });
    if (!stopped_ || result.status == kRunning) result.status = status_of(result.epochs);
  }

  void write_results() {
    if (!processes_.is_first()) return;
    io::write_file(folder_.results("csv"), results_.csv());
    io::write_file(folder_.results("json"), results_.json(options_, processes_.count()));
    if (Clock::now() >= next_drawing_) draw_curves();
  }

  /// Ignores its own errors: the first error matters, and may have caused them.
  void save_after_error() {
    try {
      write_results();
      draw_curves();
    } catch (const std::exception&) {
    }
    show_table();
  }
  void draw_curves() {
    if (results_.empty() || !processes_.is_first() || !utils::plot::is_available()) return;
    write_png(folder_.curves(), results_.charts());
    next_drawing_ = Clock::now() + kDrawingInterval;
  }

  const TrainOptions& options_;
  const DataSets& data_;
  const RunFolder& folder_;
  const Processes& processes_;
  const std::vector<RunOptions> runs_;
  Results results_;
  Display display_;
  Clock::time_point next_drawing_;  // initially in the past
  Failures divergences_{"diverged"}, out_of_memory_{"ran out of memory"};
  std::vector<bool> failed_before_;  // by run, on the first process
  bool saved_ = false;               // this process has written a checkpoint
  bool stopped_ = false;             // by a signal
};

}  // namespace

bool train(const TrainOptions& options, const DataSets& data, const RunFolder& folder,
           const Processes& processes) {
  return Training(options, data, folder, processes).train();
}

}  // namespace hearth::app
