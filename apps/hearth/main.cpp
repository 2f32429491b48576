// The program hearth: adds all commands, of which `info`, `bench` and `completion` are described
// here, and runs the one on the command line.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <limits>
#include <new>

#include "bench.h"
#include "choices.h"
#include "completion.h"
#include "convert.h"
#include "eval/commands.h"
#include "hearth/about.h"
#include "hearth/device.h"
#include "hearth/error.h"
#include "info.h"
#include "inspect.h"
#include "launch/command.h"
#include "launch/options.h"
#include "names.h"
#include "output.h"
#include "plot_memory.h"
#include "top/command.h"
#include "train/command.h"
#include "usage.h"

namespace {

using namespace hearth;

void add_info(CLI::App& app) {
  CLI::App* info = app.add_subcommand("info", "Show devices, memory, libraries and versions");
  auto as_json = std::make_shared<bool>(false);
  info->add_flag("--json", *as_json, "Print JSON");
  info->footer("Example: hearth info --json");
  info->callback([as_json] { app::print_info(std::cout, *as_json); });
}

void add_bench(CLI::App& app) {
  CLI::App* bench = app.add_subcommand("bench", "Compare the speed of the CPU and a GPU");
  auto options = std::make_shared<app::BenchOptions>();
  bench->add_option("--size", options->sizes, "Rows and columns of the matrices to multiply")
      ->delimiter(',')
      ->check(app::whole_number(1))
      ->capture_default_str();
  bench
      ->add_option("--transfer-size", options->transfer_size,
                   "Rows and columns of the matrix to transfer")
      ->check(app::whole_number(1))
      ->capture_default_str();
  bench
      ->add_option("--repeats", options->repeats,
                   "Number of multiplications of a 1000 x 1000 matrix by a scalar")
      ->check(app::whole_number(1))
      ->capture_default_str();
  bench->add_option("--steps", options->steps, "Number of training steps")
      ->check(app::whole_number(1))
      ->capture_default_str();
  bench->add_option("--gpu", options->gpu, "Index of the GPU")
      ->check(app::whole_number(0, std::numeric_limits<DeviceIndex>::max()))
      ->default_str("0");
  bench->add_flag("--json", options->as_json, "Print JSON");
  bench->footer("Example: HEARTH_SIM_GPUS=1 hearth bench --size 500,1000 --transfer-size 1000");
  bench->callback([options] {
    if (!app::run_bench(*options, std::cout)) throw CLI::RuntimeError(1);
  });
}

void add_completion(CLI::App& app) {
  CLI::App* completion = app.add_subcommand("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  app::accept_only(completion->add_option("shell", *shell, "The shell"), "shell", app::shells())
      ->required();
  completion->footer("Example: source <(hearth completion bash)");
  completion->callback([shell, &app] { std::cout << app::completion_script(app, *shell); });
}

/// Opens /dev/null in place of closed standard streams, so that reading stdin and writing the other
/// streams fails. Otherwise the next file to be opened would get the number of the closed stream,
/// and output would go into that file.
void reserve_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      (void)open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int run_command(CLI::App& app, std::vector<std::string> arguments) {
  try {
    app::refuse_empty_items(app, arguments);
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the end
    app.parse(std::move(arguments));
    return 0;
  } catch (const CLI::ParseError& error) {
    return app::finish_parsing(app, error);
  }
}

}  // namespace

int main(int argc, char** argv) {
  reserve_standard_streams();
  CLI::App app("Deep learning in C++: show and compare devices, train networks, convert files.",
               "hearth");
  app.require_subcommand(1);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.formatter(std::make_shared<app::HelpFormatter>());
  app.set_version_flag(
      "--version", [] { return "hearth " + about().version; }, "Print the version and exit");
  app.footer("Example: hearth info");
  add_info(app);
  add_bench(app);
  app::add_train(app);
  app::add_eval(app);
  app::add_predict(app);
  app::add_compare(app);
  app::add_export(app);
  const auto program_arguments = std::make_shared<std::vector<std::string>>();
  app::add_launch(app, program_arguments);
  app::add_top(app);
  app::add_inspect(app);
  app::add_convert(app);
  app::add_plot_memory(app);
  add_completion(app);
  try {
    app::Output output;
    std::vector<std::string> arguments(argv + 1, argv + argc);
    *program_arguments = app::take_program_arguments(app, arguments);
    const int status = run_command(app, std::move(arguments));
    output.check();
    return status;
  } catch (const std::bad_alloc&) {
    std::cerr << "hearth: out of memory\n";
  } catch (const std::exception& error) {
    std::cerr << "hearth: " << app::printable_lines(error.what()) << "\n";
  }
  return 1;
}
