#pragma once

#include <hearth/vision/utils.h>
#include <torch/torch.h>
#include <torch/utils/tensorboard.h>

#include <chrono>
#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>

#include "network.h"
#include "runs.h"

/// Measures the time and the results of runs, prints one row per epoch and logs for TensorBoard.
class RunManager {
 public:
  template <class Loader>
  void begin_run(const Run& run, Network network, Loader& loader) {
    run_start_time_ = Clock::now();

    run_params_ = run;
    run_count_ += 1;
    epoch_count_ = 0;

    network_ = std::move(network);
    std::ostringstream comment;
    comment << '-' << run;
    tb_.emplace(SummaryWriterOptions().comment(comment.str()));

    auto batch = *loader.begin();
    auto images = batch.data;
    auto grid = torch::vision::utils::make_grid(images);

    tb_->add_image("images", grid);
    tb_->add_graph(network_, images.to(run.device));
  }

  void begin_epoch() {
    epoch_start_time_ = Clock::now();
    epoch_count_ += 1;
    epoch_loss_ = 0;
    epoch_num_correct_ = 0;
    epoch_examples_ = 0;
  }

  void track_loss(const torch::Tensor& loss, const torch::Tensor& images) {
    epoch_loss_ += loss.item<double>() * static_cast<double>(images.size(0));
    epoch_examples_ += images.size(0);
  }

  void track_num_correct(const torch::Tensor& preds, const torch::Tensor& labels) {
    epoch_num_correct_ += preds.argmax(1).eq(labels).sum().item<int64_t>();
  }

  void end_epoch() {
    if (run_count_ == 1 && epoch_count_ == 1)
      std::cout << "run epoch   loss accuracy epoch_s run_s   lr batch_size workers device\n";
    const auto examples = static_cast<double>(epoch_examples_);
    const auto correct = static_cast<double>(epoch_num_correct_);
    const auto& run = run_params_;
    std::cout << std::fixed << std::setprecision(4) << std::setw(3) << run_count_ << std::setw(6)
              << epoch_count_ << std::setw(7) << epoch_loss_ / examples << std::setw(9)
              << correct / examples << std::setprecision(2) << std::setw(8)
              << seconds_since(epoch_start_time_) << std::setw(6) << seconds_since(run_start_time_)
              << std::setw(5) << run.lr << std::setw(11) << run.batch_size << std::setw(8)
              << run.num_workers << std::setw(7) << run.device << std::endl;
  }

 private:
  using Clock = std::chrono::steady_clock;
  using SummaryWriter = torch::utils::tensorboard::SummaryWriter;
  using SummaryWriterOptions = torch::utils::tensorboard::SummaryWriterOptions;

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  Run run_params_;
  int run_count_ = 0, epoch_count_ = 0;
  Network network_ = nullptr;
  std::optional<SummaryWriter> tb_;
  Clock::time_point run_start_time_, epoch_start_time_;
  double epoch_loss_ = 0;
  int64_t epoch_num_correct_ = 0, epoch_examples_ = 0;
};
