// Comma-separated values: columns, options, and the errors of damaged files.
#include "hearth/data/csv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hearth/data/dataloader.h"
#include "hearth/data/transforms.h"
#include "hearth/io/serialize.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/files.h"

namespace hearth::data::datasets {
namespace {

using Strings = std::vector<std::string>;

constexpr const char* kFlowers =
    "length,width,species,note\n"
    "5.1,3.5,setosa,\"small, white\"\r\n"
    "\n"
    "7,3.2,versicolor,\"two\nlines\"\n"
    "-6.25e0, 3 ,virginica,\"a \"\"quote\"\"\"\r"
    "+4.9,.5,setosa,";

CSVOptions flowers() { return CSVOptions().target("species").categorical("species").text("note"); }

TEST(Csv, ReadsColumns) {
  CSV csv = CSV::from_text(kFlowers, flowers());
  EXPECT_EQ(csv.size(), 4U);
  EXPECT_EQ(csv.columns(), Strings({"length", "width", "species", "note"}));
  EXPECT_TRUE(
      csv.data().equal(tensor({5.1, 3.5, 7., 3.2, -6.25, 3., 4.9, .5}, kFloat).view({4, 2})));
  EXPECT_TRUE(csv.target().equal(tensor({0, 1, 2, 0})));
  EXPECT_EQ(csv.target().scalar_type(), kLong);
  EXPECT_EQ(csv.categories()["species"].get_itos(), Strings({"setosa", "versicolor", "virginica"}));
  EXPECT_EQ(csv.strings("note"), Strings({"small, white", "two\nlines", "a \"quote\"", ""}));
  EXPECT_TRUE(csv.column("width").equal(tensor({3.5, 3.2, 3., .5}, kFloat)));
  EXPECT_TRUE(csv.get(2).data.equal(tensor({-6.25, 3.}, kFloat)));
  EXPECT_EQ(csv.get(2).target.item<int64_t>(), 2);
  EXPECT_ERROR(csv.get(4), "out of range");
  EXPECT_ERROR(csv.column("note"), "column 'note' has no values: it is ignored or holds texts");
  EXPECT_ERROR(csv.strings("width"), "column 'width' is not in CSVOptions().text()");
  EXPECT_ERROR(csv.column("height"),
               "'the text' has no column 'height'; its columns are 'length', 'width', 'species'");
}

TEST(Csv, MakesBatches) {
  CSV csv = CSV::from_text(kFlowers, flowers());
  const Example<> batch = csv.batched().get_batch({2, 0});
  EXPECT_TRUE(batch.data.equal(tensor({-6.25, 3., 5.1, 3.5}, kFloat).view({2, 2})));
  EXPECT_TRUE(batch.target.equal(tensor({2, 0})));
  const auto loader =
      make_data_loader<samplers::SequentialSampler>(csv.map(transforms::Stack<>()), 4);
  for (const Example<>& loaded : *loader) EXPECT_TRUE(loaded.data.equal(csv.data()));
  CSV plain = CSV::from_text("a\n1\n");
  EXPECT_ERROR(plain.get(0), "'the text' was read without a target: name its column in");
}

TEST(Csv, ReadsFiles) {
  const testing::TempFolder folder;
  testing::write_bytes(folder.path("x.csv"),
                       "\xef\xbb\xbf"
                       "a,b\r\n1,2\r\n");
  const CSV csv(folder.path("x.csv"), CSVOptions().target("b"));
  EXPECT_TRUE(csv.column("a").equal(tensor({1.f})));
  EXPECT_TRUE(csv.target().equal(tensor({2.f})));
  EXPECT_ERROR(CSV(folder.path("y.csv")),
               "cannot read '" + folder.path("y.csv") + "': No such file");
  testing::write_bytes(folder.path("empty.csv"), "");
  EXPECT_ERROR(CSV(folder.path("empty.csv")), "empty.csv': it is empty");
}

TEST(Csv, ChoosesColumns) {
  const char* text = "id,a,b,c,name\n1,2,3,4,x\n5,6,7,8,y\n";
  const CSV two = CSV::from_text(text, CSVOptions().data({"c", "a"}).target({"b", "id"}));
  EXPECT_TRUE(two.data().equal(tensor({4.f, 2.f, 8.f, 6.f}).view({2, 2})));
  EXPECT_TRUE(two.target().equal(tensor({3.f, 1.f, 7.f, 5.f}).view({2, 2})));
  const CSV rest = CSV::from_text(text, CSVOptions().ignored({"id", "name"}).dtype(kDouble));
  EXPECT_TRUE(rest.data().equal(tensor({2., 3., 4., 6., 7., 8.}, kDouble).view({2, 3})));
  const CSV integers =
      CSV::from_text(text, CSVOptions().data({"a", "name"}).integers("a").categorical("name"));
  EXPECT_TRUE(integers.data().equal(tensor({2, 0, 6, 1}).view({2, 2})));
  const CSV mixed = CSV::from_text(text, CSVOptions().data({"a", "name"}).categorical("name"));
  EXPECT_TRUE(mixed.data().equal(tensor({2.f, 0.f, 6.f, 1.f}).view({2, 2})));
  EXPECT_TRUE(mixed.column("name").equal(tensor({0, 1})));
  const CSV nameless = CSV::from_text(
      "1;'a;b'\n2;c\n", CSVOptions().header(false).delimiter(';').quote('\'').text("1"));
  EXPECT_TRUE(nameless.data().equal(tensor({1.f, 2.f}).view({2, 1})));
  EXPECT_EQ(nameless.strings("1"), Strings({"a;b", "c"}));
  const CSV named = CSV::from_text(
      "1\t\"\n2\t'\n",
      CSVOptions().header(false).names({"n", "t"}).delimiter('\t').quote('\0').text("t"));
  EXPECT_EQ(named.strings("t"), Strings({"\"", "'"}));
}

TEST(Csv, Trims) {
  const CSVOptions options = CSVOptions().header(false).trim(true).text({"1", "2"});
  const CSV csv = CSV::from_text("39 , State gov, \"a, b\" \n50,\t x y ,\"\"\n", options);
  EXPECT_TRUE(csv.data().flatten().equal(tensor({39.f, 50.f})));
  EXPECT_EQ(csv.strings("1"), Strings({"State gov", "x y"}));
  EXPECT_EQ(csv.strings("2"), Strings({"a, b", ""}));
}

TEST(Csv, ReadsNumbersAsPython) {
  const CSV csv = CSV::from_text(
      "x\n0.1\n1e-400\n-1e-400\n5e-324\n-inf\nInfinity\n1.\n9007199254740993\n"
      "0." +
          std::string(400, '0') + "1\n1" + std::string(400, '0') +
          "e-400\n"
          "1e-99999999999999999999\n2.2250738585072011e-308\n\"7\"\n",
      CSVOptions().dtype(kDouble));
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> expected = {
      0.1, 0., -0., 5e-324, -inf, inf, 1., 9007199254740992., 0., 1., 0., 2.2250738585072011e-308,
      7.};
  const Tensor column = csv.column("x");
  ASSERT_EQ(column.numel(), int64_t(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(column[int64_t(i)].item<double>(), expected[i]) << i;
  EXPECT_TRUE(std::signbit(column[2].item<double>()));
}

/// The shortest decimal text of the largest float is slightly larger than that float.
TEST(Csv, ReadsTheLargestFloat) {
  const CSV csv = CSV::from_text("x\n3.4028235e38\n");
  EXPECT_EQ(csv.column("x").item<float>(), std::numeric_limits<float>::max());
  EXPECT_ERROR(CSV::from_text("x\n3.4028236e38\n"), "out of the range of");
}

TEST(Csv, RefusesFieldsThatAreNotNumbers) {
  for (const char* bad : {"a", "1x", "--1", "+-1", "0x10", "1e", "1_000", "1 2", "nan(1)", "1,5"}) {
    const std::string text = std::string("y,x\n0,1\n0,\"") + bad + "\"\n";
    EXPECT_ERROR(
        CSV::from_text(text),
        std::string(
            "cannot read 'the text': line 3, column 2: expected a number for 'x', but got '") +
            bad + "' (for names, list the column in CSVOptions().categorical())");
  }
  for (const char* bad : {"1e999", "-1e39", "3.5e38", "1e99999999999999999999"}) {
    EXPECT_ERROR(CSV::from_text(std::string("x\n") + bad),
                 std::string("line 2, column 1: ") + bad + " for 'x' is out of the range of Float");
  }
  const CSVOptions integers = CSVOptions().integers("x");
  EXPECT_ERROR(CSV::from_text("x\n1.0", integers),
               "line 2, column 1: expected an integer for 'x', but got '1.0'");
  EXPECT_ERROR(CSV::from_text("x\n9223372036854775808", integers), "is out of the range of Long");
  EXPECT_EQ(CSV::from_text("x\n-9223372036854775808", integers).column("x").item<int64_t>(),
            std::numeric_limits<int64_t>::min());
  EXPECT_ERROR(CSV::from_text("x,y\n16777217,1", integers),
               "column 'x' has integers that Float cannot hold");
  EXPECT_ERROR(CSV::from_text("x\n" + std::string(100, 'a')),
               "got '" + std::string(40, 'a') + "…'");
}

TEST(Csv, MissingValues) {
  const char* text = "x,c\n1,a\nNA,\n3,null\n";
  const CSVOptions options = CSVOptions().categorical("c");
  EXPECT_ERROR(CSV::from_text(text, options),
               "line 3, column 1: the number for 'x' is missing: 'NA' "
               "(CSVOptions().allow_missing(true) accepts it)");
  EXPECT_ERROR(CSV::from_text("c\na\n\"\"\n", options),
               "line 3, column 1: the category for 'c' is missing");
  const CSV csv = CSV::from_text(text, CSVOptions(options).allow_missing(true));
  EXPECT_TRUE(csv.column("x").isnan().equal(tensor({false, true, false})));
  EXPECT_TRUE(csv.column("c").equal(tensor({1, 0, 0})));
  EXPECT_EQ(csv.categories()["c"].get_itos(), Strings({"", "a"}));
  EXPECT_ERROR(CSV::from_text("x\n1\n-9\n", CSVOptions().missing_values({"-9"})),
               "line 3, column 1: the number for 'x' is missing: '-9'");
  for (const char* nan : {"NAN", "-nan", "Nan"}) {
    const std::string input = std::string("x\n") + nan;
    EXPECT_ERROR(CSV::from_text(input), std::string("the number for 'x' is missing: '") + nan);
    EXPECT_TRUE(
        CSV::from_text(input, CSVOptions().allow_missing(true)).column("x").isnan().item<bool>());
  }
  EXPECT_ERROR(CSV::from_text("x,y\n,1\n", CSVOptions().integers("x").allow_missing(true)),
               "line 2, column 1: the integer for 'x' is missing: ''");
}

TEST(Csv, CategoriesOfAnotherFile) {
  const testing::TempFolder folder;
  const CSV train =
      CSV::from_text("c,d\nb,x\nd,y\na\xff,x\n", CSVOptions().categorical({"c", "d"}));
  save(train.categories(), folder.path("categories.safetensors"));
  Categories loaded;
  load(loaded, folder.path("categories.safetensors"));
  EXPECT_EQ(loaded["c"].get_itos(), Strings({"a\xff", "b", "d"}));
  const CSV test = CSV::from_text("d,c\ny,d\nx,b\n", CSVOptions().categories(loaded));
  EXPECT_TRUE(test.data().equal(tensor({1, 2, 0, 1}).view({2, 2})));
  EXPECT_EQ(test.categories()["c"].size(), 3U);
  EXPECT_ERROR(CSV::from_text("c\nb\nq\n", CSVOptions().categories(loaded)),
               "line 3, column 1: 'q' is not one of the 3 categories of 'c', whose vocabulary has "
               "no default index");
  loaded.columns[0].second.set_default_index(1);
  EXPECT_TRUE(CSV::from_text("c\nd\nq\n", CSVOptions().categories(loaded))
                  .column("c")
                  .equal(tensor({2, 1})));
  EXPECT_ERROR(loaded["e"], "there is no categorical column 'e'");
}

TEST(Csv, DamagedFiles) {
  const auto refused = [](const std::string& text, const std::string& error) {
    EXPECT_ERROR(CSV::from_text(text), "cannot read 'the text': " + error);
  };
  refused("", "it is empty");
  refused("\n\r\n", "there are only empty lines");
  refused("a,b\n", "there is nothing after the header");
  refused("a,b\n1,2\n3\n", "line 3, column 1: the line ends after 1 of 2 fields");
  refused("a,b\n1,2,3\n", "line 2, column 3: there are more fields than the 2 columns");
  refused("a,b\n1,2,\n", "line 2, column 3: there are more fields than the 2 columns");
  refused("a,b\n1,\"2\n3,4\n", "line 2, column 2: the quote that begins here has no end");
  refused(
      "a,\"b\n\n\"\n1,\"x\"y\n",
      "line 4, column 2: expected ',' or the end of the line after the closing quote, but got 'y'");
  refused("a,b,a\n1,2,3\n", "columns 1 and 3 have the same name 'a'");
  refused("a,\"b\r\nc\"\n1,2\n3,x\n",
          "line 4, column 2: expected a number for 'b  c', but got 'x'");
  refused("\x1f\x8b...", "it is compressed; gunzip decompresses it");
  refused(
      "\xff\xfe"
      "a",
      "it is UTF-16; iconv -f UTF-16 -t UTF-8 converts it");
  refused(std::string(2 << 20, ','), "line 1, column 1048577: there are more than 1048576 columns");
  EXPECT_EQ(CSV::from_text("x\n\"" + std::string(1 << 20, '\n') + "\"", CSVOptions().text("x"))
                .strings("x")[0]
                .size(),
            size_t(1 << 20));
}

TEST(Csv, ChecksItsOptions) {
  const auto refused = [](const CSVOptions& options, const std::string& error) {
    EXPECT_ERROR(CSV::from_text("a,b\n1,2\n", options), error);
  };
  refused(CSVOptions().target("c"), "'the text' has no column 'c'; its columns are 'a', 'b'");
  refused(CSVOptions().quote(','), "delimiter and quote are both ','");
  refused(CSVOptions().delimiter('\n'), "delimiter and quote cannot be the end of a line");
  refused(CSVOptions().dtype(kLong), "dtype should be kFloat or kDouble, but got Long");
  refused(CSVOptions().names({"x"}), "there are 2 columns, but CSVOptions().names() has 1");
  refused(CSVOptions().names({"x", "x"}), "columns 1 and 2 have the same name 'x'");
  refused(CSVOptions().data("a").target("a"), "column 'a' is in target or data twice");
  refused(CSVOptions().text("a").target("a"), "column 'a' of target or data should not be in text");
  refused(CSVOptions().text("a").integers("a"), "column 'a' has two types");
  refused(CSVOptions().ignored({"a", "b"}).target("a"), "should not be in text or ignored");
}

}  // namespace
}  // namespace hearth::data::datasets
