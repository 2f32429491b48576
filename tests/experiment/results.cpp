// Tables of results as text, CSV and JSON.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hearth/experiment.h"
#include "tests/support/files.h"
#include "tests/support/throws.h"

namespace hearth::testing {

namespace {

using namespace hearth::experiment;

/// Rows of two runs with different parameters, with texts that CSV and JSON must escape.
Results two_runs() {
  Results results;
  results.add({1, 1, 0.625, 0.5, 1.25, 2.5, experiment::Run{{"lr", .1}, {"name", "a, \"b\"\n"}}});
  results.add({2, 1, std::nan(""), {}, 0.5, 1, experiment::Run{{"lr", .01}, {"shuffle", true}}});
  return results;
}

TEST(Results, AreExactInCsv) {
  EXPECT_EQ(two_runs().csv(),
            "run,epoch,loss,accuracy,epoch_duration,run_duration,lr,name,shuffle\n"
            "1,1,0.625,0.5,1.25,2.5,0.1,\"a, \"\"b\"\"\n\",\n"
            "2,1,nan,,0.5,1,0.01,,true\n");
}

TEST(Results, AreExactInJson) {
  const auto rows = nlohmann::json::parse(two_runs().json());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["run"], 1);
  EXPECT_EQ(rows[0]["loss"], 0.625);
  EXPECT_EQ(rows[0]["name"], "a, \"b\"\n");
  EXPECT_TRUE(rows[0]["shuffle"].is_null());
  EXPECT_TRUE(rows[1]["loss"].is_null());  // JSON has no NaN
  EXPECT_TRUE(rows[1]["accuracy"].is_null());
  EXPECT_EQ(rows[1]["shuffle"], true);
}

TEST(Results, ThatAreNotUtf8AreValidJson) {
  Results results;
  results.add({1, 1, 0, {}, 0, 0, experiment::Run{{"name", "\xff"}}});
  EXPECT_EQ(nlohmann::json::parse(results.json())[0]["name"], "\xef\xbf\xbd");
}

TEST(Results, AreAlignedAsText) {
  Results results;
  results.add({1, 1, 0.62512, 0.5, 1.25, 12.5, experiment::Run{{"lr", .1}}});
  results.add({1, 10, 0.5, {}, 1, 13.5, experiment::Run{{"lr", .1}}});
  std::ostringstream text;
  text << results;
  EXPECT_EQ(text.str(),
            "run  epoch    loss  accuracy  epoch_duration  run_duration   lr\n"
            "  1      1  0.6251    0.5000            1.25         12.50  0.1\n"
            "  1     10  0.5000                      1.00         13.50  0.1\n");
}

TEST(Results, AreSavedAsCsvAndJson) {
  const TempFolder folder;
  two_runs().save(folder.path("results"));
  EXPECT_EQ(bytes_of(folder.path("results.csv")), two_runs().csv());
  EXPECT_EQ(bytes_of(folder.path("results.json")), two_runs().json());
  EXPECT_EQ(folder.count(), 2u);  // no temporary file is left
  EXPECT_ERROR(two_runs().save(folder.path("missing/results")), "No such file or directory");
  EXPECT_ERROR(two_runs().save(""), "the name of the files is empty");
}

TEST(Results, RefuseParametersWithTheNameOfAResult) {
  Results results;
  EXPECT_ERROR(results.add({1, 1, 0, {}, 0, 0, experiment::Run{{"loss", 1}}}),
               "a parameter cannot be called 'loss'");
}

}  // namespace

}  // namespace hearth::testing
