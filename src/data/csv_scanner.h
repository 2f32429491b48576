#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "hearth/error.h"

namespace hearth::data {

/// How a file of separated values is divided into fields.
struct CsvFormat {
  char delimiter, quote;  // quote: 0 if there is none
  bool trim;              // whether blanks around fields are removed
};

/// Reads a text of separated values field by field.
class CsvScanner {
 public:
  /// `name` and `text` must outlive the scanner.
  CsvScanner(std::string_view text, const std::string& name, const CsvFormat& format);

  /// Skips empty lines and goes to the next record; false at the end.
  bool next_record();
  /// The record's next field, valid until the next call; false at the record's end.
  bool next_field(std::string_view& field);

  uint64_t line() const { return field_line_; }  ///< of the last field's beginning, from 1
  uint64_t column() const { return column_; }    ///< of the last field, from 1
  /// Throws "cannot read 'name': line 2, column 3: …".
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    hearth::detail::fail<Error>("cannot read '", *name_, "': line ", field_line_, ", column ",
                                column_, ": ", parts...);
  }

 private:
  bool is_blank(char character) const {
    return (character == ' ' || character == '\t') && character != format_.delimiter;
  }
  void skip_blanks();
  void skip_line_end();
  void skip_field_end();
  std::string_view plain_field();
  std::string_view quoted_field();
  void check_after_quote();
  void count_lines(std::string_view part);

  const char *position_, *end_;
  const std::string* name_;
  CsvFormat format_;
  std::array<bool, 256> ends_field_{};  // by byte
  std::string unescaped_;               // the last field, if it contained quotes
  uint64_t line_ = 1, field_line_ = 1, column_ = 0;
  bool has_more_fields_ = false;
};

/// A field for an error: short, and on one line.
std::string shown(std::string_view field);

}  // namespace hearth::data
