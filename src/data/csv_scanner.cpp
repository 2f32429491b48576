#include "data/csv_scanner.h"

#include <cstring>

namespace hearth::data {

CsvScanner::CsvScanner(std::string_view text, const std::string& name, const CsvFormat& format)
    : position_(text.data()), end_(text.data() + text.size()), name_(&name), format_(format) {
  if (text.starts_with("\xef\xbb\xbf")) position_ += 3;  // the byte order mark of UTF-8
  for (const char character : {format.delimiter, '\n', '\r'})
    ends_field_[uint8_t(character)] = true;
}

void CsvScanner::skip_line_end() {
  if (*position_ == '\r' && end_ - position_ > 1 && position_[1] == '\n') ++position_;
  ++position_;
  ++line_;
}

bool CsvScanner::next_record() {
  while (position_ < end_ && (*position_ == '\n' || *position_ == '\r')) skip_line_end();
  column_ = 0;
  field_line_ = line_;
  return has_more_fields_ = position_ < end_;
}

void CsvScanner::skip_blanks() {
  while (position_ < end_ && is_blank(*position_)) ++position_;
}

bool CsvScanner::next_field(std::string_view& field) {
  if (!has_more_fields_) return false;
  ++column_;
  field_line_ = line_;
  if (format_.trim) skip_blanks();
  field = format_.quote != '\0' && position_ < end_ && *position_ == format_.quote ? quoted_field()
                                                                                   : plain_field();
  skip_field_end();
  return true;
}

void CsvScanner::skip_field_end() {
  has_more_fields_ = position_ < end_ && *position_ == format_.delimiter;
  if (has_more_fields_)
    ++position_;
  else if (position_ < end_)
    skip_line_end();
}

std::string_view CsvScanner::plain_field() {
  const char* const begin = position_;
  while (position_ < end_ && !ends_field_[uint8_t(*position_)]) ++position_;
  const char* end = position_;
  while (format_.trim && end > begin && is_blank(end[-1])) --end;
  return {begin, size_t(end - begin)};
}

std::string_view CsvScanner::quoted_field() {
  unescaped_.clear();
  for (const char* begin = ++position_;; begin = position_) {
    const void* found = std::memchr(position_, format_.quote, size_t(end_ - position_));
    if (!found) fail("the quote that begins here has no end");
    const char* const end = static_cast<const char*>(found);
    position_ = end + 1;
    const bool is_doubled = position_ < end_ && *position_ == format_.quote;
    const std::string_view part(begin, size_t(end - begin) + is_doubled);
    count_lines(part);
    if (!is_doubled && unescaped_.empty()) {
      check_after_quote();
      return part;
    }
    unescaped_ += part;
    if (!is_doubled) break;
    ++position_;
  }
  check_after_quote();
  return unescaped_;
}

void CsvScanner::check_after_quote() {
  if (format_.trim) skip_blanks();
  if (position_ < end_ && !ends_field_[uint8_t(*position_)])
    fail("expected '", format_.delimiter,
         "' or the end of the line after the closing quote, but got '", shown({position_, 1}),
         "' (a quote inside a quoted field is written twice)");
}

void CsvScanner::count_lines(std::string_view part) {
  for (size_t i = 0; i < part.size(); ++i)
    line_ += part[i] == '\n' || (part[i] == '\r' && part.substr(i + 1, 1) != "\n");
}

std::string shown(std::string_view field) {
  constexpr size_t kMaxLength = 40;
  std::string text(field.substr(0, kMaxLength));
  for (char& character : text)
    if (uint8_t(character) < ' ') character = ' ';
  return field.size() > kMaxLength ? text + "…" : text;
}

}  // namespace hearth::data
