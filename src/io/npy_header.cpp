#include "io/npy_header.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "io/little_endian.h"

namespace hearth::io {

namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr uint64_t kNpyAlignment = 64;

/// NumPy's name of a dtype, without the byte order.
struct NpyDtype {
  std::string_view name;
  ScalarType type;
};
constexpr NpyDtype kNpyDtypes[] = {
    {"u1", kByte},
    {"u2", kUInt16},
    {"u4", kUInt32},
    {"u8", kUInt64},
    {"i1", kChar},
    {"i2", kShort},
    {"i4", kInt},
    {"i8", kLong},
    {"f2", kHalf},
    {"f4", kFloat},
    {"f8", kDouble},
    {"c8", kComplexFloat},
    {"c16", kComplexDouble},
    {"b1", kBool},
    // Other names, which NumPy reads but does not write. Those of C's types, such as "short", are
    // missing.
    {"B", kByte},
    {"H", kUInt16},
    {"I", kUInt32},
    {"L", kUInt64},
    {"Q", kUInt64},
    {"P", kUInt64},
    {"N", kUInt64},
    {"b", kChar},
    {"h", kShort},
    {"i", kInt},
    {"l", kLong},
    {"q", kLong},
    {"p", kLong},
    {"n", kLong},
    {"e", kHalf},
    {"f", kFloat},
    {"d", kDouble},
    {"F", kComplexFloat},
    {"D", kComplexDouble},
    {"?", kBool},
    {"uint8", kByte},
    {"uint16", kUInt16},
    {"uint32", kUInt32},
    {"uint64", kUInt64},
    {"uintp", kUInt64},
    {"int8", kChar},
    {"int16", kShort},
    {"int32", kInt},
    {"int64", kLong},
    {"intp", kLong},
    {"float16", kHalf},
    {"half", kHalf},
    {"float32", kFloat},
    {"single", kFloat},
    {"float64", kDouble},
    {"double", kDouble},
    {"complex64", kComplexFloat},
    {"complex128", kComplexDouble},
    {"bool", kBool},
};
constexpr size_t kMaxCodeLength = 3;  // longer names have no byte order

/// Reads the header's text, a Python dict of three entries.
class Parser {
 public:
  Parser(const Bytes& bytes, uint64_t begin, uint64_t end)
      : bytes_(bytes), begin_(begin), text_(bytes.text(begin, end)) {}

  NpyHeader parse() {
    expect('{');
    while (!skip('}')) {
      const std::string_view key = quoted();
      if (!keys_.insert(key).second) fail("'", key, "' occurs twice");
      expect(':');
      if (key == "descr")
        read_dtype();
      else if (key == "fortran_order")
        header_.is_fortran = boolean();
      else if (key == "shape")
        read_sizes();
      else
        fail("unknown key '", key, "'");
      if (!skip(',')) {
        expect('}');
        break;
      }
    }
    if (keys_.size() != 3) fail("expected descr, fortran_order and shape");
    skip_spaces();
    if (position_ < text_.size()) fail("expected the end of the header");
    return header_;
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    bad_bytes(bytes_.name(), begin_ + position_, parts...);
  }
  void skip_spaces() {
    while (position_ < text_.size() &&
           std::string_view(" \n\t").find(text_[position_]) != std::string_view::npos)
      ++position_;
  }
  bool skip(char character) {
    skip_spaces();
    if (position_ == text_.size() || text_[position_] != character) return false;
    ++position_;
    return true;
  }
  void expect(char character) {
    if (!skip(character)) fail("expected '", character, "' in the header");
  }
  std::string_view quoted() {
    const char quote = skip('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const size_t end = std::min(text_.find(quote, position_), text_.size());
    const std::string_view word = text_.substr(position_, end - position_);
    position_ = end;
    expect(quote);
    return word;
  }
  bool boolean() {
    skip_spaces();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(position_).starts_with(word)) {
        position_ += word.size();
        return word == "True";
      }
    fail("expected True or False");
  }
  void read_dtype() {
    if (skip('[')) fail("the array has records, which tensors cannot hold");
    const std::string_view name = quoted();
    const bool has_order = name.find_first_of("<>=|") == 0;
    const std::string_view dtype_name = name.substr(has_order ? 1 : 0);
    if (dtype_name.starts_with('O'))
      fail("the array has Python objects, which Hearth does not build");
    const auto* found =
        std::find_if(std::begin(kNpyDtypes), std::end(kNpyDtypes),
                     [&](const NpyDtype& dtype) { return dtype.name == dtype_name; });
    if (found == std::end(kNpyDtypes) || (has_order && dtype_name.size() > kMaxCodeLength))
      fail("the array has the dtype '", name, "', which Hearth does not have");
    header_.type = found->type;
    header_.is_big_endian = name.starts_with('>');
  }
  void read_sizes() {
    expect('(');
    while (!skip(')')) {
      int64_t size = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + position_, text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) fail("expected a size");
      position_ = static_cast<size_t>(end - text_.data());
      skip('L');  // of a long integer in Python 2
      header_.sizes.push_back(size);
      if (header_.sizes.size() > size_t(kMaxDims)) fail("more than ", kMaxDims, " dimensions");
      if (skip(',')) {
        skip_spaces();
        continue;
      }
      expect(')');
      return;
    }
  }

