// Hostile and damaged files of torch.save.
#include <gtest/gtest.h>

#include "hearth/io/pt.h"
#include "hearth/io/serialize.h"
#include "io/zip_writer.h"
#include "tests/io/pt_files.h"

namespace hearth::io {
namespace {

using testing::error_of;

/// A zip archive with this pickle and one storage of 8 bytes.
std::vector<char> archive(const std::string& pickle, const std::string& version = "3\n",
                          const std::string& name_of_version = "version") {
  std::vector<char> bytes;
  const ByteSink sink = [&](const void* data, size_t size) {
    bytes.insert(bytes.end(), static_cast<const char*>(data),
                 static_cast<const char*>(data) + size);
  };
  ZipWriter zip(sink);
  zip.add("archive/data.pkl", {pickle});
  zip.add("archive/data/0", {std::string(8, '\1')});
  zip.add("archive/" + name_of_version, {version});
  zip.finish();
  return bytes;
}
std::string pickle_error(const std::string& pickle) {
  return error_of([&] { pickle_load(archive(pickle)); });
}
#define EXPECT_REFUSED(pickle, text)                                                     \
  do {                                                                                   \
    const std::string message = pickle_error(pickle);                                    \
    EXPECT_NE(message.find("cannot read 'the buffer': "), std::string::npos) << message; \
    EXPECT_NE(message.find(text), std::string::npos) << "message: " << message;          \
  } while (false)

/// A pickled short string.
std::string short_string(const std::string& value) {
  return "U" + std::string(1, static_cast<char>(value.size())) + value;
}
/// A pickled tensor over the storage.
std::string pickled_tensor(const std::string& numel, const std::string& offset,
                           const std::string& sizes, const std::string& strides,
                           const std::string& key = "0", const std::string& type = "FloatStorage",
                           const std::string& changes = "") {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + short_string("storage") + "ctorch\n" + type +
         "\n" + short_string(key) + short_string("cpu") + numel + "tQ" + offset + sizes + strides +
         "\x89"
         "ccollections\nOrderedDict\n)R" +
         changes + "tR";
}
// Pickled integers.
const std::string kTwo = "K\2", kZero(std::string("K\0", 2)), kOne = "K\1";
const std::string kLarge = "J\xff\xff\xff\x7f", kMinusOne = "J\xff\xff\xff\xff";

TEST(BadPt, ADictRefusesNaNAsAKey) {
  GenericDict dict;
  EXPECT_ERROR(dict.insert(std::nan(""), 1), "the key of a Dict must not be NaN");
}

TEST(BadPt, RefusesCode) {
  EXPECT_ERROR(load_pt(testing::pt_file("evil.pt")), "refuses to call `posix.system`");
  Tensor tensor;
  EXPECT_ERROR(load(tensor, testing::pt_file("evil.pt")), "refuses to call `posix.system`");
  EXPECT_REFUSED("cos\nsystem\n" + short_string("true") + "\x85R.", "refuses to call `os.system`");
  EXPECT_REFUSED("c__builtin__\neval\n.", "refuses to call `__builtin__.eval`");
  EXPECT_REFUSED("\x80\4" + short_string("os") + short_string("system") + "\x93.",
                 "refuses to call `os.system`");
  EXPECT_REFUSED("ctorch\nFloatStorage\n)R.", "it calls `torch.FloatStorage`");
  EXPECT_REFUSED("ctorch\nFloatStorage\n.", "expected a value, but there is `torch.FloatStorage`");
  EXPECT_REFUSED("c__torch__\nModule\n.", "load_jit_parameters reads its tensors");
  EXPECT_REFUSED("ctorch._utils\n_rebuild_parameter\n)R.",
                 "arguments that Hearth does not understand");
}

TEST(BadPt, RefusesDamagedPickles) {
  EXPECT_REFUSED("", "at byte 0 of its pickle: the pickle is truncated");
  EXPECT_REFUSED(".", "the stack is empty");
  EXPECT_REFUSED("(.", "the stack is empty");
  EXPECT_REFUSED("I1\n.", "the instruction 73");
  EXPECT_REFUSED("\x80\x06.", "its protocol is newer than 5");
  EXPECT_REFUSED("X\xff\xff\xff\xff.", "the pickle is truncated");
  EXPECT_REFUSED(
      "\x8a\x09"
      "123456789.",
      "an int of 9 bytes does not fit 64 bits");
  EXPECT_REFUSED("h\1.", "the memo has no 1");
  EXPECT_REFUSED("t.", "expected a mark");
  EXPECT_REFUSED("a.", "the stack is empty");
  EXPECT_REFUSED("NNa.", "expected a new list or dict");
  EXPECT_REFUSED("}NNNu.", "expected a mark");
  EXPECT_REFUSED("}(NNu.", "the key of a dict is a None");
  EXPECT_REFUSED("}(K\1u.", "expected a dict, and a value for each key");
  EXPECT_REFUSED("NQ.", "expected a storage");
  EXPECT_REFUSED("N)b.", "expected a new list or dict");
}

TEST(BadPt, RefusesCyclesAndExplosions) {
  EXPECT_REFUSED("]q\1h\1a.", "contains itself");
  EXPECT_REFUSED("]q\1]q\2h\1aa.", "contains itself");
  EXPECT_REFUSED(
      "]q\1"
      "0h\1h\1a.",
      "expected a new list or dict");
  EXPECT_REFUSED(std::string(300, ']') + std::string(299, 'a') + ".", "nested too deeply");
  std::string doubling = "]q\1";
  for (char i = 1; i < 60; ++i)
    doubling += std::string("0](h") + i + "h" + i + "eq" + static_cast<char>(i + 1);
  EXPECT_REFUSED(doubling + ".", "it repeats values too often");
  std::string tuples = "Nq\1";
  for (char i = 1; i < 60; ++i)
    tuples += std::string("0h") + i + "h" + i + "\x86q" + static_cast<char>(i + 1);
  EXPECT_REFUSED(tuples + ".", "it repeats values too often");
}

TEST(BadPt, ReadsContainersThatAreUsedAgain) {
  EXPECT_EQ(pickle_error("](]q\2h\2\x85"
                         "e."),
            "no error");  // [a, (a,)]
  EXPECT_EQ(pickle_error("](]q\2]h\2"
                         "ae."),
            "no error");  // [a, [a]]
}

TEST(BadPt, ListsOfBoolsHoldBools) {
  const std::string build = "ctorch.jit._pickle\nbuild_boollist\n](";
  EXPECT_TRUE(pickle_load(archive(build + "\x88\x89" + "e\x85R.")).isBoolList());
  EXPECT_REFUSED(build + "\x88K\1" + "e\x85R.", "arguments that Hearth does not understand");
}

TEST(BadPt, RefusesTensorsThatDoNotFitTheirStorage) {
  const std::string tuple_of_two = kTwo + "\x85", tuple_of_one = kOne + "\x85";
  EXPECT_EQ(pickle_error(pickled_tensor(kTwo, kZero, tuple_of_two, tuple_of_one) + "."),
            "no error");
  EXPECT_REFUSED(pickled_tensor(kTwo, kOne, tuple_of_two, tuple_of_one) + ".",
                 "are out of bounds for storage of size 8");
  EXPECT_REFUSED(pickled_tensor(kTwo, kZero, tuple_of_two, kTwo + "\x85") + ".", "out of bounds");
  EXPECT_REFUSED(pickled_tensor(kTwo, kMinusOne, tuple_of_two, tuple_of_one) + ".",
                 "invalid storage offset -1");
  EXPECT_REFUSED(pickled_tensor(kTwo, kZero, kMinusOne + "\x85", tuple_of_one) + ".", "overflowed");
  EXPECT_REFUSED(pickled_tensor(kTwo, kZero, tuple_of_two, kMinusOne + "\x85") + ".", "overflowed");
  EXPECT_REFUSED(pickled_tensor(kTwo, kZero, kLarge + kLarge + kLarge + "\x87",
                                kLarge + kLarge + kLarge + "\x87") +
                     ".",
                 "overflow");
  EXPECT_REFUSED(pickled_tensor(kTwo, kZero, tuple_of_two, ")") + ".",
                 "unequal size length (1) and stride length (0)");
  EXPECT_REFUSED(pickled_tensor(kOne, kZero, tuple_of_one, tuple_of_one) + ".",
                 "storage 0 has 8 bytes, but 1 elements");
  EXPECT_REFUSED(pickled_tensor(kMinusOne, kZero, tuple_of_one, tuple_of_one) + ".",
                 "has 8 bytes, but -1 elements");
  EXPECT_REFUSED(pickled_tensor(kTwo, kZero, tuple_of_two, tuple_of_one, "1") + ".",
                 "it has no record 'data/1'");
  EXPECT_REFUSED(pickled_tensor(kTwo, kZero, tuple_of_two, tuple_of_one, "0", "QInt8Storage") + ".",
                 "refuses to call `torch.QInt8Storage`");
  EXPECT_REFUSED(pickled_tensor(kTwo, kZero, tuple_of_two, tuple_of_one) +
                     pickled_tensor(kTwo, kZero, tuple_of_two, tuple_of_one, "0", "IntStorage") +
                     "\x86.",
                 "storage 0 has two dtypes");
  std::string many = "(";
  for (int i = 0; i < 17; ++i) many += kOne;
  EXPECT_REFUSED(pickled_tensor(kTwo, kZero, many + "t", many + "t") + ".",
                 "more than 16 dimensions");
}

/// An expanded tensor may be of any size as a view, but is not copied.
TEST(BadPt, RefusesToCopyExpandedTensorsOfHugeSizes) {
  const std::string pickle = pickled_tensor(kTwo, kZero, kLarge + "\x85", kZero + "\x85") + ".";
  const std::vector<char> bytes = archive(pickle);
  EXPECT_EQ(pickle_load(bytes).toTensor().numel(), 0x7fffffff);
  Tensor loaded;
  EXPECT_ERROR(load(loaded, bytes.data(), bytes.size()), "far more elements than its file");
}

/// A lazy negative or conjugate is a copy, which must not be made of an expanded view.
TEST(BadPt, RefusesLazyChangesOfHugeTensors) {
  for (const std::string name : {"neg", "conj"}) {
    const std::string changes = "}" + short_string(name) + "\x88s";
    const auto changed = [&](const std::string& size, const std::string& stride) {
      return pickled_tensor(kTwo, kZero, size + "\x85", stride + "\x85", "0", "FloatStorage",
                            changes) +
             ".";
    };
    EXPECT_EQ(pickle_error(changed(kTwo, kOne)), "no error");
    EXPECT_REFUSED(changed(kLarge, kZero), "arguments that Hearth does not understand");
    EXPECT_REFUSED(changed("K\3", kZero), "arguments that Hearth does not understand");
    EXPECT_REFUSED(
        pickled_tensor("K\x08", kZero, kTwo + "\x85", kOne + "\x85", "0", "BoolStorage", changes) +
            ".",
        "arguments that Hearth does not understand");
  }
  for (const std::string& changes :
       {"}" + short_string("neg") + "K\1s", "}" + short_string("abs") + "\x88s",
        std::string("}K\1\x88s"), std::string("]K\1a"), std::string("K\1")})
    EXPECT_REFUSED(
        pickled_tensor(kTwo, kZero, kTwo + "\x85", kOne + "\x85", "0", "FloatStorage", changes) +
            ".",
        "arguments that Hearth does not understand");
}

TEST(BadPt, RefusesBadSetsBytesAndComplexNumbers) {
  const std::string set = "c__builtin__\nset\n", encode = "c_codecs\nencode\n",
                    complex_number = "c__builtin__\ncomplex\n", latin = short_string("latin1");
  EXPECT_EQ(pickle_error(set + "]\x85R."), "no error");
  const std::string not_understood = "arguments that Hearth does not understand";
  for (const std::string& call :
       {set + ")R.", set + "N\x85R.", set + "}\x85R.", encode + ")R.",
        std::string("c__builtin__\nbytearray\nN\x85R."), encode + "N" + latin + "\x86R.",
        encode + short_string("a") + "\x85R.", encode + short_string("a") + "N\x86R.",
        encode + short_string("a") + short_string("utf-7") + "\x86R.",
        encode + short_string("\xc3") + latin + "\x86R.",          // a part of a character
        encode + short_string("\xe2\x82\xac") + latin + "\x86R.",  // the character 0x20ac
        encode + short_string("\xc4\x80") + latin + "\x86R.",      // the character 0x100
        encode + short_string("\xc1\x81") + latin + "\x86R.",      // "A" in two bytes
        encode + short_string("\xff") + latin + "\x86R.", complex_number + ")R.",
        complex_number + "K\1K\1\x86R."})
    EXPECT_REFUSED(call, not_understood);
  EXPECT_REFUSED("c__builtin__\nfrozenset\n.", "refuses to call `__builtin__.frozenset`");
  EXPECT_REFUSED("c_codecs\ndecode\n.", "refuses to call `_codecs.decode`");
  EXPECT_REFUSED("]q\1" + set + "h\1\x85Ra.", "contains itself");
  std::string nested = "]";
  for (int i = 0; i < 300; ++i) nested = set + "]" + nested + "a\x85R";
  EXPECT_REFUSED(nested + ".", "nested too deeply");
}

TEST(BadPt, NamesDtypesThatHearthDoesNotHave) {
  EXPECT_ERROR(load_pt(testing::pt_file("complex32.pt")),
               "it names the dtype `torch.complex32`, which Hearth does not have");
  EXPECT_REFUSED("ctorch._utils\n_rebuild_tensor_v3\n)R.",
                 "has arguments that Hearth does not understand");
  EXPECT_REFUSED("ctorch\nfloat_power\n.", "refuses to call `torch.float_power`");
}

/// PyTorch returns uint16 numbers with swapped bytes.
TEST(BadPt, RefusesBigEndianBytesThatAreWiderNumbersToo) {
  EXPECT_ERROR(load_pt(testing::pt_file("big_endian_uint8_uint16.pt")),
               "a big-endian storage has two dtypes, Byte and UInt16");
  EXPECT_ERROR(load_pt(testing::pt_file("big_endian_uint16_uint8.pt")),
               "a big-endian storage has two dtypes, UInt16 and Byte");
}

/// PyTorch refuses the same files with these texts.
TEST(BadPt, ChecksVersionAndByteOrder) {
  EXPECT_ERROR(load_pt(testing::pt_file("unknown_order.pt")), "Unknown endianness type: BIG");
  EXPECT_ERROR(load_pt(testing::pt_file("new_version.pt")),
               "Attempted to read a PyTorch file with version 11, but the maximum supported "
               "version for reading is 10");
  const auto error = [](const std::string& version) {
    return error_of([&] { pickle_load(archive("N.", version)); });
  };
  for (const char* version : {"1", "3\n", "10\n", "3x"}) EXPECT_EQ(error(version), "no error");
  EXPECT_ERROR(pickle_load(archive("N.", "3", "other")),
               "Expected hasRecord(\"version\") to be true, but got false.");
  EXPECT_ERROR(pickle_load(archive("N.", "11", ".data/version")), "with version 11");
  EXPECT_TRUE(pickle_load(archive("N.", "3", ".data/version")).isNone());
  EXPECT_NE(error("0\n").find("but the minimum supported version for reading is 1."),
            std::string::npos);
  for (const char* version : {"", "x", "-1", "99999999999999999999"})
    EXPECT_NE(error(version).find(detail::str("Couldn't parse the version ", version)),
              std::string::npos)
        << error(version);
}

TEST(BadPt, RefusesFilesOfOtherFormats) {
  EXPECT_ERROR(load_pt(testing::pt_file("old.pt")), "format before PyTorch 1.6");
  EXPECT_ERROR(load_pt(testing::pt_file("arrays.npz")), "this zip archive has no data.pkl");
  EXPECT_ERROR(load_pt(testing::pt_file("f32.npy")), "the file is truncated or no zip");
  Tensor tensor;
  EXPECT_ERROR(load(tensor, testing::pt_file("old.pt")), "format before PyTorch 1.6");
}

/// Reads a damaged file. Any failure must be an Error.
void read_damaged(const std::string& bytes) {
  try {
    for (const auto& [name, value] : named_values(pickle_load({bytes.begin(), bytes.end()})))
      if (value.isTensor() && value.toTensor().numel() < 100) value.toTensor().sum();
  } catch (const Error&) {
  }
}

TEST(BadPt, NoticesTruncationAtEveryByte) {
  for (const char* name : {"shared.pt", "deflated.pt", "libtorch_pickle.pt"}) {
    const std::string bytes = testing::bytes_of(testing::pt_file(name));
    for (size_t size = 0; size < bytes.size(); ++size)
      ASSERT_NE(error_of([&] {
                  pickle_load({bytes.begin(), bytes.begin() + ptrdiff_t(size)});
                }),
                "no error")
          << name << " cut to " << size << " bytes";
  }
}

TEST(BadPt, SurvivesFlippedBits) {
  for (const char* name : {"shared.pt", "deflated.pt", "libtorch_pickle.pt"}) {
    const std::string bytes = testing::bytes_of(testing::pt_file(name));
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string damaged = bytes;
      damaged[i] ^= static_cast<char>(1 << i % 8);
      read_damaged(damaged);
    }
  }
}

TEST(BadPt, NoticesFlippedBitsInTensors) {
  std::string bytes = testing::bytes_of(testing::pt_file("tensor.pt"));
  const size_t offset = bytes.find(std::string("\0\0\x80\x3f", 4));  // 1.0F
  bytes[offset] ^= 1;
  EXPECT_ERROR(pickle_load({bytes.begin(), bytes.end()}),
               "'tensor/data/0' is damaged: its bytes have the checksum");
}

TEST(BadPt, RefusesBadArchives) {
  const std::vector<char> good = archive("N.");
  std::string bytes(good.begin(), good.end());
  const auto error = [&](size_t offset, const std::string& replacement) {
    std::string changed = bytes;
    changed.replace(offset, replacement.size(), replacement);
    return error_of([&] { pickle_load({changed.begin(), changed.end()}); });
  };
  // The end record, which has 22 bytes, and the first entry of the central directory.
  const size_t end = bytes.size() - 22, central = bytes.find("PK\1\2");
  EXPECT_EQ(error(0, ""), "no error");
  EXPECT_NE(error(end + 10, "\xff").find("is not in the file"), std::string::npos);
  EXPECT_NE(error(end + 16, "\xff\xff").find("is not in the file"), std::string::npos);
  EXPECT_NE(error(central + 10, "\x0c").find("another method than deflate"), std::string::npos);
  EXPECT_NE(error(central + 8, "\1").find("encrypted"), std::string::npos);
  EXPECT_NE(error(central + 24, "\x10").find("which cannot hold 16"), std::string::npos);
  EXPECT_NE(error(central + 46, "b").find("has another name"), std::string::npos);
  EXPECT_NE(error(central + 16, "\x77").find("is damaged"), std::string::npos);
  // Both entries point to the offset of the first.
  const size_t second = bytes.find("PK\1\2", central + 1);
  std::string twice = bytes;
  twice.replace(second + 42, 4, std::string(4, '\0'));
  EXPECT_ERROR(pickle_load({twice.begin(), twice.end()}), "has another name");
}

TEST(BadPt, ToPythonRefusesInvalidStateDicts) {
  optim::StateDict dict;
  EXPECT_ERROR(to_python(dict), "expected the state dict of an optimizer");
  dict.insert("param_groups.0.lr", 0.5);
  dict.insert("state.x.step", 1);
  EXPECT_ERROR(to_python(dict), "expected the number of a parameter under 'state', but got 'x'");
}

TEST(BadPt, SaveRefusesInvalidValues) {
  const testing::TempFolder folder;
  const std::string path = folder.path("x.pt");
  EXPECT_ERROR(save_pt(IValue("\xff"), path), "it is not valid UTF-8");
  EXPECT_ERROR(save_pt(IValue(ones({2}, kMeta)), path), "on the meta device");
  EXPECT_ERROR(save_pt(NamedTensors{{"a", ones({1})}, {"a", ones({1})}}, path),
               "under the name 'a'");
  const GenericDict dict;
  dict.insert("self", dict);
  EXPECT_ERROR(save_pt(dict, path), "or contain themselves");
  dict.erase("self");  // else it would never be freed
  EXPECT_EQ(folder.count(), 0U);
}

}  // namespace
}  // namespace hearth::io
