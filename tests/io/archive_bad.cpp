// Invalid metadata in archives.
#include <gtest/gtest.h>

#include "hearth/io/archive.h"
#include "hearth/io/safetensors.h"
#include "tests/support/files.h"

namespace hearth::serialize {
namespace {

std::string archive_error(const std::string& json) {
  std::string bytes;
  io::save_safetensors(
      {{"t", ones({1}, kLong)}},
      [&](const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); },
      {{"hearth", json}});
  return testing::error_of([&] {
    InputArchive archive;
    archive.load_from(bytes.data(), bytes.size());
    Tensor t;
    archive.read("t", t);
  });
}

#define EXPECT_BAD(json, text)                                              \
  do {                                                                      \
    const std::string message = archive_error(json);                        \
    EXPECT_NE(message.find(text), std::string::npos) << "got: " << message; \
  } while (false)

TEST(BadArchive, RejectsInvalidMetadata) {
  EXPECT_EQ(archive_error(R"({"version":1})"), "no error");
  EXPECT_EQ(archive_error(R"({"version":1,"values":{"a":1,"b":{"ints":[1]}},"later":[]})"),
            "no error");
  EXPECT_BAD("", "not valid JSON");
  EXPECT_BAD("{", "not valid JSON");
  EXPECT_BAD("[]", "expected an object with a version");
  EXPECT_BAD(R"({"version":2})", "expected version 1");
  EXPECT_BAD(R"({"version":1,"values":[]})", "an object under 'values'");
  EXPECT_BAD(std::string(1 << 20, '['), "nested too deeply");
  EXPECT_BAD(R"({"version":1,"values":{"a":[1]}})", "a value for 'a'");
  EXPECT_BAD(R"({"version":1,"values":{"a":{"ints":[1.5]}}})", "a value for 'a'");
  EXPECT_BAD(R"({"version":1,"values":{"a":{"doubles":["x"]}}})", "a value for 'a'");
  EXPECT_BAD(R"({"version":1,"values":{"a":{"double":"x"}}})", "a value for 'a'");
  EXPECT_BAD(R"({"version":1,"values":{"t":1}})", "'t' only once");
  EXPECT_BAD(R"({"version":1,"subtrees":{"t":{}}})", "'t' only once");
  EXPECT_BAD(R"({"version":1,"tensors":{"u":{}}})", "no entry for the missing tensor 'u'");
  EXPECT_BAD(R"({"version":1,"tensors":{"t":1}})", "an object for 't'");
  EXPECT_BAD(R"({"version":1,"tensors":{"t":{"device":1}}})", "the properties of 't'");
  EXPECT_BAD(R"({"version":1,"tensors":{"t":{"strides":1}}})", "a list of strides for 't'");
  EXPECT_BAD(R"({"version":1,"tensors":{"t":{"strides":[1,1,1,1]}}})", "expected strides that fit");
  EXPECT_BAD(R"({"version":1,"tensors":{"t":{"strides":[-1]}}})", "expected strides that fit");
  EXPECT_BAD(R"({"version":1,"values":{"a":18446744073709551615}})", "a value for 'a'");
  EXPECT_BAD(R"({"version":1,"values":{"a":{"ints":[9223372036854775808]}}})", "a value for 'a'");
  EXPECT_BAD(R"({"version":1,"tensors":{"t":{"device":"moon"}}})", "moon");
  EXPECT_BAD(R"({"version":1,"tensors":{"t":{"device":"moon"}}})",
             "cannot read 'the buffer': the device of 't': ");
  EXPECT_BAD(R"({"version":1,"tensors":{"t":{"requires_grad":true}}})",
             "while reading 't' from 'the buffer'");
  EXPECT_BAD(R"({"version":1,"tensors":{"t":{"requires_grad":true}}})",
             "Only Tensors of floating point and complex dtype can require gradients");
}

}  // namespace
}  // namespace hearth::serialize
