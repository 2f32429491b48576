#include "apps/hearth/text_table.h"

#include <gtest/gtest.h>

#include <limits>

namespace hearth::app {

namespace {

TEST(TextTable, AlignsWordsLeftAndNumbersRight) {
  TextTable table({"run", "name", "loss"});
  table.add({"1", "first", "0.5"});
  table.add({"12", "2 words", "nan"});
  EXPECT_EQ(table.text(),
            "run  name     loss\n"
            "  1  first     0.5\n"
            " 12  2 words   nan\n");
}

TEST(TextTable, NumbersMayHaveUnitsAndSigns) {
  TextTable table({"time", "change", "note"});
  table.add({"3.2 ms", "-1", ""});
  table.add({"", "+10", "x"});
  EXPECT_EQ(table.text(),
            "  time  change  note\n"
            "3.2 ms      -1\n"
            "           +10  x\n");
}

TEST(TextTable, CountsCharactersInsteadOfBytes) {
  TextTable table({"a", "b"});
  table.add({"é", "x"});
  table.add({"ab", "y"});
  EXPECT_EQ(table.text(), "a   b\né   x\nab  y\n");
}

TEST(TextTable, CutsTextsBetweenCharacters) {
  EXPECT_EQ(cut_to_width("aéb", 0), "");
  EXPECT_EQ(cut_to_width("aéb", 1), "a");
  EXPECT_EQ(cut_to_width("aéb", 2), "aé");
  EXPECT_EQ(cut_to_width("aéb", 9), "aéb");
}

TEST(TextTable, PrintsAHeadWithoutRows) { EXPECT_EQ(TextTable({"a", "bc"}).text(), "a  bc\n"); }

TEST(RowWriter, PadsAndWidensCells) {
  const RowWriter rows({{"name", 6, false}, {"time", 7, true}, {"note", 0, false}});
  EXPECT_EQ(rows.head(), "name       time  note\n");
  EXPECT_EQ(rows.row({"first", "3.20 s", ""}), "first    3.20 s\n");
  EXPECT_EQ(rows.row({"second", "a text that is longer"}), "second  a text that is longer\n");
}

TEST(Texts, NumbersAreRounded) {
  EXPECT_EQ(fixed(2.5, 0), "2");
  EXPECT_EQ(fixed(-1.005, 3), "-1.005");
  EXPECT_EQ(fixed(std::numeric_limits<double>::quiet_NaN(), 2), "nan");
  EXPECT_EQ(scientific(0), "0");
  EXPECT_EQ(scientific(3.14e-5), "3.1e-05");
}

TEST(Texts, DurationsHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(duration_text(2.5e-6), "2.50 us");
  EXPECT_EQ(duration_text(0.0421), "42.1 ms");
  EXPECT_EQ(duration_text(1.25), "1.25 s");
  EXPECT_EQ(duration_text(123.4), "123 s");
  EXPECT_EQ(duration_text(0.9996), "1.00 s");
  EXPECT_EQ(duration_text(0.0009997), "1.00 ms");
  EXPECT_EQ(duration_text(0.09996), "100 ms");
  EXPECT_EQ(duration_text(9.996), "10.0 s");
  EXPECT_EQ(duration_text(0.9994), "999 ms");
}

TEST(Texts, BytesHaveBinaryUnits) {
  EXPECT_EQ(bytes_text(1000), "1000 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(8.0 * (1ull << 30)), "8.0 GiB");
}

}  // namespace

}  // namespace hearth::app
