#include "command.h"

#include <CLI/CLI.hpp>

#include "../choices.h"
#include "agent.h"
#include "launcher.h"
#include "options.h"

namespace hearth::app {

namespace {

void run_launch(const CLI::App& launch, LaunchOptions& options) {
  if (options.is_agent) return run_agent(std::chrono::seconds(options.heartbeat_timeout));
  if (options.command.empty()) throw CLI::RequiredError("program");
  finish_launch_options(launch, options);
  if (const int status = Launcher(options).run()) throw CLI::RuntimeError(status);
}

}  // namespace

void add_launch(CLI::App& app, std::shared_ptr<const std::vector<std::string>> program_arguments) {
  CLI::App* launch = app.add_subcommand(
      "launch", "Start the processes of a distributed program, as torchrun does");
  auto options = std::make_shared<LaunchOptions>();
  auto program = std::make_shared<std::string>();
  add_launch_flags(*launch, *options);
  launch->add_flag("--agent", options->is_agent)->group("");
  suggest_values(launch->add_option("program", *program, "The program, followed by its arguments"),
                 {{}, Values::Paths::kFiles, /*repeats=*/true});
  launch->footer(
      "Examples: hearth launch --nproc-per-node 2 -- ./train --epochs 3\n"
      "          hearth launch --cluster cluster.toml --max-restarts 3 -- ./train");
  launch->callback([launch, options, program, program_arguments] {
    if (launch->get_option("program")->count() > 0) {
      options->command = {*program};
      options->command.insert(options->command.end(), program_arguments->begin(),
                              program_arguments->end());
    }
    run_launch(*launch, *options);
  });
}

}  // namespace hearth::app
