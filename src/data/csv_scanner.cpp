#include "data/csv_scanner.h"

#include <cstring>

namespace hearth::data {

CsvScanner::CsvScanner(std::string_view text, const std::string& name, const CsvFormat& format)
    : at_(text.data()), end_(text.data() + text.size()), name_(&name), format_(format) {
  if (text.starts_with("\xef\xbb\xbf")) at_ += 3;  // the byte order mark of UTF-8
  for (const char letter : {format.delimiter, '\n', '\r'}) ends_field_[uint8_t(letter)] = true;
}

void CsvScanner::end_of_line() {
  if (*at_ == '\r' && end_ - at_ > 1 && at_[1] == '\n') ++at_;
  ++at_;
  ++line_;
}

bool CsvScanner::next_record() {
  while (at_ < end_ && (*at_ == '\n' || *at_ == '\r')) end_of_line();
  column_ = 0;
  field_line_ = line_;
  return more_ = at_ < end_;
}

void CsvScanner::skip_blanks() {
  while (at_ < end_ && is_blank(*at_)) ++at_;
}

bool CsvScanner::next_field(std::string_view& field) {
  if (!more_) return false;
  ++column_;
  field_line_ = line_;
  if (format_.trim) skip_blanks();
  field = format_.quote != '\0' && at_ < end_ && *at_ == format_.quote ? quoted() : plain();
  end_of_field();
  return true;
}

void CsvScanner::end_of_field() {
  more_ = at_ < end_ && *at_ == format_.delimiter;
  if (more_)
    ++at_;
  else if (at_ < end_)
    end_of_line();
}

std::string_view CsvScanner::plain() {
  const char* const begin = at_;
  while (at_ < end_ && !ends_field_[uint8_t(*at_)]) ++at_;
  const char* last = at_;
  while (format_.trim && last > begin && is_blank(last[-1])) --last;
  return {begin, size_t(last - begin)};
}

std::string_view CsvScanner::quoted() {
  unescaped_.clear();
  for (const char* begin = ++at_;; begin = at_) {
    const void* found = std::memchr(at_, format_.quote, size_t(end_ - at_));
    if (!found) fail("the quote that begins here has no end");
    const char* const last = static_cast<const char*>(found);
    at_ = last + 1;
    const bool doubled = at_ < end_ && *at_ == format_.quote;
    const std::string_view part(begin, size_t(last - begin) + doubled);
    count_lines(part);
    if (!doubled && unescaped_.empty()) {
      check_after_quote();
      return part;
    }
    unescaped_ += part;
    if (!doubled) break;
    ++at_;
  }
  check_after_quote();
  return unescaped_;
}

void CsvScanner::check_after_quote() {
  if (format_.trim) skip_blanks();
  if (at_ < end_ && !ends_field_[uint8_t(*at_)])
    fail("expected '", format_.delimiter,
         "' or the end of the line after the closing quote, but got '", shown({at_, 1}),
         "' (a quote inside a quoted field is written twice)");
}

void CsvScanner::count_lines(std::string_view part) {
  for (size_t i = 0; i < part.size(); ++i)
    line_ += part[i] == '\n' || (part[i] == '\r' && part.substr(i + 1, 1) != "\n");
}

std::string shown(std::string_view field) {
  constexpr size_t kMost = 40;
  std::string text(field.substr(0, kMost));
  for (char& letter : text)
    if (uint8_t(letter) < ' ') letter = ' ';
  return field.size() > kMost ? text + "…" : text;
}

}  // namespace hearth::data
