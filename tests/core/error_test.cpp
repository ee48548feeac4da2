#include "hqmm/core/fail.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/property.hpp"

namespace hqmm::detail {
namespace {

TEST(Error, NamesOptionsInTheWordsOfItsReader) {
  const Error error =
      fail(ErrorCode::kUsage, Where{.file = "config.json"}, "{}: expected {}, not {}",
           option("latent_dim"), option("kraus_rank", 4), 3);
  EXPECT_STREQ(error.what(), "config.json: latent_dim: expected kraus_rank 4, not 3");
  EXPECT_EQ(error.message(), "latent_dim: expected kraus_rank 4, not 3");
  const auto loud = [](std::string_view id, std::string_view value) {
    return fmt::format("<{}|{}>", id, value);
  };
  EXPECT_EQ(error.text(loud), "config.json: <latent_dim|>: expected <kraus_rank|4>, not 3");
}

TEST(Error, KeepsItsOptionsInAnotherError) {
  const auto loud = [](std::string_view id, std::string_view) { return fmt::format("<{}>", id); };
  const Error inner =
      fail(ErrorCode::kUsage, "{} is wrong", option("seed")).in(Situation::kRunExists);
  const Error outer = fail(ErrorCode::kBadData, "class 'a': {}", inner.marked());
  EXPECT_EQ(outer.text(loud), "class 'a': <seed> is wrong");
  const Error moved = inner.as(ErrorCode::kBadData).at({.file = "f"});
  EXPECT_EQ(moved.text(loud), "f: <seed> is wrong");
  EXPECT_EQ(moved.code(), ErrorCode::kBadData);
  EXPECT_EQ(moved.situation(), Situation::kRunExists);
}

TEST(Error, TakesNoUsersTextForAnOption) {
  const auto loud = [](std::string_view, std::string_view) { return std::string("option"); };
  const std::string text = "\x01seed\x03";
  EXPECT_EQ(fail(ErrorCode::kUsage, "found '{}'", printable(text)).text(loud),
            "found '\\u0001seed\\u0003'");
  EXPECT_EQ(in_words("an end\x01that is missing", loud), "an endoption");
}

TEST(Where, NamesFileLineAndColumn) {
  EXPECT_EQ((Where{.file = "data.txt", .line = 3, .column = 17}.text()), "data.txt:3:17");
  EXPECT_EQ((Where{.file = "data.txt", .line = 3}.text()), "data.txt:3");
  EXPECT_EQ((Where{.file = "data.txt"}.text()), "data.txt");
  EXPECT_EQ((Where{.file = "-", .line = 1}.text()), "stdin:1");
  EXPECT_EQ(Where{}.text(), "");
}

TEST(Where, NamesBytesAndItems) {
  EXPECT_EQ((Where{.file = "x.npy", .byte = 10}.text()), "x.npy: byte 10");
  EXPECT_EQ((Where{.file = "model.h5", .item = "dataset 'kraus'"}.text()),
            "model.h5: dataset 'kraus'");
  EXPECT_EQ((Where{.file = "a.mat", .byte = 0, .item = "variable 'x'"}.text()),
            "a.mat: byte 0: variable 'x'");
}

TEST(Where, ReadsWellWithoutAFile) {
  EXPECT_EQ((Where{.line = 3, .column = 17}.text()), "line 3:17");
  EXPECT_EQ(Where{.byte = 10}.text(), "byte 10");
  EXPECT_EQ(Where{.item = "record 4"}.text(), "record 4");
}

TEST(Where, PrintsNoControlCharactersOfAFileName) {
  EXPECT_EQ((Where{.file = "a\nb\x1b[2J", .line = 1}.text()), "a\\u000ab\\u001b[2J:1");
  EXPECT_EQ((Where{.file = "f", .item = "x\ny"}.text()), "f: x\\u000ay");
  const std::string long_name(300, 'x');
  EXPECT_EQ(Where{.file = long_name}.text(), long_name) << "a path is never cut";
}

TEST(Error, PutsThePlaceBeforeTheMessage) {
  const Error error =
      fail(ErrorCode::kBadData, Where{.file = "d.txt", .line = 2}, "expected {}, found {}", 3, "x");
  EXPECT_STREQ(error.what(), "d.txt:2: expected 3, found x");
  EXPECT_EQ(error.message(), "expected 3, found x");
  EXPECT_EQ(error.where().file, "d.txt");
  EXPECT_EQ(error.code(), ErrorCode::kBadData);
}

TEST(Error, WithoutAPlaceIsTheMessageAlone) {
  const Error error = fail(ErrorCode::kUsage, "no {}", "luck");
  EXPECT_STREQ(error.what(), "no luck");
  EXPECT_EQ(error.where().text(), "");
}

TEST(Error, IsAStandardExceptionAndSurvivesCopying) {
  try {
    throw fail(ErrorCode::kNoInput, Where{.file = "gone"}, "cannot open");
  } catch (const std::exception& caught) {
    const auto* error = dynamic_cast<const Error*>(&caught);
    ASSERT_NE(error, nullptr);
    const Error copy = *error;
    EXPECT_STREQ(copy.what(), caught.what());
  }
}

TEST(Error, ExitStatusesAreThePublishedOnes) {
  EXPECT_EQ(exit_status(ErrorCode::kUsage), 2);
  EXPECT_EQ(exit_status(ErrorCode::kDiverged), 3);
  EXPECT_EQ(exit_status(ErrorCode::kBadData), 65);
  EXPECT_EQ(exit_status(ErrorCode::kNoInput), 66);
  EXPECT_EQ(exit_status(ErrorCode::kInternal), 70);
  EXPECT_EQ(exit_status(ErrorCode::kCannotWrite), 73);
  EXPECT_EQ(exit_status(ErrorCode::kInterrupted), 130);
}

TEST(Printable, EscapesControlsAndKeepsText) {
  EXPECT_EQ(printable("plain text, 100%"), "plain text, 100%");
  EXPECT_EQ(printable("a\tb\n"), "a\\u0009b\\u000a");
  EXPECT_EQ(printable(std::string_view("\0\x7f", 2)), "\\u0000\\u007f");
  EXPECT_EQ(printable("Γ = 1, naïve, 日本, 🙂"), "Γ = 1, naïve, 日本, 🙂");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\x9b"), "\\x9b") << "a bare C1 control";
  EXPECT_EQ(printable("\xc2\x9b"), "\\u009b") << "the same control, encoded";
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xe0\x80\x80"), "\\xe0\\x80\\x80") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
  EXPECT_EQ(printable("caf\xc3"), "caf\\xc3") << "cut short";
}

TEST(Printable, EscapesWhatTurnsTheWritingDirectionOrHides) {
  EXPECT_EQ(printable("\u202e"), "\\u202e") << "right-to-left override";
  EXPECT_EQ(printable("\u061c\u200e\u200f"), "\\u061c\\u200e\\u200f") << "marks";
  EXPECT_EQ(printable("\u202a\u202d\u2066\u2069"), "\\u202a\\u202d\\u2066\\u2069");
  EXPECT_EQ(printable("\u2028\u2029"), "\\u2028\\u2029") << "ends of lines and paragraphs";
  EXPECT_EQ(printable("\ufeff"), "\\ufeff") << "a byte order mark";
  EXPECT_EQ(printable("\u0080\u009f\u00a0"), "\\u0080\\u009f\u00a0") << "the C1 controls, no more";
  EXPECT_EQ(printable("\u200d\u2027\u202f\u2065\u206a"), "\u200d\u2027\u202f\u2065\u206a");
}

TEST(Printable, KeepsTheLinesOfAText) {
  EXPECT_EQ(printable_lines("a\tb\nc\r\x1b[2J\u202e\xff\n"),
            "a\tb\nc\\u000d\\u001b[2J\\u202e\\xff\n");
  EXPECT_EQ(printable_lines(std::string(500, 'x')), std::string(500, 'x'));
  EXPECT_EQ(printable_lines(std::string_view("\0", 1)), "\\u0000");
}

TEST(Printable, IsCappedBetweenCharacters) {
  EXPECT_EQ(printable("abcdef", 3), "abc…");
  EXPECT_EQ(printable("abc", 3), "abc");
  EXPECT_EQ(printable("abΓ", 3), "ab…") << "no half of a character";
  EXPECT_EQ(printable("abΓ", 4), "abΓ");
  EXPECT_EQ(printable(std::string(50, 'x')), std::string(40, 'x') + "…");
}

HQMM_PROPERTY(Printable, NeverShowsAControlByte) {
  const std::vector<std::uint8_t> bytes = draw.bytes();
  const std::string text(bytes.begin(), bytes.end());
  const std::string shown = printable(text, text.size());
  HQMM_HOLDS(std::none_of(shown.begin(), shown.end(),
                          [](unsigned char c) { return c < 0x20 || c == 0x7F; }));
  HQMM_HOLDS(shown.size() >= text.size());
  HQMM_HOLDS(printable(shown, shown.size()) == shown);
}

}  // namespace
}  // namespace hqmm::detail
