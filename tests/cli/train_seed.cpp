// hearth train --seed: seeds that a signed or a floating-point number cannot express.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

/// A string of google.protobuf.Value, as TensorBoard reads hyperparameters.
std::string protobuf_text(const std::string& text) {
  return "\x1a" + std::string(1, char(text.size())) + text;
}

TEST(TrainSeed, LargeSeedsAreWrittenAsTheyWereGiven) {
  const TempFolder folder;
  for (const std::string seed :
       {"18446744073709551615", "9223372036854775808", "9007199254740993", "9007199254740992"}) {
    const std::string out = folder.path(seed);
    ASSERT_EQ(train({"--out", out, "--limit", "100", "--epochs", "1", "--seed", seed}).status, 0);
    const auto json = nlohmann::json::parse(bytes_of(out + "/results.json"));
    EXPECT_EQ(json.at("seed").dump(), seed);
    std::string records;
    for (const auto& entry : std::filesystem::directory_iterator(out + "/run-1"))
      if (entry.path().filename().string().starts_with("events.out.tfevents."))
        records += bytes_of(entry.path().string());
    EXPECT_NE(records.find("seed = "), std::string::npos);
    EXPECT_NE(records.find(seed), std::string::npos) << "in the text of the settings";
    const bool is_exact = seed == "9007199254740992";  // as a double
    EXPECT_EQ(records.find(protobuf_text(seed)) != std::string::npos, !is_exact) << seed;
    const RunResult resumed = run({"train", "--resume", out, "--epochs", "2"}, kOneThread);
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(rows_of(out).size(), 2U);
  }
}

}  // namespace
}  // namespace hearth::testing
