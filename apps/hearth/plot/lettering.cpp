#include "plot/lettering.h"

#include <sstream>

namespace hearth::app {

namespace {

// A glyph's width, then its strokes: '-' straight lines, '~' a curve, 'o' a closed curve, each
// through or along points of two digits (base 36), x and y. Capitals reach from y = 0 to the
// baseline at 12, small letters from 4.
constexpr const char* kGlyphs[] = {
    /*   */ "2",
    /* ! */ "0 -0008 -0c0c",
    /* " */ "3 -0003 -3033",
    /* # */ "8 -311b -715b -0484 -0888",
    /* $ */ "6 ~63610106666b0b09 -303c",
    /* % */ "8 o00404404 o48888c4c -800c",
    /* & */ "8 ~8c25106064070c5c87",
    /* ' */ "0 -0003",
    /* ( */ "3 ~30040a3e",
    /* ) */ "3 ~00343a0e",
    /* * */ "6 -3137 -0266 -6206",
    /* + */ "6 -353b -0868",
    /* , */ "1 -1c0e",
    /* - */ "5 -0858",
    /* . */ "0 -0c0c",
    /* / */ "5 -500c",
    /* 0 */ "7 o0070767c0c06",
    /* 1 */ "7 -13404c",
    /* 2 */ "7 ~040070750c -0c7c",
    /* 3 */ "7 ~0200606626 ~26767c0c0a",
    /* 4 */ "7 -5c500878",
    /* 5 */ "7 -601006 ~0624747c0c0a",
    /* 6 */ "7 ~600109 o05757c0c",
    /* 7 */ "7 -00702c",
    /* 8 */ "7 o10606616 o06767c0c",
    /* 9 */ "7 o00707707 ~1c7b73",
    /* : */ "0 -0505 -0c0c",
    /* ; */ "1 -1515 -1c0e",
    /* < */ "6 -64086c",
    /* = */ "6 -0666 -0a6a",
    /* > */ "6 -04680c",
    /* ? */ "6 ~030060643538 -3c3c",
    /* @ */ "9 o34747939 ~747a9a90000c8c",
    /* A */ "8 -0c408c -1979",
    /* B */ "7 -000c ~003060663606 ~0636767c3c0c",
    /* C */ "8 ~8380000c8c89",
    /* D */ "8 -000c ~0030808c3c0c",
    /* E */ "6 -60000c6c -0656",
    /* F */ "6 -60000c -0656",
    /* G */ "8 ~8380000c8c87 -4787",
    /* H */ "8 -000c -808c -0686",
    /* I */ "0 -000c",
    /* J */ "5 ~50575c0c09",
    /* K */ "7 -000c -7007 -257c",
    /* L */ "6 -000c6c",
    /* M */ "8 -0c0048808c",
    /* N */ "8 -0c008c80",
    /* O */ "9 o00909c0c",
    /* P */ "7 -000c ~003070773707",
    /* Q */ "9 o00909c0c -698d",
    /* R */ "7 -000c ~003070773707 -377c",
    /* S */ "7 ~72700006767c0c0a",
    /* T */ "8 -0080 -404c",
    /* U */ "8 ~00060c8c8680",
    /* V */ "8 -004c80",
    /* W */ "a -003c527ca0",
    /* X */ "8 -008c -800c",
    /* Y */ "8 -004680 -464c",
    /* Z */ "7 -00700c7c",
    /* [ */ "3 -30000e3e",
    /* \ */ "5 -005c",
    /* ] */ "3 -00303e0e",
    /* ^ */ "6 -053165",
    /* _ */ "7 -0d7d",
    /* ` */ "2 -0022",
    /* a */ "6 -646c o04646c0c",
    /* b */ "6 -000c o04646c0c",
    /* c */ "6 ~6664040c6c6a",
    /* d */ "6 -606c o04646c0c",
    /* e */ "6 -0868 ~6864040c6c6a",
    /* f */ "4 ~4010141c -0444",
    /* g */ "6 o04646c0c ~646a6g0g0e",
    /* h */ "6 -000c ~080464686c",
    /* i */ "0 -040c -0101",
    /* j */ "3 ~343c3g0g -3131",
    /* k */ "6 -000c -640a -286c",
    /* l */ "2 ~00090c2c",
    /* m */ "a -040c ~080454585c ~5854a4a8ac",
    /* n */ "6 -040c ~080464686c",
    /* o */ "7 o04747c0c",
    /* p */ "6 -040g o04646c0c",
    /* q */ "6 -646g o04646c0c",
    /* r */ "4 -040c ~080444",
    /* s */ "5 ~55540408585c0c0b",
    /* t */ "4 ~10191c4c -0444",
    /* u */ "6 -646c ~04080c6c68",
    /* v */ "6 -043c64",
    /* w */ "8 -042c456c84",
    /* x */ "6 -046c -640c",
    /* y */ "6 -043c -642g",
    /* z */ "6 -04640c6c",
    /* { */ "4 ~40202707 ~07272e4e",
    /* | */ "0 -000e",
    /* } */ "4 ~00202747 ~47272e0e",
    /* ~ */ "8 ~09256b87",
};
constexpr const char* kUnknown = "6 -00606c0c00";
constexpr double kGap = 3.5, kCapital = 12;

const char* glyph_of(char letter) {
  const auto index = size_t(static_cast<unsigned char>(letter)) - ' ';
  return index < std::size(kGlyphs) ? kGlyphs[index] : kUnknown;
}

/// Of the bytes of a UTF-8 character, the first.
bool begins_character(char byte) { return (byte & 0xc0) != 0x80; }

double digit(char letter) { return letter <= '9' ? letter - '0' : letter - 'a' + 10; }

Point middle(Point a, Point b) { return {(a.x + b.x) / 2, (a.y + b.y) / 2}; }

/// From `from` to `to`, bent towards `control`.
void append_bend(Polyline& line, Point from, Point control, Point to) {
  constexpr int kPieces = 8;
  for (int i = 0; i <= kPieces; ++i) {
    const double t = double(i) / kPieces;
    const auto blend = [t](double a, double b, double c) {
      return (1 - t) * (1 - t) * a + 2 * t * (1 - t) * b + t * t * c;
    };
    line.push_back({blend(from.x, control.x, to.x), blend(from.y, control.y, to.y)});
  }
}

/// A quadratic spline that turns around every inner point, midway to the next.
Polyline bent(const Polyline& points) {
  Polyline line;
  Point from = points.front();
  for (size_t i = 1; i + 1 < points.size(); ++i) {
    const bool is_last = i + 2 == points.size();
    const Point to = is_last ? points.back() : middle(points[i], points[i + 1]);
    append_bend(line, from, points[i], to);
    from = to;
  }
  return line;
}

Polyline bent_ring(Polyline points) {
  const Point start = middle(points.front(), points.back());
  points.insert(points.begin(), start);
  points.push_back(start);
  return bent(points);
}

Polyline parse_stroke(const std::string& stroke) {
  Polyline points;
  for (size_t i = 1; i + 1 < stroke.size(); i += 2)
    points.push_back({digit(stroke[i]), digit(stroke[i + 1])});
  return stroke[0] == '-' ? points : stroke[0] == '~' ? bent(points) : bent_ring(points);
}

}  // namespace

std::vector<Polyline> lettering(const std::string& text, double height) {
  const double unit = height / kCapital;
  std::vector<Polyline> all;
  double left = 0;
  for (const char letter : text) {
    if (!begins_character(letter)) continue;
    std::istringstream words(glyph_of(letter));
    std::string word;
    words >> word;
    const double advance = digit(word[0]) + kGap;
    while (words >> word) {
      all.push_back(parse_stroke(word));
      for (Point& p : all.back()) p = {(left + p.x) * unit, (p.y - kCapital) * unit};
    }
    left += advance;
  }
  return all;
}

double length_of(const std::string& text, double height) {
  double length = 0;
  for (const char letter : text)
    if (begins_character(letter)) length += digit(*glyph_of(letter)) + kGap;
  return length == 0 ? 0 : (length - kGap) * height / kCapital;
}

}  // namespace hearth::app
