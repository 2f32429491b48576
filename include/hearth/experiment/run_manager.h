#pragma once

#include <memory>
#include <optional>
#include <string>

#include "hearth/arg.h"
#include "hearth/experiment/results.h"
#include "hearth/nn/module.h"
#include "hearth/tensor.h"
#include "hearth/utils/graph.h"
#include "hearth/utils/tensorboard.h"

namespace hearth::experiment {

/// Options of RunManager.
struct HEARTH_API RunManagerOptions {
  HEARTH_ARG(bool, show) = true;         ///< whether the table is printed while the runs go on
  HEARTH_ARG(bool, tensorboard) = true;  ///< whether `runs/<date>_<host>-<run>` is written
  /// If not empty, `results`.csv and `results`.json are written after each epoch; a failure is only
  /// a warning.
  HEARTH_ARG(std::string, results);
};

namespace detail {
class LiveTable;
}  // namespace detail

/// Measures the loss, the accuracy and the time of runs, prints a table of them, and logs each run
/// for TensorBoard: images, graph, loss and accuracy, histograms of parameters and gradients.
class HEARTH_API RunManager {
 public:
  explicit RunManager(RunManagerOptions options = {});
  ~RunManager();  ///< ends the run
  RunManager(RunManager&&) noexcept;
  RunManager& operator=(RunManager&&) noexcept;

  /// Starts a run, and ends one that is still open. Logs the first batch of the loader as a grid of
  /// images, if its sizes are [N, 1 or 3, H, W], and the graph of the network called with it. The
  /// batch is moved to the network's device.
  template <class Network, class Loader>
  void begin_run(const Run& run, Network& network, Loader& loader) {
    nn::Module& module = hearth::utils::detail::module_of(network);
    start_run(run, module.shared_from_this());
    if (!writer_) return;
    const Tensor images = (*loader.begin()).data;
    add_images(images);
    writer_->add_graph(network, images.to(device()));
  }
  void end_run();  ///< closes the run's files

  void begin_epoch();
  /// Adds the epoch's results to the table and the log; waits for the device.
  void end_epoch();

  /// Adds the mean loss of a batch, weighted by batch.size(0). Waits for the device only to update
  /// a table on a terminal.
  void track_loss(const Tensor& loss, const Tensor& batch);
  /// Counts correct predictions: the class of the largest score in `preds`, [N, classes], is that
  /// in `labels`, [N]. Does not wait for the device.
  void track_num_correct(const Tensor& preds, const Tensor& labels);

  const Results& results() const { return results_; }
  /// Writes `name`.csv and `name`.json, each atomically.
  void save(const std::string& name) const { results_.save(name); }

 private:
  struct Epoch {
    Tensor loss, num_correct;  // sums, on the network's device
    int64_t num_examples = 0, num_predictions = 0;
    double start = 0;
  };

  void start_run(const Run& run, std::shared_ptr<nn::Module> network);
  void add_images(const Tensor& images);
  void add_histograms();
  void save_if_wanted() const;
  Device device() const;
  EpochResult result() const;
  Epoch& epoch(const char* caller);

  RunManagerOptions options_;
  Results results_;
  std::unique_ptr<detail::LiveTable> table_;
  int64_t run_count_ = 0, epoch_count_ = 0;

  // Of the current run.
  Run params_;
  std::shared_ptr<nn::Module> network_;
  std::optional<hearth::utils::tensorboard::SummaryWriter> writer_;
  double run_start_ = 0;
  std::optional<Epoch> epoch_;
};

}  // namespace hearth::experiment
