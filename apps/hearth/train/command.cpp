#include "command.h"

#include <cmath>
#include <filesystem>
#include <memory>

#include "../names.h"
#include "config.h"
#include "hearth/cuda.h"
#include "images.h"
#include "models.h"
#include "optimizers.h"
#include "training.h"

namespace hearth::app {

namespace {

constexpr int kStoppedBySignal = 130;

struct Flags {
  TrainOptions options;
  std::string out, config, resume;
};

/// Accepts one of the known names.
CLI::Validator one_of(const std::string& kind, const std::vector<std::string>& known) {
  return {[=](const std::string& name) {
            const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
            return is_known ? std::string() : unknown_name(kind, name, known);
          },
          ""};
}

std::string check_data(const std::string& name) {
  const std::vector<std::string>& known = data_names();
  if (std::find(known.begin(), known.end(), name) != known.end()) return "";
  if (std::filesystem::is_directory(name)) return "";
  return unknown_name("data set", name, known) + ", and there is no such folder";
}

std::string check_device(const std::string& name) {
  try {
    if (!Device(name).is_meta()) return "";
  } catch (const Error&) {
  }
  return unknown_name("device", name, {"cpu", "cuda", "cuda:0"});
}

std::string check_lr(const std::string& text) {
  double value = 0;
  const bool fits = CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value);
  return fits ? "" : "expected a number above 0, not '" + text + "'";
}

/// Accepts whole numbers from `least` on.
CLI::Validator from(int64_t least) {
  return {[=](const std::string& text) {
            int64_t value = 0;
            const bool fits = CLI::detail::lexical_cast(text, value) && value >= least;
            return fits ? std::string()
                        : "expected a whole number from " + std::to_string(least) + " on, not '" +
                              text + "'";
          },
          ""};
}

void add_grid(CLI::App& train, TrainOptions& options) {
  train.add_option("--lr", options.lrs, "Learning rates")
      ->delimiter(',')
      ->check(CLI::Validator(check_lr, ""))
      ->capture_default_str();
  train.add_option("--batch-size", options.batch_sizes, "Images in a batch")
      ->delimiter(',')
      ->check(from(1))
      ->capture_default_str();
  train.add_option("--num-workers", options.num_workers, "Threads that make batches ahead")
      ->delimiter(',')
      ->check(from(0))
      ->capture_default_str();
  train.add_option("--device", options.devices, "cpu, cuda, cuda:1; the GPU if there is one")
      ->delimiter(',')
      ->check(CLI::Validator(check_device, ""));
  for (CLI::Option* option : train.get_options())
    option->group("Lists by comma: a run for each combination");
}

void add_settings(CLI::App& train, TrainOptions& options) {
  train.add_option("--epochs", options.epochs, "Times through the data")
      ->check(from(0))
      ->capture_default_str();
  train.add_option("--seed", options.seed, "Of weights and order; each run begins with it")
      ->check(from(0))
      ->capture_default_str();
  train.add_option("--model", options.model, "seed-cnn, mlp or lenet")
      ->check(one_of("model", model_names()))
      ->capture_default_str();
  train
      .add_option("--data", options.data,
                  "fashion-mnist, mnist, synthetic or a folder with files named like MNIST's")
      ->check(CLI::Validator(check_data, ""))
      ->capture_default_str();
  train.add_option("--optimizer", options.optimizer, "adam, adamw, sgd, rmsprop or adagrad")
      ->check(one_of("optimizer", optimizer_names()))
      ->capture_default_str();
  train.add_option("--limit", options.limit, "Use only so many images of each set")->check(from(1));
  train.add_flag("--log-losses", options.log_losses, "Keep the loss of each step: losses.csv");
}

/// A run goes on with its own settings, but may get more epochs.
void check_resume(const CLI::App& train) {
  for (const CLI::Option* option : train.get_options()) {
    const std::string name = option->get_single_name();
    if (option->count() > 0 && name != "resume" && name != "epochs")
      throw CLI::ValidationError("--" + name,
                                 "a run that is resumed keeps its own; only --epochs may change");
  }
}

void run(CLI::App& train, Flags& flags) {
  TrainOptions& options = flags.options;
  const bool resumes = train.get_option("--resume")->count() > 0;
  std::optional<RunFolder> folder;
  if (resumes) {
    check_resume(train);
    folder = RunFolder::open(flags.resume);
    apply_config(train, folder->config());
  } else if (!flags.config.empty()) {
    apply_config(train, flags.config);
  }
  if (options.devices.empty()) options.devices = {cuda::is_available() ? "cuda" : "cpu"};
  if (std::filesystem::is_directory(options.data))
    options.data = std::filesystem::canonical(options.data).string();
  if (!resumes) folder = RunFolder::create(options, flags.out);
  if (!app::train(options, *folder)) throw CLI::RuntimeError(kStoppedBySignal);
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* train = app.add_subcommand("train", "Train a network, once for each combination");
  auto flags = std::make_shared<Flags>();
  add_grid(*train, flags->options);
  add_settings(*train, flags->options);
  train->add_option("--out", flags->out, "Folder for everything that comes out; default runs/...");
  train->add_option("--config", flags->config, "TOML file with these settings; flags win over it");
  train->add_option("--resume", flags->resume, "Go on with the run in this folder, or the last one")
      ->expected(0, 1);
  train->footer(
      "Examples: hearth train --epochs 3\n"
      "          hearth train --lr .01,.001 --batch-size 100,1000 --device cpu,cuda");
  train->callback([train, flags] { run(*train, *flags); });
}

}  // namespace hearth::app
