// Values of every kind in archives and pickles.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "hearth/io/archive.h"
#include "hearth/io/pt.h"
#include "hearth/ivalue_conversions.h"
#include "tests/support/files.h"

namespace hearth::serialize {
namespace {

using Number = complex<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();

/// One value of each kind that can be saved, except for lists of one type.
std::vector<IValue> values() {
  GenericDict dict;
  dict.insert("a", Number(0.5, -2));
  dict.insert(3, std::vector<IValue>{Number(-kInf, 0), "x", IValue()});
  return {IValue(),
          ones({}),
          true,
          7,
          -2.5,
          "text",
          std::vector<IValue>{1, 2.0, "x"},
          dict,
          ivalue::Tuple::create(1, Number(3, 4)),
          Device("cpu"),
          Number(1.5, -2)};
}

std::vector<IValue> lists() {
  return {std::vector<bool>{true, false}, std::vector<int64_t>{1, -2},
          std::vector<double>{0.5, -kInf}, std::vector<Number>{Number(1, -2), Number(kInf, 0.5)},
          std::vector<Tensor>{ones({1}), zeros({1})}};
}

bool has_kind_of(const IValue& a, const IValue& b) {
  return a.isBoolList() == b.isBoolList() && a.isIntList() == b.isIntList() &&
         a.isDoubleList() == b.isDoubleList() && a.isTensorList() == b.isTensorList() &&
         a.isComplexDoubleList() == b.isComplexDoubleList() &&
         std::string_view(a.tagKind()) == b.tagKind();
}

TEST(ValueKinds, ArchivesKeepThem) {
  std::vector<IValue> all = values();
  for (const IValue& list : lists()) all.push_back(list);
  for (const IValue& list : {IValue(std::vector<bool>()), IValue(std::vector<Number>())})
    all.push_back(list);
  OutputArchive written;
  written.write("all", ivalue::Tuple::create(all));
  written.write("bools", lists()[0]);
  written.write("z", Number(1.5, -2));
  std::stringstream stream;
  written.save_to(stream);
  const OutputArchive* as_written = &written;
  for (const bool in_memory : {false, true}) {
    InputArchive archive = in_memory ? InputArchive(*as_written) : InputArchive();
    if (!in_memory) archive.load_from(stream);
    IValue read, bools, z;
    archive.read("all", read);
    archive.read("bools", bools);
    archive.read("z", z);
    const std::vector<IValue>& items = read.toTupleRef().elements();
    ASSERT_EQ(items.size(), all.size());
    for (size_t i = 0; i < all.size(); ++i)
      EXPECT_TRUE(items[i] == all[i] && has_kind_of(items[i], all[i])) << i << ": " << items[i];
    EXPECT_TRUE(bools.isBoolList() && z.toComplexDouble() == Number(1.5, -2));
  }
}

TEST(ValueKinds, ArchivesKeepNaNsOfComplexNumbers) {
  OutputArchive written;
  written.write("z", Number(std::nan(""), 2));
  std::stringstream stream;
  written.save_to(stream);
  InputArchive archive;
  archive.load_from(stream);
  IValue z;
  archive.read("z", z);
  EXPECT_TRUE(std::isnan(z.toComplexDouble().real()));
  EXPECT_EQ(z.toComplexDouble().imag(), 2);
}

TEST(ValueKinds, ComparisonsOfListsThatContainThemselvesEnd) {
  const GenericList a, b;
  a.push_back(a);
  b.push_back(b);
  EXPECT_TRUE(a == a);
  EXPECT_ERROR(a == b, "cannot compare values that are nested deeper than 1000 levels");
  a.clear();
  b.clear();
}

/// As in Python, a pickle has lists of any values only.
TEST(ValueKinds, PicklesKeepThem) {
  std::vector<IValue> all = values();
  const IValue read = pickle_load(pickle_save(ivalue::Tuple::create(all)));
  const std::vector<IValue>& items = read.toTupleRef().elements();
  ASSERT_EQ(items.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_TRUE(items[i] == all[i] && has_kind_of(items[i], all[i])) << i << ": " << items[i];
  for (const IValue& list : lists()) {
    const GenericList found = pickle_load(pickle_save(list)).toList();
    EXPECT_TRUE(found.vec() == list.toList().vec()) << list;
  }
}

TEST(ValueKinds, GeneratorsCannotBeSaved) {
  const IValue values[] = {make_generator(), std::vector<IValue>{1, make_generator()}};
  for (const IValue& value : values) {
    EXPECT_ERROR(pickle_save(value), "cannot save a Generator");
    OutputArchive archive;
    EXPECT_ERROR(archive.write("a", value), "cannot save 'a': it contains a Generator");
  }
}

}  // namespace
}  // namespace hearth::serialize
