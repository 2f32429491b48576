#include "command.h"

#include <csignal>
#include <iostream>
#include <memory>

#include "../choices.h"
#include "../names.h"
#include "../settings_file.h"
#include "augment.h"
#include "batch_size.h"
#include "config.h"
#include "data_sets.h"
#include "devices.h"
#include "hearth/cuda.h"
#include "hearth/hearth.h"
#include "models.h"
#include "optimizers.h"
#include "schedule.h"
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

/// Returns the text of the error that make() throws, else "".
template <class Make>
std::string error_of(const Make& make) {
  try {
    make();
    return "";
  } catch (const Error& error) {
    return error.what_without_backtrace();
  }
}

/// An optimizer of one matrix, to check its settings.
std::unique_ptr<optim::Optimizer> trial_optimizer(const std::string& text) {
  return make_optimizer(text, {zeros({1, 1}, kFloat)}, 0.1);
}

std::string check_optimizer(const std::string& text) {
  return error_of([&] { trial_optimizer(text); });
}

/// The scheduler's settings may depend on the optimizer.
void check_scheduler(const TrainOptions& options) {
  const std::string error = error_of([&] {
    const auto optimizer = trial_optimizer(options.optimizer);
    const Schedule schedule(options.scheduler, *optimizer, {});
  });
  if (!error.empty()) throw CLI::ValidationError("--scheduler", error);
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
      ->check(positive_number())
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
      ->check(device_name());
  for (const char* name : {"--lr", "--batch-size", "--num-workers", "--device"})
    train.get_option(name)->group("Comma-separated lists: one run for each combination");
}

/// The flags that say how gradients change the weights.
void add_update(CLI::App& train, TrainOptions& options) {
  offer(train.add_option("--optimizer", options.optimizer,
                         "Optimizer, also with settings, as in sgd:momentum=0.9,nesterov"),
        {optimizer_names()})
      ->check(CLI::Validator(check_optimizer, ""))
      ->capture_default_str();
  offer(train.add_option("--scheduler", options.scheduler,
                         "Schedule of the learning rate, also with settings, as in step:gamma=0.5"),
        {scheduler_names()})
      ->capture_default_str();
  train
      .add_option("--warmup-steps", options.warmup_steps,
                  "Steps in which the learning rate rises from 0")
      ->check(whole_number(0))
      ->capture_default_str();
  train.add_option("--accumulate", options.accumulate, "Batches whose gradients make one step")
      ->check(whole_number(1))
      ->capture_default_str();
  train.add_option("--clip-grad-norm", options.clip_grad_norm, "Largest norm of the gradients")
      ->check(positive_number());
  train.add_option("--clip-grad-value", options.clip_grad_value, "Largest element of a gradient")
      ->check(positive_number());
  train
      .add_option("--label-smoothing", options.label_smoothing,
                  "Share of the target that is spread over all classes")
      ->check(number_between(0, 1))
      ->capture_default_str();
  train
      .add_option("--ema", options.ema,
                  "Test and save a moving average of the weights with this decay, as in 0.999")
      ->check(number_between(0, 1));
}

void add_settings(CLI::App& train, TrainOptions& options) {
  train.add_option("--epochs", options.epochs, "Passes over the training images")
      ->check(whole_number(0, kMostEpochs))
      ->capture_default_str();
  train.add_option("--seed", options.seed, "Random seed of each run's weights and image order")
      ->check(whole_number(0))
      ->capture_default_str();
  offer_only(train.add_option("--model", options.model, "Network, by default chosen for the data"),
             "model", model_names())
      ->transform(CLI::Validator(rename_model, ""));
  add_data(train, options.data)->capture_default_str();
  add_update(train, options);
  offer_only(train.add_option("--amp", options.amp, "Mixed precision: products in a 16-bit dtype"),
             "dtype", {"off", "bf16", "fp16"})
      ->capture_default_str();
  train
      .add_option("--patience", options.patience,
                  "End a run after so many epochs without a better test accuracy")
      ->check(whole_number(1));
  train
      .add_option("--image-size", options.image_size,
                  "Height and width of an image-folder's images")
      ->check(whole_number(1))
      ->capture_default_str();
  offer_only(train.add_option("--augment", options.augment, "Random changes of training images"),
             "augmentation", augmentation_names())
      ->delimiter(',');
  train.add_option("--limit", options.limit, "Use at most this many examples of each set")
      ->check(whole_number(1));
  train.add_flag("--no-tensorboard", options.no_tensorboard, "Write no records for TensorBoard");
  train.add_flag("--log-losses", options.log_losses, "Write the loss of each step to losses.csv");
}

/// Whether a setting says where a run computes, and not what.
bool is_place(const std::string& name) { return name == "device" || name == "num-workers"; }

/// A resumed run keeps its settings; only the number of epochs, the devices and the workers may
/// change.
void check_resume(const CLI::App& train) {
  for (const CLI::Option* option : train.get_options()) {
    const std::string name = option->get_single_name();
    const bool may_change = name == "resume" || name == "epochs" || is_place(name);
    if (option->count() > 0 && !may_change)
      throw CLI::ValidationError("--" + name,
                                 "a resumed run keeps its settings; only --epochs, "
                                 "--device and --num-workers may change");
  }
}

/// The grid of a resumed training keeps its runs, so each list keeps its length.
void check_list_lengths(const CLI::App& train, const std::string& config) {
  const toml::table settings = read_settings(config);
  for (const char* name : {"device", "num-workers"}) {
    const toml::array* list = settings[name].as_array();
    const size_t given = train.get_option(std::string("--") + name)->results().size();
    if (list && given > 0 && given != list->size())
      throw CLI::ValidationError(std::string("--") + name,
                                 detail::str("the resumed training has ", list->size(),
                                             " of them, so give as many, not ", given));
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

void run(CLI::App& train, Flags& flags) {
  // Ignore SIGPIPE: a closed pipe must not stop the training.
  std::signal(SIGPIPE, SIG_IGN);
  TrainOptions& options = flags.options;
  std::optional<RunFolder> folder;
  if (train.get_option("--resume")->count() > 0) {
    check_resume(train);
    if (flags.resume.empty()) throw CLI::ValidationError("--resume", "the path is empty");
    folder = RunFolder::open(flags.resume == kLatestRun ? "" : flags.resume);
    check_list_lengths(train, folder->config());
    apply_config(train, folder->config());
  } else if (train.get_option("--config")->count() > 0) {
    apply_config(train, flags.config);
  }
  const bool by_user = !options.devices.empty();
  if (!by_user) options.devices = {cuda::is_available() ? "cuda" : "cpu"};
  check_grid(options);
  HEARTH_CHECK(options.profile.empty() || runs_of(options).size() == 1,
               "--profile needs a single run, without lists of settings");
  check_scheduler(options);
  if (!folder) check_all_different(options);  // before the data is loaded
  check_devices(options.devices);
  DataSets data = load_data(options.data, {options.limit, options.image_size});
  if (train.get_option("--model")->count() == 0) options.model = model_for(data);
  data = data_for(options.model, std::move(data));
  std::cerr << choose_batch_sizes(options, data);
  if (!folder) check_all_different(options);
  if (!folder) folder = RunFolder::create(options, flags.out);
  std::cerr << devices_text(options.devices, by_user);
  if (!app::train(options, data, *folder)) throw CLI::RuntimeError(kStoppedBySignal);
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
