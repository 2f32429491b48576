// Image files: PNG and JPEG, written, read and damaged; grids; datasets of files.
#include <gtest/gtest.h>

#include "hearth/io/file.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "hearth/vision.h"
#include "tests/support/files.h"
#include "tests/support/fixtures.h"
#include "tests/support/throws.h"

namespace hearth::testing {

namespace {

using namespace hearth::vision;
namespace fs = std::filesystem;

Tensor pattern(int64_t channels, int64_t height = 13, int64_t width = 17) {
  return arange(channels * height * width)
      .mul(31)
      .remainder(256)
      .to(kByte)
      .view({channels, height, width});
}

/// A smooth image, which JPEG changes little.
Tensor smooth(int64_t channels) {
  const Tensor wave = linspace(0, 3, 24).sin().mul(60).add(60);
  return wave.add(wave.unsqueeze(1).mul(0.5)).to(kByte).expand({channels, 24, 24}).contiguous();
}

double mean_difference(const Tensor& a, const Tensor& b) {
  return a.to(kDouble).sub(b.to(kDouble)).abs().mean().item<double>();
}

std::string png_chunk(const std::string& name, const std::string& data) {
  const auto big_endian = [](size_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += char(value >> shift & 255);
    return bytes;
  };
  const std::string body = name + data;
  return big_endian(data.size()) + body + big_endian(hearth::io::crc32(body.data(), body.size()));
}

const std::string kPngSignature = "\x89PNG\r\n\x1a\n";
constexpr int64_t kPngHeaderBytes = 8 + 25;  // signature and IHDR

/// A file with `bytes` inserted at `offset`.
Tensor with_bytes(const Tensor& file, int64_t offset, const std::string& bytes) {
  std::vector<int64_t> values;
  for (const char c : bytes) values.push_back(uint8_t(c));
  return cat({file.narrow(0, 0, offset), tensor(values).to(kByte),
              file.narrow(0, offset, file.size(0) - offset)});
}

/// Exif data with the image's width and, as the second tag, its orientation.
std::string exif_with(int orientation, bool is_little_endian) {
  std::string result = is_little_endian ? "II" : "MM";
  const auto put = [&](uint32_t value, int count) {
    for (int i = 0; i < count; ++i)
      result += char(value >> 8 * (is_little_endian ? i : count - 1 - i) & 255);
  };
  put(42, 2);
  put(8, 4);  // where the tags begin
  put(2, 2);
  for (const uint32_t tag : {0x0100, 0x0112}) {
    put(tag, 2);
    put(3, 2);
    put(1, 4);
    put(tag == 0x0112 ? uint32_t(orientation) : 7, 2);
    put(0, 2);
  }
  put(0, 4);
  return result;
}

TEST(ImageFiles, PngKeepsEveryPixel) {
  const TempFolder folder;
  const std::string path = folder.path("a.png");
  for (int64_t channels = 1; channels <= 4; ++channels) {
    const Tensor image = pattern(channels);
    write_png(image, path, channels);
    EXPECT_TRUE(read_image(path).equal(image)) << channels;
    EXPECT_TRUE(decode_image(encode_png(image.transpose(1, 2))).equal(image.transpose(1, 2)));
  }
  EXPECT_EQ(folder.count(), 1u);
}

TEST(ImageFiles, ModesChangeTheChannels) {
  const Tensor rgb = encode_png(pattern(3)), gray = encode_png(pattern(1));
  EXPECT_EQ(decode_image(rgb, ImageReadMode::GRAY).size(0), 1);
  EXPECT_TRUE(decode_image(gray, ImageReadMode::RGB).equal(pattern(1).expand({3, -1, -1})));
  const Tensor opaque = decode_image(rgb, ImageReadMode::RGB_ALPHA);
  EXPECT_TRUE(opaque.narrow(0, 0, 3).equal(pattern(3)));
  EXPECT_TRUE(opaque[3].eq(255).all().item<bool>());
  EXPECT_TRUE(
      decode_image(encode_png(pattern(4)), ImageReadMode::RGB).equal(pattern(4).narrow(0, 0, 3)));
  EXPECT_EQ(decode_image(encode_jpeg(smooth(3)), ImageReadMode::GRAY).size(0), 1);
  EXPECT_ERROR(decode_image(encode_jpeg(smooth(3)), ImageReadMode::RGB_ALPHA),
               "cannot read 'image': a JPEG image has no alpha channel");
}

/// Expected: torchvision.io.decode_jpeg.
TEST(ImageFiles, CmykJpegBecomesRgb) {
  const auto first_pixel = [](ImageReadMode mode) {
    return read_image(fixture_path("cmyk.jpg"), mode).select(2, 0).select(1, 0);
  };
  EXPECT_TRUE(first_pixel(ImageReadMode::UNCHANGED).equal(tensor({225, 55, 155, 215}, kByte)));
  EXPECT_TRUE(first_pixel(ImageReadMode::RGB).equal(tensor({190, 46, 131}, kByte)));
  EXPECT_TRUE(first_pixel(ImageReadMode::GRAY).equal(tensor({99}, kByte)));
}

/// Expected: torchvision.io.decode_image.
TEST(ImageFiles, OnlyPalettesHaveTransparentColours) {
  const Tensor gray = tensor({0, 7, 7, 200}, kByte).view({1, 1, 4}),
               file = with_bytes(encode_png(gray), kPngHeaderBytes,
                                 png_chunk("tRNS", std::string("\0\7", 2)));
  EXPECT_TRUE(decode_image(file).equal(gray));
  EXPECT_TRUE(
      decode_image(file, ImageReadMode::GRAY_ALPHA).equal(cat({gray, full_like(gray, 255)})));
  // One byte, which begins with its filter's: two pixels of one bit, 0 and 1.
  const std::string palette =
      kPngSignature + png_chunk("IHDR", {"\0\0\0\2\0\0\0\1\1\3\0\0\0", 13}) +
      png_chunk("PLTE", "\x09\x08\x07\x32\x3c\x46") + png_chunk("tRNS", "\x20") +
      png_chunk("IDAT", {"\x78\x01\x01\x02\0\xfd\xff\0\x40\0\x42\0\x41", 13}) +
      png_chunk("IEND", "");
  EXPECT_TRUE(decode_image(with_bytes(empty({0}, kByte), 0, palette), ImageReadMode::RGB_ALPHA)
                  .equal(tensor({9, 50, 8, 60, 7, 70, 32, 255}, kByte).view({4, 1, 2})));
}

/// Expected: torchvision.io.decode_image(…, apply_exif_orientation=True).
TEST(ImageFiles, ExifOrientationsAreApplied) {
  const Tensor image = tensor({{0, 1, 2}, {3, 4, 5}}).to(kByte).unsqueeze(0),
               jpeg = encode_jpeg(smooth(3).narrow(1, 0, 16)), decoded = decode_image(jpeg);
  const std::vector<std::vector<int>> expected{
      {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, {2, 1, 0, 5, 4, 3}, {5, 4, 3, 2, 1, 0},
      {3, 4, 5, 0, 1, 2}, {0, 3, 1, 4, 2, 5}, {3, 0, 4, 1, 5, 2}, {5, 2, 4, 1, 3, 0},
      {2, 5, 1, 4, 0, 3}, {0, 1, 2, 3, 4, 5}};
  for (int orientation = 0; orientation < 10; ++orientation)
    for (const bool is_little_endian : {false, true}) {
      SCOPED_TRACE(orientation);
      const std::string exif = exif_with(orientation, is_little_endian);
      const Tensor png = with_bytes(encode_png(image), kPngHeaderBytes, png_chunk("eXIf", exif));
      const bool is_turned = orientation >= 5 && orientation <= 8;
      const Tensor upright = decode_image(png, ImageReadMode::UNCHANGED, true);
      EXPECT_EQ(upright.sizes(), is_turned ? IntArrayRef({1, 3, 2}) : IntArrayRef({1, 2, 3}));
      EXPECT_TRUE(upright.flatten().equal(tensor(expected[size_t(orientation)]).to(kByte)));
      EXPECT_TRUE(decode_image(png).equal(image));
      const std::string data = "Exif" + std::string(2, '\0') + exif;
      const auto marker = [](const std::string& content) {
        return "\xff\xe1" + std::string(1, '\0') + char(content.size() + 2) + content;
      };
      const Tensor turned_jpeg = with_bytes(
          jpeg, 2, marker("http://ns.adobe.com/xap/1.0/" + std::string(1, '\0')) + marker(data));
      EXPECT_TRUE(decode_image(turned_jpeg).equal(decoded));
      if (orientation == 6) {
        EXPECT_TRUE(decode_image(turned_jpeg, ImageReadMode::UNCHANGED, true)
                        .equal(decoded.transpose(1, 2).flip({2})));
      }
    }
}

TEST(ImageFiles, DamagedExifDataAreSafe) {
  const Tensor image = pattern(1);
  const std::string exif = exif_with(6, true);
  for (size_t i = 0; i < exif.size(); ++i)
    for (const char value : {'\0', '\xff'}) {
      std::string damaged = exif;
      damaged[i] = value;
      for (const std::string& data : {damaged, exif.substr(0, i + 1)})
        EXPECT_EQ(
            decode_image(with_bytes(encode_png(image), kPngHeaderBytes, png_chunk("eXIf", data)),
                         ImageReadMode::UNCHANGED, true)
                .numel(),
            image.numel());
    }
}

TEST(ImageFiles, JpegKeepsSmoothImagesApproximately) {
  for (const int64_t channels : {1, 3}) {
    const Tensor image = smooth(channels), good = encode_jpeg(image, 95),
                 small = encode_jpeg(image, 10);
    EXPECT_LT(mean_difference(decode_image(good), image), 2);
    EXPECT_LT(mean_difference(decode_image(small), image), 12);
    EXPECT_LT(small.numel(), good.numel());
  }
}

TEST(ImageFiles, TruncationsAreErrorsAndFlippedBitsAreSafe) {
  for (const Tensor& file : {encode_png(pattern(3)), encode_jpeg(smooth(3))}) {
    const bool is_png = file[1].item<int64_t>() == 'P';
    // libjpeg accepts a JPEG file without its end marker.
    for (int64_t n = 0; n < file.numel() - (is_png ? 0 : 2); ++n)
      EXPECT_ERROR(decode_image(file.narrow(0, 0, n)), "cannot read 'image': ");
    for (int64_t i = 0; i < file.numel(); ++i) {
      const Tensor damaged = file.clone();
      damaged[i].bitwise_xor_(1 << (i % 8));
      error_of([&] { decode_image(damaged); });
    }
  }
}

TEST(ImageFiles, HostileSizesAreErrors) {
  // Width and height of 2^30, with a correct checksum of the header.
  const std::string file =
      kPngSignature + png_chunk("IHDR", {"\x40\0\0\0\x40\0\0\0\x08\x02\0\0\0", 13});
  const TempFolder folder;
  write_bytes(folder.path("big.png"), file);
  EXPECT_ERROR(read_image(folder.path("big.png")),
               "cannot read '" + folder.path("big.png") + "': ");
}

TEST(ImageFiles, BadArgumentsAreNamed) {
  EXPECT_ERROR(write_png(pattern(3).to(kFloat), "/nowhere/a.png"),
               "Input tensor dtype should be uint8");
  EXPECT_ERROR(encode_jpeg(pattern(2)), "The number of channels should be 1 or 3 for JPEG, got: 2");
  EXPECT_ERROR(encode_jpeg(pattern(3), 101), "between 1 and 100");
  EXPECT_ERROR(read_image("/nowhere/a.png"), "cannot read '/nowhere/a.png': No such file");
  EXPECT_ERROR(read_image("/"), "cannot read '/': Is a directory");
  EXPECT_ERROR(decode_image(tensor({1, 2, 3}).to(kByte)), "neither a PNG nor a JPEG");
  EXPECT_ERROR(decode_image(zeros({2, 2}, kByte)),
               "Expected a non empty 1-dimensional tensor of uint8, but got Byte [2, 2]");
  EXPECT_ERROR(decode_image(zeros({2})), "of uint8, but got Float [2]");
  EXPECT_ERROR(decode_image(Tensor()), "of uint8, but got an undefined tensor");
  EXPECT_ERROR(decode_image(empty({2}, TensorOptions(kMeta).dtype(kByte))),
               "Expected a CPU tensor, but got one on meta");
  EXPECT_ERROR(utils::save_image(zeros({3, 4, 4}), "/tmp/a.bmp"), "unknown file extension");
  EXPECT_ERROR(utils::save_image(zeros({3, 4, 4}, kByte), "/tmp/a.png"),
               "result type Float can't be cast to the desired output type Byte");
}

TEST(ImageFiles, AGridIsSaved) {
  const TempFolder folder;
  utils::save_image(rand({5, 1, 4, 6}), folder.path("grid.png"), utils::GridOptions().nrow(3));
  EXPECT_EQ(read_image(folder.path("grid.png")).sizes(), IntArrayRef({3, 14, 26}));
  utils::save_image({zeros({3, 4, 4}), ones({3, 4, 4})}, folder.path("grid.JPG"));
  EXPECT_EQ(read_image(folder.path("grid.JPG")).sizes(), IntArrayRef({3, 8, 14}));
}

TEST(ImageDatasets, CifarReadsItsRecords) {
  const TempFolder folder;
  EXPECT_ERROR(datasets::CIFAR10(folder.str()), "cifar-10-binary.tar.gz");
  fs::create_directory(folder.path("cifar-10-batches-bin"));
  const auto record = [](char label, char first_pixel) {
    return std::string(1, label) + first_pixel + std::string(3071, '\x40');
  };
  for (int i = 1; i <= 5; ++i)
    write_bytes(folder.path("cifar-10-batches-bin/data_batch_" + std::to_string(i) + ".bin"),
                record(char(i), char(i * 20)) + record(9, 0));
  datasets::CIFAR10 train(folder.str());
  EXPECT_EQ(train.size(), 10u);
  const auto example = train.get(4);
  EXPECT_EQ(example.target.item<int64_t>(), 3);
  EXPECT_FLOAT_EQ(example.data[0][0][0].item<float>(), 60.0f / 255);
  EXPECT_FLOAT_EQ(example.data[2][31][31].item<float>(), 64.0f / 255);
  EXPECT_EQ(datasets::CIFAR10::classes()[3], "cat");

  write_bytes(folder.path("train.bin"), "\x01" + record(77, 5));
  EXPECT_EQ(datasets::CIFAR100(folder.str()).get(0).target.item<int64_t>(), 77);
  write_bytes(folder.path("test.bin"), "\x01" + record(100, 5));
  EXPECT_ERROR(datasets::CIFAR100(folder.str(), false), "a class is 100, but there are 100");
  write_bytes(folder.path("test.bin"), "\x01" + record(1, 5) + "x");
  EXPECT_ERROR(datasets::CIFAR100(folder.str(), false), "is not a positive multiple of 3074 bytes");
}

TEST(ImageDatasets, EachFolderIsAClass) {
  const TempFolder folder;
  EXPECT_ERROR(datasets::ImageFolder(folder.str()), "Couldn't find any class folder in ");
  EXPECT_ERROR(datasets::ImageFolder(folder.path("none")), "No such file");
  for (const char* name : {"dog", "cat", "cat/deep"}) fs::create_directory(folder.path(name));
  write_png(pattern(1), folder.path("cat/b.png"));
  write_jpeg(smooth(3), folder.path("cat/deep/a.JPEG"));
  write_bytes(folder.path("cat/notes.txt"), "not an image");
  EXPECT_ERROR(datasets::ImageFolder(folder.str()), "Found no valid file for the classes dog");
  write_png(pattern(4), folder.path("dog/a.png"));
  datasets::ImageFolder images(folder.str(), transforms::Resize({4, 5}));
  EXPECT_EQ(images.classes(), (std::vector<std::string>{"cat", "dog"}));
  ASSERT_EQ(images.size(), 3u);
  EXPECT_EQ(images.get(0).data.sizes(), IntArrayRef({3, 4, 5}));
  EXPECT_EQ(images.get(2).target.item<int64_t>(), 1);
  // As in torchvision, the files of a folder come before those of its subfolders.
  write_png(pattern(1), folder.path("cat/z.png"));
  const datasets::ImageFolder ordered(folder.str());
  ASSERT_EQ(ordered.samples().size(), 4u);
  EXPECT_EQ(ordered.samples()[1].first, folder.path("cat/z.png"));
  EXPECT_EQ(ordered.samples()[2].first, folder.path("cat/deep/a.JPEG"));
}

}  // namespace

}  // namespace hearth::testing
