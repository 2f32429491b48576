// Invalid metadata in archives.
#include <gtest/gtest.h>

#include "hearth/io/archive.h"
#include "hearth/io/safetensors.h"
#include "tests/support/files.h"

namespace hearth::serialize {
namespace {

/// The error of reading the tensor "t" from an archive with this metadata.
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

std::string with_value(const std::string& json) {
  return R"({"version":1,"values":{"a":)" + json + "}}";
}

TEST(BadArchive, RejectsInvalidNestedValues) {
  for (const char* good :
       {R"({"dict":["k",{"tuple":[{"tensor":null},{"device":"cuda:1"}]},1,null,true,1,0.5,2]})",
        R"({"list":[{"list":[]},{"ints":[]},{"doubles":["nan"]},{"tensors":[null]}]})",
        R"({"list":[{"bools":[true]},{"complex":[1,"nan"]},{"complexes":[1,2,3,4]}]})"})
    EXPECT_EQ(archive_error(with_value(good)), "no error");
  for (const char* bad : {R"({"set":[]})",
                          R"({"tuple":{}})",
                          R"({"tuple":[1],"list":[]})",
                          R"({"list":[[1]]})",
                          R"({"list":[{"list":1}]})",
                          R"({"dict":[1]})",
                          R"({"dict":["k",2,"k",3]})",
                          R"({"dict":[{"double":"nan"},1]})",
                          R"({"dict":[{"tuple":[]},1]})",
                          R"({"dict":[null,1]})",
                          R"({"dict":[{"tensor":"t"},1]})",
                          R"({"device":1})",
                          R"({"tuple":[{"device":"moon"}]})",
                          R"({"tensor":"t"})",
                          R"({"tuple":[{"tensor":1}]})",
                          R"({"tuple":[{"tensor":""}]})",
                          R"({"tensors":["t",1]})",
                          R"({"bools":[1]})",
                          R"({"complex":[1]})",
                          R"({"complex":[1,2,3,4]})",
                          R"({"complex":1})",
                          R"({"complexes":[1,2,3]})",
                          R"({"complexes":[1,"x"]})"})
    EXPECT_BAD(with_value(bad), "expected a value for 'a' in its metadata");
  EXPECT_BAD(with_value(R"({"tuple":[{"tensor":"u"}]})"),
             "expected a tensor 'u' that belongs only to 'a'");
  EXPECT_BAD(with_value(R"({"tuple":[{"tensor":"t"},{"tensor":"t"}]})"),
             "expected a tensor 't' that belongs only to 'a'");
  EXPECT_BAD(R"({"version":1,"values":{"a":{"tensors":["t"]},"b":{"tensors":["t"]}}})",
             "expected a tensor 't' that belongs only to 'b'");
  EXPECT_BAD(R"({"version":1,"values":{"a":1,"b":{"tensors":["a"]}}})",
             "expected a tensor 'a' that belongs only to 'b'");
  // A tensor in a value is not a value of the archive.
  EXPECT_BAD(with_value(R"({"tuple":[{"tensor":"t"}]})"), "No such serialized tensor 't'");
  std::string deep = "1";
  for (int i = 0; i < 258; ++i) deep = R"({"tuple":[)" + deep + "]}";
  EXPECT_BAD(with_value(deep), "nested too deeply");
}

}  // namespace
}  // namespace hearth::serialize
