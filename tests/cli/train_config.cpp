// Files with settings, and the limits of settings.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "apps/hearth/choices.h"
#include "apps/hearth/train/command.h"
#include "apps/hearth/train/config.h"
#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

/// Expects an error that starts with the text.
void expect_refused(const RunResult& ran, int status, const std::string& text) {
  expect_failure(ran, status, "hearth: " + text);
}

TEST(TrainConfig, LargeFilesAreRefused) {
  const TempFolder folder;
  const std::string path = folder.path("x.toml");
  std::string keys = "a";
  for (int i = 0; i < 200000; ++i) keys += ".a";
  write_bytes(path, keys + " = 1\n");
  expect_refused(run({"train", "--config", path}), 1,
                 "cannot read '" + path + "': a file with settings may have at most 65536 bytes\n");
  write_bytes(path, keys.substr(0, 65531) + " = 1\n");
  expect_refused(run({"train", "--config", path}), 2, path + ":1: unknown setting 'a'");
}

TEST(TrainConfig, ReadsPipesAndRefusesFolders) {
  const TempFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { write_bytes(path, "epoch = 1\n"); });
  expect_refused(run({"train", "--config", path}), 2, path + ":1: unknown setting 'epoch'");
  writer.join();
  expect_refused(run({"train", "--config", folder.str()}), 1,
                 "cannot read '" + folder.str() + "': it is a folder\n");
}

TEST(TrainConfig, EmptyAndMistypedValuesAreRefused) {
  const TempFolder folder;
  const std::string path = folder.path("x.toml");
  const auto refused = [&](const std::string& text, const std::string& error) {
    write_bytes(path, text);
    expect_refused(run({"train", "--config", path}), 2, path + ":1: " + error);
  };
  refused("lr = []", "'lr' is an empty list\n");
  refused("device = []", "'device' is an empty list\n");
  refused("lr = \"0.1,,0.2\"", "an item of the list '0.1,,0.2' is empty\n");
  refused("log-losses = 5", "'log-losses' must be true or false\n");
  refused("log-losses = [true, false]", "'log-losses' must be true or false\n");
  refused(R"(model = "\u001b[31m")", "--model: unknown model '\\x1b[31m'");
}

TEST(TrainConfig, NumbersHaveLimits) {
  const auto refused = [](const std::string& flag, const std::string& value,
                          const std::string& range) {
    expect_refused(train({flag, value}), 2,
                   flag + ": '" + value + "' is not a whole number from " + range + "\n");
  };
  refused("--num-workers", "1000000000", "0 to 1024");
  refused("--epochs", "9223372036854775807", "0 to 1000000000");
  refused("--batch-size", "99999999999999999999", "1 to 9223372036854775807");
}

TEST(TrainConfig, LastRepeatedFlagCountsAndListsGrow) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  const RunResult ran = train({"--epochs", "7", "--limit", "100", "--model", "mlp", "--lr", ".1",
                               "--epochs", "1", "--out", out, "--lr", ".2"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::vector<Row> rows = rows_of(out);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("lr") + " " + rows[1].at("lr"), "0.1 0.2");
}

TEST(TrainConfig, ConfigTextHasAllSettings) {
  CLI::App app;
  app::add_train(app);
  app::TrainOptions options;
  options.devices = {"cpu"};
  app::for_each_setting(options, [](const char*, auto& value, app::Effect) {
    if constexpr (requires { value.emplace(); }) value.emplace();
    if constexpr (requires { value.emplace_back(); }) value.emplace_back("flip");
  });
  const std::string text = "\n" + app::config_text(options);
  for (const CLI::Option* flag : app::flags_of(*app.get_subcommand("train"))) {
    const std::string name = flag->get_single_name();
    const bool is_setting = name != "help" && name != "config" && name != "resume" &&
                            name != "out" && name != "profile";
    EXPECT_EQ(text.find("\n" + name + " = ") != std::string::npos, is_setting) << name;
  }
}

}  // namespace
}  // namespace hearth::testing
