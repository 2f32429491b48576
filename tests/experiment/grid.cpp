// Parameters, their values, and the runs of a grid.
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "hearth/experiment.h"
#include "tests/support/throws.h"

namespace hearth::testing {

namespace {

using namespace hearth::experiment;

std::string text_of(const Run& run) {
  std::ostringstream text;
  text << run;
  return text.str();
}

TEST(Grid, HasAllCombinationsInTheOrderOfNestedLoops) {
  const Params params{{"lr", {.01, 1}},
                      {"batch_size", {1000, 20000}},
                      {"shuffle", {true, false}},
                      {"device", {"cuda", kCPU, Device("cuda:1")}}};
  const std::vector<experiment::Run> runs = RunBuilder::get_runs(params);
  ASSERT_EQ(runs.size(), 24u);
  size_t number = 0;
  for (const char* lr : {"0.01", "1"})
    for (const char* batch_size : {"1000", "20000"})
      for (const char* shuffle : {"true", "false"})
        for (const char* device : {"cuda", "cpu", "cuda:1"})
          EXPECT_EQ(text_of(runs[number++]),
                    hearth::detail::str("Run(lr=", lr, ", batch_size=", batch_size,
                                        ", shuffle=", shuffle, ", device=", device, ")"));
}

TEST(Grid, WithoutParametersHasOneRun) {
  EXPECT_EQ(RunBuilder::get_runs({}), std::vector<experiment::Run>{experiment::Run()});
}

TEST(Grid, RefusesEmptyListsRepeatedNamesAndHugeGrids) {
  EXPECT_ERROR(RunBuilder::get_runs({{"lr", {}}}), "the parameter 'lr' has no values");
  EXPECT_ERROR(RunBuilder::get_runs({{"lr", {1}}, {"lr", {2}}}),
               "the parameter 'lr' is there twice");
  EXPECT_ERROR(RunBuilder::get_runs({{"", {1}}}), "the name of a parameter is empty");
  const Values thousand(1000, Value(0));
  EXPECT_ERROR(RunBuilder::get_runs({{"a", thousand}, {"b", thousand}, {"c", {1, 2}}}),
               "more than 1000000 runs");
}

TEST(RunValues, AreReadByNameAndType) {
  const experiment::Run run{
      {"lr", .01}, {"batch_size", 100}, {"shuffle", true}, {"device", "cuda:1"}};
  EXPECT_EQ(run.get<double>("lr"), .01);
  EXPECT_EQ(run.get<float>("lr"), .01f);
  EXPECT_EQ(run.get<int64_t>("batch_size"), 100);
  EXPECT_EQ(run.get<size_t>("batch_size"), 100u);
  EXPECT_EQ(run.get<double>("batch_size"), 100);
  EXPECT_TRUE(run.get<bool>("shuffle"));
  EXPECT_EQ(run.get<std::string>("device"), "cuda:1");
  EXPECT_EQ(run.get<Device>("device"), Device("cuda:1"));
  EXPECT_EQ(run.get<Device>("elsewhere", kCPU), Device(kCPU));
  EXPECT_EQ(run.get<int>("batch_size", 1), 100);
}

TEST(RunValues, ThatDoNotFitAreErrorsWithTheParametersName) {
  const experiment::Run run{{"lr", .01}, {"batch_size", 1000}, {"device", "gpu"}, {"offset", -1}};
  EXPECT_ERROR(run.get<int>("lr"),
               "the parameter 'lr' has the value '0.01', which is not an integer");
  EXPECT_ERROR(run.get<bool>("batch_size"), "'1000', which is not a bool");
  EXPECT_ERROR(run.get<double>("device"), "'gpu', which is not a number");
  EXPECT_ERROR(run.get<std::string>("lr"), "'0.01', which is not a text");
  EXPECT_ERROR(run.get<Device>("device"), "'gpu', which is not a device");
  EXPECT_ERROR(run.get<int8_t>("batch_size"), "not in the range");
  EXPECT_ERROR(run.get<size_t>("offset"), "not in the range");
  EXPECT_ERROR(run.get<int>("batchsize"),
               "the run has no parameter 'batchsize'; did you mean 'batch_size'?");
  EXPECT_ERROR(Value(std::numeric_limits<uint64_t>::max()), "greater than the greatest int64_t");
}

TEST(RunValues, KeepTheirKind) {
  EXPECT_EQ(Value(0).str(), "0");  // neither false nor a null pointer
  EXPECT_EQ(Value(0).to<int>(), 0);
  EXPECT_EQ(Value(false).str(), "false");
  EXPECT_EQ(Value(1e-7).str(), "1e-07");
  EXPECT_EQ(Value(0.1).str(), "0.1");
}

}  // namespace

}  // namespace hearth::testing
