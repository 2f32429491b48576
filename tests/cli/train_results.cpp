// The results of hearth train: diverged runs, names and numbers in files.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

using Json = nlohmann::json;

/// The arguments of a run. If `lr` is 1e20, it diverges in its second step.
std::vector<std::string> with_lr(const std::string& lr, const std::string& out) {
  return {"--lr",    lr,    "--out",   out,   "--optimizer", "sgd",
          "--model", "mlp", "--limit", "300", "--epochs",    "1"};
}

TEST(TrainResults, GridContinuesAfterADivergedRun) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  const RunResult ran = train(with_lr("1e20,.01", out));
  const std::string error =
      "hearth: 1 of 2 runs diverged. The first: the loss became nan at step 2 (run 1/2  epoch 1/1, "
      "batch 2): 'fc1.weight' is the first parameter ";
  expect_failure(ran, 1, error);
  const std::vector<Row> rows = rows_of(out);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("epoch") + rows[0].at("loss"), "");
  EXPECT_EQ(rows[0].at("status"), "diverged at step 2");
  EXPECT_EQ(rows[1].at("epoch") + " " + rows[1].at("status"), "1 finished");
  EXPECT_NE(ran.out.find("num_workers  device  status"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("diverged at step 2\n"), std::string::npos) << ran.out;
  const Json results = Json::parse(bytes_of(out + "/results.json"))["results"];
  EXPECT_TRUE(results[0]["loss"].is_null());
  EXPECT_EQ(results[0]["status"], "diverged at step 2");
  // --resume does not repeat the diverged run.
  const std::string table = bytes_of(out + "/results.csv");
  const RunResult again = run({"train", "--resume", out}, kOneThread);
  expect_failure(again, 1, error);
  EXPECT_NE(again.err.find("Nothing is left to do."), std::string::npos) << again.err;
  EXPECT_EQ(bytes_of(out + "/results.csv"), table);
}

TEST(TrainResults, FolderWithoutACheckpointCanBeUsedAgain) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  expect_failure(train(with_lr("1e20", out)), 1, "the loss became nan at step 2 (epoch 1/1, ");
  const RunResult ran = train(with_lr(".01", out));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(run({"train", "--resume", out}).status, 0);
  EXPECT_EQ(rows_of(out).at(0).at("status"), "finished");
}

TEST(TrainResults, ColumnsAndKeysInFilesAreIdentifiers) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  const RunResult ran = train({"--out", out, "--limit", "200", "--epochs", "1"});
  ASSERT_EQ(ran.status, 0);
  const std::string table = bytes_of(out + "/results.csv");
  EXPECT_EQ(table.substr(0, table.find('\n')),
            "run,epoch,loss,accuracy,test_accuracy,epoch_duration,run_duration,lr,batch_size,"
            "num_workers,device,status");
  EXPECT_NE(ran.out.find("test accuracy  epoch duration  run duration"), std::string::npos);
  EXPECT_EQ(ran.out.find("status"), std::string::npos) << ran.out;
  const Json json = Json::parse(bytes_of(out + "/results.json"));
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["limit"], 200);
  EXPECT_EQ(json["threads"], 1);
  EXPECT_EQ(json["results"][0]["epoch"], 1);
  EXPECT_EQ(std::to_string(json["results"][0]["test_accuracy"].get<double>()),
            std::to_string(number(rows_of(out).at(0), "test_accuracy")));
  EXPECT_EQ(json["results"][0]["status"], "finished");
}

TEST(TrainResults, GridsHaveALimit) {
  const TempFolder folder;
  const std::string out = folder.path("out"), config = folder.path("x.toml");
  std::string list = "1";
  for (int i = 2; i <= 101; ++i) list += ", " + std::to_string(i);
  write_bytes(config, "lr = [" + list + "]\nbatch-size = [" + list + "]\n");
  expect_failure(train({"--config", config, "--out", out}), 2,
                 "a grid has at most 10000 runs, but these lists give more: 101 of --lr, 101 of "
                 "--batch-size, 1 of --num-workers, ");
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace hearth::testing
