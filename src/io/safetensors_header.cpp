#include "io/safetensors_header.h"

#include <algorithm>

#include "io/little_endian.h"
#include "io/safetensors_json.h"
#include "io/zip_reader.h"

namespace hearth::io {

namespace {

constexpr size_t kLengthBytes = sizeof(uint64_t);
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // as in the reference implementation
constexpr size_t kSafetensorsAlignment = 64;

constexpr FileDtype kDtypes[] = {
    {"F64", kDouble, 64},
    {"F32", kFloat, 32},
    {"F16", kHalf, 16},
    {"BF16", kBFloat16, 16},
    {"I64", kLong, 64},
    {"I32", kInt, 32},
    {"I16", kShort, 16},
    {"I8", kChar, 8},
    {"U8", kByte, 8},
    {"BOOL", kBool, 8},
    {"C64", kComplexFloat, 64},
    {"U64", kUInt64, 64},
    {"U32", kUInt32, 32},
    {"U16", kUInt16, 16},
    {"F8_E5M2", kFloat8_e5m2, 8},
    {"F8_E4M3", kFloat8_e4m3fn, 8},
    {"F8_E5M2FNUZ", kFloat8_e5m2fnuz, 8},
    {"F8_E4M3FNUZ", kFloat8_e4m3fnuz, 8},
    {"F8_E8M0", kFloat8_e8m0fnu, 8},
    {"F6_E2M3", ScalarType::Undefined, 6},
    {"F6_E3M2", ScalarType::Undefined, 6},
    {"F4", ScalarType::Undefined, 4},
};

uint64_t header_length(const Bytes& bytes) {
  const std::string& name = bytes.name();
  if (bytes.size() < kLengthBytes)
    bad_bytes(name, bytes.size(), "expected the 8 bytes of the header's length, but the file ends");
  if (ZipReader::recognizes(bytes))
    bad_bytes(name, 0,
              "expected a safetensors file, but this is a zip archive, perhaps written by "
              "torch.save; hearth::io::load_pt and torch::load read such files");
  refuse_old_pickle(bytes);
  const auto length = number_at<uint64_t>(bytes, 0);
  const uint64_t num_remaining = bytes.size() - kLengthBytes;
  if (length > kMaxHeaderBytes || length > num_remaining)
    bad_bytes(name, 0, "expected the header's length, at most ",
              std::min(num_remaining, kMaxHeaderBytes), " bytes here, but got ", length,
              ": the file is damaged or not a safetensors file");
  if (length < 2 || bytes.text(kLengthBytes, kLengthBytes + 1) != "{")
    bad_bytes(name, kLengthBytes, "expected the header, which begins with '{'");
  return length;
}

uint64_t num_elements(const std::string& file, const TensorEntry& entry) {
  // Even if a size is 0, the product of the others, in bits (at most 64 each), must not overflow.
  uint64_t product = 1, nonzero_product = 1;
  for (const int64_t size : entry.sizes) {
    product *= static_cast<uint64_t>(size);
    if (__builtin_mul_overflow(nonzero_product, uint64_t(std::max<int64_t>(size, 1)),
                               &nonzero_product) ||
        nonzero_product > uint64_t{INT64_MAX} / 64)
      bad_bytes(file, kLengthBytes, "the sizes of tensor '", entry.name, "', ",
                IntArrayRef(entry.sizes), ", are too large");
  }
  return product;
}

/// Throws unless the tensors cover the data without gaps or overlaps.
void check_offsets(const Bytes& bytes, const SafetensorsHeader& header) {
  const uint64_t data_bytes = bytes.size() - header.data_begin;
  std::vector<const TensorEntry*> sorted;
  for (const TensorEntry& entry : header.tensors) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const TensorEntry* a, const TensorEntry* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end < b->end;
  });
  uint64_t expected = 0;
  for (const TensorEntry* entry : sorted) {
    const uint64_t bits = num_elements(bytes.name(), *entry) * entry->dtype->bits;
    if (entry->begin != expected)
      bad_bytes(bytes.name(), header.data_begin + expected, "expected tensor '", entry->name,
                "' to begin here, but its offset is ", entry->begin, ", not ", expected);
    if (entry->end < entry->begin || entry->end - entry->begin != (bits + 7) / 8 || bits % 8 != 0)
      bad_bytes(bytes.name(), header.data_begin + entry->begin, "expected ", (bits + 7) / 8,
                " bytes for tensor '", entry->name, "', ", entry->dtype->name, " of sizes ",
                IntArrayRef(entry->sizes), ", but its offsets are ", entry->begin, " and ",
                entry->end);
    expected = entry->end;
  }
  if (expected != data_bytes)
    bad_bytes(bytes.name(), bytes.size(), "expected ", expected,
              " bytes of tensors after the header, but the file has ", data_bytes);
}

}  // namespace

const FileDtype* file_dtype(std::string_view name) {
  const auto* found = std::find_if(std::begin(kDtypes), std::end(kDtypes),
                                   [&](const FileDtype& dtype) { return dtype.name == name; });
  return found == std::end(kDtypes) ? nullptr : found;
}

const FileDtype* file_dtype(ScalarType type) {
  if (type == ScalarType::Undefined) return nullptr;
  const auto* found = std::find_if(std::begin(kDtypes), std::end(kDtypes),
                                   [&](const FileDtype& dtype) { return dtype.type == type; });
  return found == std::end(kDtypes) ? nullptr : found;
}

SafetensorsHeader read_header(const Bytes& bytes) {
  const uint64_t length = header_length(bytes);
  SafetensorsHeader header = parse_header_json(bytes, kLengthBytes, kLengthBytes + length);
  header.data_begin = kLengthBytes + length;
  check_offsets(bytes, header);
  return header;
}

std::string header_text(const SafetensorsHeader& header) {
  std::string json = header_json(header);
  const size_t unpadded = kLengthBytes + json.size();
  json.append((kSafetensorsAlignment - unpadded % kSafetensorsAlignment) % kSafetensorsAlignment,
              ' ');
  const uint64_t length = json.size();
  HEARTH_CHECK(length <= kMaxHeaderBytes, "cannot save ", header.tensors.size(), " tensors and ",
               header.metadata.size(), " metadata entries: the header would have ", length,
               " bytes, but readers accept at most ", kMaxHeaderBytes);
  std::string text;
  append_number(text, length);
  return text + json;
}

}  // namespace hearth::io
