#include "command.h"

#include <algorithm>
#include <csignal>
#include <iostream>
#include <memory>

#include "../choices.h"
#include "../top/status_file.h"
#include "../usage.h"
#include "batch_size.h"
#include "batches.h"
#include "config.h"
#include "data_sets.h"
#include "devices.h"
#include "flags.h"
#include "hearth/cuda.h"
#include "hearth/hearth.h"
#include "models.h"
#include "processes.h"
#include "resume.h"
#include "training.h"

namespace hearth::app {

namespace {

constexpr int kStoppedBySignal = 130;  // exit code
constexpr const char* kLatestRun = "the latest one under runs/";

struct Flags {
  TrainOptions options;
  std::string out, config, resume;
};

/// The folder of the run to resume, with its settings in `train`; none for a new run, whose
/// settings may come from --config.
std::optional<RunFolder> find_folder(CLI::App& train, const Flags& flags,
                                     const Processes& processes) {
  const bool resumes = train.get_option("--resume")->count() > 0;
  processes.check_same(resumes ? "--resume" : "no --resume");
  if (!resumes) {
    auto folder = resume_after_restart(train, flags.options, flags.out, processes);
    if (!folder && train.get_option("--config")->count() > 0) apply_config(train, flags.config);
    return folder;
  }
  // CLI11 does not check the empty value of a flag that needs none.
  if (flags.resume.empty()) throw CLI::ValidationError("--resume", "the path is empty");
  return resume(train, flags.resume == kLatestRun ? "" : flags.resume, processes);
}

RunFolder new_folder(const TrainOptions& options, const std::string& out,
                     const Processes& processes) {
  std::optional<RunFolder> folder;
  processes.on_first([&] { folder = RunFolder::create(options, out, name_of_job()); });
  const std::string path = processes.of_first(folder ? folder->path() : "");
  return folder ? *folder : RunFolder::without_lock(path);
}

/// The status file of this training, on the first process.
std::unique_ptr<StatusFile> status_file_of(const RunFolder& folder, const Processes& processes) {
  if (!processes.is_first()) return nullptr;
  return std::make_unique<StatusFile>(status_file_in(folder.path()), processes.reports(),
                                      may_start_again());
}

/// All settings and checksums, which must be equal on all processes. Checksums stand for the data,
/// which may have another path on another machine.
std::string comparable(TrainOptions options, const DataSets& data) {
  options.data = "";
  std::string text = config_text(options);
  for (const auto& [name, checksum] : data.checksums) text += name + " = " + checksum + "\n";
  return text;
}

void check_options(const TrainOptions& options, const Processes& processes, bool is_new) {
  check_search(options);
  check_grid(options);
  HEARTH_CHECK_AS(UsageError, options.profile.empty() || runs_of(options).size() == 1,
                  "--profile needs a single run, without lists of settings");
  HEARTH_CHECK_AS(
      UsageError,
      !processes.are_several() || !std::ranges::count(options.batch_sizes, kAutoBatchSize),
      "--batch-size auto measures one process: find the size with one, then pass it");
  const bool is_lbfgs = options.optimizer.starts_with("lbfgs");
  HEARTH_CHECK_AS(
      UsageError, !is_lbfgs || options.amp != "fp16",
      "lbfgs computes the loss several times in a step, which --amp fp16 cannot scale: try "
      "--amp bf16");
  HEARTH_CHECK_AS(UsageError, !is_lbfgs || !std::ranges::count(options.batch_sizes, kAutoBatchSize),
                  "--batch-size auto cannot predict the memory of lbfgs: pass a number");
  check_scheduler(options);
  if (is_new) check_all_different(options);  // before the data is loaded
  check_devices(options.devices);
  for (const std::string& name : options.devices) processes.device(name);
  for (const RunOptions& run : runs_of(options)) batch_size_of_process(options, run, processes);
}

void run(CLI::App& train, Flags& flags) {
  // Ignore SIGPIPE: a closed pipe must not stop the training.
  std::signal(SIGPIPE, SIG_IGN);
  const Processes processes;
  TrainOptions& options = flags.options;
  std::optional<RunFolder> folder = find_folder(train, flags, processes);
  const bool by_user = !options.devices.empty();
  if (!by_user) options.devices = {cuda::is_available() ? "cuda" : "cpu"};
  processes.together([&] { check_options(options, processes, !folder); });
  DataSets data;
  processes.together([&] { data = load_data(options.data, {options.limit, options.image_size}); });
  if (train.get_option("--model")->count() == 0) options.model = model_for(data);
  data = data_for(options.model, std::move(data));
  if (options.checkpoint_activations) check_has_blocks(options.model);
  std::cerr << choose_batch_sizes(options, data);
  if (!folder) check_all_different(options);
  processes.check_same(comparable(options, data));
  if (!folder) folder = new_folder(options, flags.out, processes);
  if (processes.is_first()) std::cerr << devices_text(options.devices, by_user);
  const auto status = status_file_of(*folder, processes);
  if (!app::train(options, data, *folder, processes)) throw CLI::RuntimeError(kStoppedBySignal);
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* train =
      app.add_subcommand("train", "Train a network with each combination of settings");
  auto flags = std::make_shared<Flags>();
  add_settings(*train, flags->options);
  const auto add_path = [&](const char* name, std::string& path, const char* description,
                            Values::Paths kind) {
    return suggest_values(train->add_option(name, path, description), {{}, kind})
        ->type_name(kind == Values::Paths::kFiles ? "FILE" : "FOLDER");
  };
  add_path("--out", flags->out, "Folder for the results (default runs/NAME)",
           Values::Paths::kFolders);
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
