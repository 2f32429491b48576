// hearth inspect and hearth convert.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "hearth/hearth.h"
#include "program.h"
#include "tests/support/files.h"
#include "tests/support/fixtures.h"

namespace hearth::testing {

namespace {

using Json = nlohmann::json;

/// Writes a checkpoint as Python users do and returns its path.
std::string write_checkpoint(const TempFolder& folder) {
  GenericDict model, root;
  model.insert("weight", tensor({{1.F, std::nanf("")}, {-2.5F, 4.F}}));
  model.insert("count", ones({}, kLong));
  root.insert("model", model);
  root.insert("epoch", 3);
  const std::string path = folder.path("x.pt");
  io::save_pt(root, path);
  return path;
}

TEST(Inspect, PrintsNamesAndStatistics) {
  const TempFolder folder;
  const RunResult ran = run({"inspect", write_checkpoint(folder)});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "torch.save, 2 tensors, 24 B\n\n"
            "name          dtype    shape   bytes   min  max      mean  NaN\n"
            "model.weight  float32  [2, 2]     16  -2.5    4  0.833333    1\n"
            "model.count   int64    []          8     1    1         1    0\n"
            "\nname   value\nepoch      3\n");
}

TEST(Inspect, PrintsJson) {
  const TempFolder folder;
  const RunResult ran = run({"inspect", "--json", write_checkpoint(folder)});
  const Json json = Json::parse(ran.out);
  EXPECT_EQ(json["format"], "torch.save");
  EXPECT_EQ(json["tensors"][0]["shape"], Json({2, 2}));
  EXPECT_EQ(json["tensors"][0]["nan"], 1);
  EXPECT_EQ(json["tensors"][0]["min"], -2.5);
  EXPECT_EQ(json["values"]["epoch"], "3");
  const Json plain =
      Json::parse(run({"inspect", "--json", "--no-statistics", folder.path("x.pt")}).out);
  EXPECT_FALSE(plain["tensors"][0].contains("min"));
}

TEST(Inspect, ShowsIntegersExactly) {
  const TempFolder folder;
  const int64_t odd = (int64_t{1} << 53) + 1;  // not a double
  io::save_npz(io::NamedTensors{{"n", tensor({-odd, odd}, kLong)}, {"b", tensor({true, true})}},
               folder.path("x.npz"));
  const Json json = Json::parse(run({"inspect", "--json", folder.path("x.npz")}).out);
  EXPECT_EQ(json["tensors"][0]["min"].dump(), "-9007199254740993");
  EXPECT_EQ(json["tensors"][0]["max"].dump(), "9007199254740993");
  EXPECT_EQ(json["tensors"][1]["min"].dump(), "1");
  const std::string table = run({"inspect", folder.path("x.npz")}).out;
  EXPECT_NE(table.find("-9007199254740993  9007199254740993"), std::string::npos) << table;
}

TEST(Inspect, CountsTheNaNsOfComplexNumbers) {
  const TempFolder folder;
  const Tensor numbers = make_complex(tensor({1.F, 2.F, 3.F}), tensor({0.F, std::nanf(""), 1.F}));
  io::save_npz(io::NamedTensors{{"z", numbers}}, folder.path("x.npz"));
  const Json json = Json::parse(run({"inspect", "--json", folder.path("x.npz")}).out);
  EXPECT_EQ(json["tensors"][0]["nan"], 1);
  EXPECT_FALSE(json["tensors"][0].contains("min"));
}

TEST(Inspect, TheNaNsOfMetaTensorsAreUnknown) {
  const std::string file = fixture_path("pt/meta.pt");
  const Json json = Json::parse(run({"inspect", "--json", file}).out);
  EXPECT_TRUE(json["tensors"][0]["nan"].is_null()) << json;
  const RunResult table = run({"inspect", file});
  EXPECT_NE(table.out.find("shape  float32  [2]        8\n"), std::string::npos) << table.out;
}

TEST(Inspect, PrintsJsonOfNamesThatAreNotUtf8) {
  const TempFolder folder;
  io::save_npz(io::NamedTensors{{"a\xff", ones({1})}}, folder.path("x.npz"));
  const RunResult ran = run({"inspect", "--json", folder.path("x.npz")});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(Json::parse(ran.out)["tensors"][0]["name"], "a\xef\xbf\xbd");
}

TEST(Inspect, ReportsDamage) {
  const TempFolder folder;
  const std::string path = write_checkpoint(folder);
  std::string bytes = bytes_of(path);
  bytes[bytes.find(std::string("\0\0\x80\x40", 4))] ^= 1;  // 4.0F
  write_bytes(path, bytes);
  const RunResult damaged = run({"inspect", path});
  EXPECT_EQ(damaged.status, 1);
  EXPECT_NE(damaged.out.find("model.weight"), std::string::npos) << damaged.out;
  EXPECT_NE(damaged.err.find("'archive/data/0' is damaged"), std::string::npos) << damaged.err;
  write_bytes(path, bytes.substr(0, 100));
  const RunResult cut = run({"inspect", path});
  EXPECT_EQ(cut.status, 1);
  EXPECT_NE(cut.err.find("the file is truncated"), std::string::npos) << cut.err;
}

TEST(Convert, CopiesTensors) {
  const TempFolder folder;
  const std::string pt = write_checkpoint(folder), out = folder.path("y.safetensors");
  const RunResult ran = run({"convert", pt, out});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "hearth: note: 'epoch' is no tensor and is left out\n");
  EXPECT_EQ(run({"convert", out, folder.path("z.npz")}).status, 0);
  const io::NamedTensors tensors = io::load_npz(folder.path("z.npz"));
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].first, "model.weight");
  EXPECT_EQ(tensors[0].second[1][0].item<float>(), -2.5F);
  io::save_safetensors(tensors, out, {{"format", "pt"}});
  EXPECT_EQ(run({"convert", out, folder.path("z.safetensors")}).err, "");
  EXPECT_EQ(io::load_file(folder.path("z.safetensors")).metadata, (io::Metadata{{"format", "pt"}}));
  EXPECT_EQ(run({"convert", out, folder.path("z.npz")}).err,
            "hearth: note: the metadata 'format' are left out\n");
  const std::string small = folder.path("small.safetensors");
  EXPECT_EQ(run({"convert", pt, small, "--dtype", "float8_e4m3fn"}).status, 0);
  EXPECT_NE(run({"inspect", small})
                .out.find("model.weight  float8_e4m3fn  [2, 2]      4  -2.5    4  0.833333    1"),
            std::string::npos)
      << run({"inspect", small}).out;
  EXPECT_EQ(run({"convert", small, folder.path("large.pt"), "--dtype", "float32"}).status, 0);
  EXPECT_NE(run({"inspect", folder.path("large.pt")}).out.find("model.weight  float32"),
            std::string::npos);
  EXPECT_NE(run({"convert", pt, small, "--dtype", "float9"}).status, 0);
  const RunResult wrong = run({"convert", pt, folder.path("y.txt")});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.err.find("its name must end with"), std::string::npos) << wrong.err;
}

}  // namespace

}  // namespace hearth::testing
