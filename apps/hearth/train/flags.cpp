#include "flags.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "../choices.h"
#include "../names.h"
#include "../text_table.h"
#include "augment.h"
#include "data_sets.h"
#include "devices.h"
#include "hearth/hearth.h"
#include "models.h"
#include "optimizers.h"
#include "schedule.h"

namespace hearth::app {

namespace {

constexpr int64_t kMaxWorkers = 1024, kMaxEpochs = 1'000'000'000;

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

/// An option whose value is a comma-separated list of numbers, or a range.
template <class T>
CLI::Option* add_axis(CLI::App& train, const char* name, const char* description,
                      std::vector<T>& values, std::optional<Range>& range) {
  const auto set = [name, &values, &range](const std::vector<std::string>& texts) {
    range = texts.size() == 1 ? parse_range(texts.front()) : std::nullopt;
    if (range) return;
    values.clear();
    for (const std::string& text : texts) {
      T value{};
      if (!CLI::detail::lexical_cast(text, value))
        throw CLI::ValidationError(name, "a range cannot be an item of a list: '" + text + "'");
      values.push_back(value);
    }
  };
  return train.add_option_function<std::vector<std::string>>(name, set, description)
      ->delimiter(',')
      ->default_str(std::is_integral_v<T> ? std::to_string(static_cast<int64_t>(values.front()))
                                          : shortest(static_cast<double>(values.front())))
      ->type_name(std::is_integral_v<T> ? "INT" : "FLOAT");
}

/// Accepts valid ranges, and single numbers that `number` accepts.
CLI::Validator or_range(const CLI::Validator& number) {
  const auto check = [number](std::string& text) {
    std::string error;
    bool is_range = false;
    error = error_of([&] { is_range = parse_range(text).has_value(); });
    return is_range || !error.empty() ? error : number(text);
  };
  return CLI::Validator(check, "");
}

/// Accepts ranges from 1 to a number that no batch reaches, and texts that are no range.
std::string check_batch_range(std::string& text) {
  constexpr double kMost = 1e9;
  const auto range = parse_range(text);
  if (!range || (range->low >= 1 && range->high <= kMost)) return "";
  return "'" + text + "' is not a range of batch sizes, which are from 1 to a billion";
}

/// Accepts "auto", which becomes kAutoBatchSize, and whole numbers; returns an error text.
std::string check_batch_size(std::string& text) {
  if (text != "auto") return whole_number(1)(text);
  text = std::to_string(kAutoBatchSize);
  return "";
}

void add_grid(CLI::App& train, TrainOptions& options) {
  add_axis(train, "--lr", "Learning rates, or a range: 1e-4..1e-1:log", options.lrs,
           options.lr_range)
      ->check(or_range(positive_number()));
  add_axis(train, "--batch-size",
           "Examples per batch, or a range: 16..256:log; auto: as many as fit into memory",
           options.batch_sizes, options.batch_range)
      ->transform(or_range(CLI::Validator(check_batch_size, "")))
      ->check(CLI::Validator(check_batch_range, ""));
  train.add_option("--num-workers", options.num_workers, "Threads that load batches in advance")
      ->delimiter(',')
      ->check(whole_number(0, kMaxWorkers))
      ->capture_default_str();
  suggest_values(train.add_option("--device", options.devices,
                                  "Devices, also cuda:1 (default: the GPU if there is one)"),
                 {{"cpu", "cuda"}})
      ->delimiter(',')
      ->check(device_name());
  for (const char* name : {"--lr", "--batch-size", "--num-workers", "--device"})
    train.get_option(name)->group("Comma-separated lists: one run for each combination");
}

/// The flags for the update of the weights from gradients.
void add_update(CLI::App& train, TrainOptions& options) {
  suggest_values(train.add_option("--optimizer", options.optimizer,
                                  "Optimizer, also with settings, as in sgd:momentum=0.9,nesterov"),
                 {optimizer_names()})
      ->check(CLI::Validator(check_optimizer, ""))
      ->capture_default_str();
  suggest_values(
      train.add_option("--scheduler", options.scheduler,
                       "Schedule of the learning rate, also with settings, as in step:gamma=0.5"),
      {scheduler_names()})
      ->capture_default_str();
  train
      .add_option("--warmup-steps", options.warmup_steps,
                  "Steps in which the learning rate rises from 0")
      ->check(whole_number(0))
      ->capture_default_str();
  train.add_flag("--split-batches", options.split_batches,
                 "With several processes, --batch-size is divided among them");
  train.add_flag("--sync-batch-norm", options.sync_batch_norm,
                 "Batch normalization with the statistics of all processes");
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

void add_search(CLI::App& train, TrainOptions& options) {
  train.add_option("--trials", options.trials, "Runs whose values are drawn from the ranges")
      ->check(whole_number(1, 10000));
  accept_only(train.add_option("--search", options.search,
                               "random: train all trials; halving: train the best third longer"),
              "search", {"random", "halving"})
      ->capture_default_str();
  for (const char* name : {"--trials", "--search"}) train.get_option(name)->group("Search");
}

void add_common(CLI::App& train, TrainOptions& options) {
  train.add_option("--epochs", options.epochs, "Passes over the training data")
      ->check(whole_number(0, kMaxEpochs))
      ->capture_default_str();
  train
      .add_option("--seed", options.seed, "Random seed of each run's weights and order of the data")
      ->check(whole_number(0, std::numeric_limits<uint64_t>::max()))
      ->capture_default_str();
  accept_only(train.add_option("--model", options.model, "Network, by default chosen for the data"),
              "model", model_names())
      ->transform(CLI::Validator(rename_model, ""));
  add_data(train, options.data)->capture_default_str();
  add_update(train, options);
  accept_only(train.add_option("--amp", options.amp, "Mixed precision: products in a 16-bit dtype"),
              "dtype", {"off", "bf16", "fp16"})
      ->capture_default_str();
  train.add_flag("--checkpoint-activations", options.checkpoint_activations,
                 "Recompute the activations of a network's blocks in backward, to save memory");
  train
      .add_option("--patience", options.patience,
                  "End a run after so many epochs without a better test accuracy")
      ->check(whole_number(1));
  train
      .add_option("--image-size", options.image_size,
                  "Height and width of an image-folder's images")
      ->check(whole_number(1))
      ->capture_default_str();
  accept_only(train.add_option("--augment", options.augment, "Random changes of training images"),
              "augmentation", augmentation_names())
      ->delimiter(',');
  train.add_option("--limit", options.limit, "Use at most this many examples of each set")
      ->check(whole_number(1));
  train.add_flag("--no-tensorboard", options.no_tensorboard, "Write no records for TensorBoard");
  train.add_flag("--log-losses", options.log_losses, "Write the loss of each step to losses.csv");
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

}  // namespace

void check_scheduler(const TrainOptions& options) {
  const std::string error = error_of([&] {
    const auto optimizer = trial_optimizer(options.optimizer);
    const Schedule schedule(options.scheduler, *optimizer, {});
  });
  if (!error.empty()) throw CLI::ValidationError("--scheduler", error);
}

void check_all_different(const TrainOptions& options) {
  check_different("--lr", options.lrs, std::equal_to<>());
  std::vector<std::string> batch_sizes;
  for (const int64_t size : options.batch_sizes)
    batch_sizes.push_back(size == kAutoBatchSize ? "auto" : std::to_string(size));
  check_different("--batch-size", batch_sizes, std::equal_to<>());
  check_different("--num-workers", options.num_workers, std::equal_to<>());
  const auto index_of = [](const Device& device) {
    return device.has_index() ? device.index() : 0;
  };
  check_different("--device", options.devices, [&](const std::string& a, const std::string& b) {
    const Device one(a), other(b);
    return one.type() == other.type() && index_of(one) == index_of(other);
  });
}

void add_settings(CLI::App& train, TrainOptions& options) {
  add_grid(train, options);
  add_search(train, options);
  add_common(train, options);
}

}  // namespace hearth::app
