#include "command.h"

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "../choices.h"
#include "../names.h"
#include "batch_size.h"
#include "config.h"
#include "hearth/about.h"
#include "hearth/cuda.h"
#include "images.h"
#include "models.h"
#include "optimizers.h"
#include "training.h"

namespace hearth::app {

namespace {

constexpr int kStoppedBySignal = 130;  // exit code
constexpr const char* kLatestRun = "the latest one under runs/";
constexpr int64_t kMostWorkers = 1024, kMostEpochs = 1'000'000'000;

struct Flags {
  TrainOptions options;
  std::string out, config, resume;
};

/// Replaces the former name of a renamed model; never fails.
std::string rename_model(std::string& name) {
  name = current_model_name(name);
  return "";
}

/// Replaces the typed text by the dataset's name or the folder's full path; returns an error text.
std::string resolve_data(std::string& typed) {
  try {
    typed = data_source(typed);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string check_device(const std::string& name) {
  try {
    if (!Device(name).is_meta()) return "";
  } catch (const Error&) {
  }
  return unknown_name("device", name, {"cpu", "cuda", "cuda:0"});
}

std::string check_lr(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && end == text.c_str() + text.size();
  if (is_number && errno == ERANGE)
    return "'" + printable(text) + "' is too " + (std::isfinite(value) ? "small" : "large") +
           " for a float64";
  const bool fits = is_number && value > 0 && std::isfinite(value);
  return fits ? "" : "expected a number above 0, not '" + printable(text) + "'";
}

/// Accepts "auto", which becomes kAutoBatchSize, and whole numbers; returns an error text.
std::string check_batch_size(std::string& text) {
  if (text != "auto") return whole_number(1)(text);
  text = std::to_string(kAutoBatchSize);
  return "";
}

void add_grid(CLI::App& train, TrainOptions& options) {
  train.add_option("--lr", options.lrs, "Learning rates")
      ->delimiter(',')
      ->check(CLI::Validator(check_lr, ""))
      ->capture_default_str();
  train
      .add_option("--batch-size", options.batch_sizes,
                  "Images per batch; auto: as many as fit into memory")
      ->delimiter(',')
      ->transform(CLI::Validator(check_batch_size, ""))
      ->capture_default_str();
  train.add_option("--num-workers", options.num_workers, "Threads that load batches in advance")
      ->delimiter(',')
      ->check(whole_number(0, kMostWorkers))
      ->capture_default_str();
  offer(train.add_option("--device", options.devices,
                         "Devices, also cuda:1 (default: the GPU if there is one)"),
        {{"cpu", "cuda"}})
      ->delimiter(',')
      ->check(CLI::Validator(check_device, ""));
  for (const char* name : {"--lr", "--batch-size", "--num-workers", "--device"})
    train.get_option(name)->group("Comma-separated lists: one run for each combination");
}

void add_settings(CLI::App& train, TrainOptions& options) {
  train.add_option("--epochs", options.epochs, "Passes over the training images")
      ->check(whole_number(0, kMostEpochs))
      ->capture_default_str();
  train.add_option("--seed", options.seed, "Random seed of each run's weights and image order")
      ->check(whole_number(0))
      ->capture_default_str();
  offer_only(train.add_option("--model", options.model, "Network"), "model", model_names())
      ->transform(CLI::Validator(rename_model, ""))
      ->capture_default_str();
  offer(train.add_option("--data", options.data,
                         "Dataset, or a folder with files named like MNIST's"),
        {data_names(), Values::Paths::kFolders})
      ->transform(CLI::Validator(resolve_data, ""))
      ->capture_default_str();
  offer_only(train.add_option("--optimizer", options.optimizer,
                              "Optimizer, with PyTorch's default settings"),
             "optimizer", optimizer_names())
      ->capture_default_str();
  offer_only(train.add_option("--amp", options.amp, "Mixed precision: products in a 16-bit dtype"),
             "dtype", {"off", "bf16", "fp16"})
      ->capture_default_str();
  train.add_option("--limit", options.limit, "Use at most this many images of each set")
      ->check(whole_number(1));
  train.add_flag("--log-losses", options.log_losses, "Write the loss of each step to losses.csv");
}

/// A resumed run keeps its settings; only the number of epochs may change.
void check_resume(const CLI::App& train) {
  for (const CLI::Option* option : train.get_options()) {
    const std::string name = option->get_single_name();
    if (option->count() > 0 && name != "resume" && name != "epochs")
      throw CLI::ValidationError("--" + name,
                                 "a resumed run keeps its settings; only --epochs may change");
  }
}

/// Throws if two values are equal: two runs would be the same.
template <class T, class Same>
void check_different(const std::string& flag, const std::vector<T>& values, const Same& same) {
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (same(values[i], values[j]))
        throw CLI::ValidationError(flag, detail::str("'", values[i], "' and '", values[j],
                                                     "' are the same, and so would be their runs"));
}

void check_all_different(const TrainOptions& options) {
  check_different("--lr", options.lrs, std::equal_to<>());
  check_different("--batch-size", options.batch_sizes, std::equal_to<>());
  check_different("--num-workers", options.num_workers, std::equal_to<>());
  const auto index_of = [](const Device& device) {
    return device.has_index() ? device.index() : 0;
  };
  check_different("--device", options.devices, [&](const std::string& a, const std::string& b) {
    const Device one(a), other(b);
    return one.type() == other.type() && index_of(one) == index_of(other);
  });
}

void check_devices(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Device device(name);
    if (device.is_cpu()) continue;
    HEARTH_CHECK(cuda::is_available(), "there is no device '", name, "': ", cuda::why_not(),
                 " Set HEARTH_SIM_GPUS=1 in the environment to simulate one.");
    HEARTH_CHECK(device.index() < cuda::device_count(), "there is no device '", name,
                 "': the number of GPUs is ", cuda::device_count());
  }
}

/// A line with the full name of each device. If the user chose none, it says why no GPU was found.
std::string devices_text(const std::vector<std::string>& names, bool by_user) {
  std::string text;
  for (const std::string& name : names) {
    const Device device(name);
    text += name + " is " +
            (device.is_cuda() ? cuda::get_device_name(device.index()) : about().processor) +
            (by_user || device.is_cuda() ? "" : "; no GPU: " + cuda::why_not()) + "\n";
  }
  return text;
}

void run(CLI::App& train, Flags& flags) {
  // Ignore SIGPIPE: a closed pipe must not stop the training.
  std::signal(SIGPIPE, SIG_IGN);
  TrainOptions& options = flags.options;
  std::optional<RunFolder> folder;
  if (train.get_option("--resume")->count() > 0) {
    check_resume(train);
    if (flags.resume.empty()) throw CLI::ValidationError("--resume", "the path is empty");
    folder = RunFolder::open(flags.resume == kLatestRun ? "" : flags.resume);
    apply_config(train, folder->config());
  } else if (train.get_option("--config")->count() > 0) {
    apply_config(train, flags.config);
  }
  const bool by_user = !options.devices.empty();
  if (!by_user) options.devices = {cuda::is_available() ? "cuda" : "cpu"};
  check_grid(options);
  HEARTH_CHECK(options.profile.empty() || runs_of(options).size() == 1,
               "--profile needs a single run, without lists of settings");
  if (!folder) check_all_different(options);  // before the data is loaded
  check_devices(options.devices);
  const ImageSets images = load_images(options.data, options.limit);
  std::cerr << choose_batch_sizes(options, images);
  if (!folder) check_all_different(options);
  if (!folder) folder = RunFolder::create(options, flags.out);
  std::cerr << devices_text(options.devices, by_user);
  if (!app::train(options, images, *folder)) throw CLI::RuntimeError(kStoppedBySignal);
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* train =
      app.add_subcommand("train", "Train a network with each combination of settings");
  auto flags = std::make_shared<Flags>();
  add_grid(*train, flags->options);
  add_settings(*train, flags->options);
  const auto add_path = [&](const char* name, std::string& path, const char* description,
                            Values::Paths kind) {
    return offer(train->add_option(name, path, description), {{}, kind})
        ->type_name(kind == Values::Paths::kFiles ? "FILE" : "FOLDER");
  };
  add_path("--out", flags->out, "Folder for the results (default runs/NAME)",
           Values::Paths::kFolders)
      ->check([](const std::string& path) {
        return std::string(path.empty() ? "the path is empty" : "");
      });
  add_path("--config", flags->config, "TOML file with these settings; flags override it",
           Values::Paths::kFiles);
  add_path("--resume", flags->resume, "Continue the training in this folder",
           Values::Paths::kFolders)
      ->expected(0, 1)
      ->default_str(kLatestRun);
  add_path("--profile", flags->options.profile,
           "Write a profile of five steps, for ui.perfetto.dev", Values::Paths::kFiles);
  train->footer(
      "Examples: hearth train --epochs 3\n"
      "          hearth train --lr .01,.001 --batch-size 100,1000 --device cpu,cuda");
  train->callback([train, flags] { run(*train, *flags); });
}

}  // namespace hearth::app