  const Bytes& bytes_;
  uint64_t begin_;
  std::string_view text_;
  size_t position_ = 0;
  std::set<std::string_view> keys_;
  NpyHeader header_;
};

/// Throws unless the elements fill the data exactly.
void check_length(const Bytes& bytes, const NpyHeader& header, uint64_t end) {
  uint64_t nbytes = element_size(header.type);
  bool overflows = false, has_zero = false;
  for (const int64_t size : header.sizes) {
    has_zero |= size == 0;
    overflows |= __builtin_mul_overflow(nbytes, uint64_t(std::max<int64_t>(size, 1)), &nbytes);
  }
  overflows |= nbytes > uint64_t{INT64_MAX};
  if (has_zero) nbytes = 0;
  if (overflows || nbytes != end - header.data_begin)
    bad_bytes(bytes.name(), header.data_begin, "expected ", header.type, " elements of sizes ",
              IntArrayRef(header.sizes), ", but there are ", end - header.data_begin, " bytes");
}

}  // namespace

bool is_npy(const Bytes& bytes, uint64_t begin, uint64_t end) {
  return end - begin >= kNpyMagic.size() &&
         bytes.text(begin, begin + kNpyMagic.size()) == kNpyMagic;
}

NpyHeader read_npy_header(const Bytes& bytes, uint64_t begin, uint64_t end) {
  const uint64_t version = begin + kNpyMagic.size();
  constexpr uint64_t kVersionAndLengthBytes = 6;  // at most
  if (!is_npy(bytes, begin, end) || end - version < kVersionAndLengthBytes)
    bad_bytes(bytes.name(), begin, "expected a .npy file");
  const int major = number_at<uint8_t>(bytes, version);
  if (major < 1 || major > 3)
    bad_bytes(bytes.name(), version, "unknown version ", major, " of .npy files");
  const uint64_t length = major == 1 ? number_at<uint16_t>(bytes, version + 2)
                                     : number_at<uint32_t>(bytes, version + 2);
  const uint64_t text_begin = version + (major == 1 ? 4 : 6);
  if (text_begin > end || length > end - text_begin)
    bad_bytes(bytes.name(), version, "expected a header of ", length, " bytes, but the file ends");
  NpyHeader header = Parser(bytes, text_begin, text_begin + length).parse();
  header.data_begin = text_begin + length;
  check_length(bytes, header, end);
  return header;
}

std::string npy_header(const Tensor& tensor) {
  const auto* found =
      std::find_if(std::begin(kNpyDtypes), std::end(kNpyDtypes),
                   [&](const NpyDtype& dtype) { return dtype.type == tensor.scalar_type(); });
  HEARTH_CHECK(found != std::end(kNpyDtypes), "cannot save a tensor of ", tensor.scalar_type(),
               " for NumPy, which does not have this dtype; convert it to float32");
  std::string dict = detail::str("{'descr': '", tensor.itemsize() == 1 ? '|' : '<', found->name,
                                 "', 'fortran_order': False, 'shape': (");
  for (const int64_t size : tensor.sizes()) dict += detail::str(size, ", ");
  if (tensor.dim() > 1) dict.resize(dict.size() - 2);
  dict += "), }";
  const uint64_t prefix_bytes = kNpyMagic.size() + 4;  // magic, version and length
  dict.append(kNpyAlignment - (prefix_bytes + dict.size() + 1) % kNpyAlignment, ' ');
  std::string header(kNpyMagic);
  header += '\1';
  header += '\0';
  append_number(header, static_cast<uint16_t>(dict.size() + 1));
  return header + dict + "\n";
}

}  // namespace hearth::io
