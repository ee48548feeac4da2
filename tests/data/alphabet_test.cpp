#include "hqmm/data/alphabet.hpp"

#include <gtest/gtest.h>

#include "hqmm/core/error.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using hqmm::detail::testing::expect_error;
using Kind = Alphabet::Kind;
using Tokens = std::vector<std::string>;

const Tokens kDna = {"A", "C", "G", "T"};

TEST(Alphabet, IntegersAreWrittenAsNumbers) {
  const Alphabet six = Alphabet::integers(6);
  EXPECT_EQ(six.kind(), Kind::kIntegers);
  EXPECT_EQ(six.size(), 6U);
  EXPECT_EQ(six.token(5), "5");
  EXPECT_EQ(six.token(kMissing), "?");
  EXPECT_EQ(six.all_tokens(), (Tokens{"0", "1", "2", "3", "4", "5"}));
  EXPECT_FALSE(six.single_letters());
  EXPECT_EQ(six.find("5"), Symbol{5});
  EXPECT_EQ(six.find("?"), kMissing);
  for (const char* other : {"6", "-1", "+1", "1.0", "1x", " 1", "", "99999999999999999999"}) {
    EXPECT_EQ(six.find(other), std::nullopt) << other;
  }
}

TEST(Alphabet, IntegersGoUpToTheLargestSymbol) {
  const Alphabet largest = Alphabet::integers(kMaxAlphabet);
  EXPECT_EQ(largest.find("65534"), Symbol{65534});
  EXPECT_EQ(largest.find("65535"), std::nullopt) << "that number means missing";
  expect_error(ErrorCode::kUsage, "65536 symbols is too large",
               [] { (void)Alphabet::integers(kMaxAlphabet + 1); });
}

TEST(Alphabet, DnaReadsBothCasesAndU) {
  const Alphabet dna = Alphabet::dna();
  EXPECT_EQ(dna.kind(), Kind::kDna);
  EXPECT_EQ(dna.all_tokens(), kDna);
  EXPECT_TRUE(dna.single_letters());
  const std::string letters = "ACGTacgtUu?";
  const std::vector<Symbol> symbols = {0, 1, 2, 3, 0, 1, 2, 3, 3, 3, kMissing};
  for (std::size_t i = 0; i < letters.size(); ++i) {
    EXPECT_EQ(dna.find_letter(letters[i]), symbols[i]) << letters[i];
    EXPECT_EQ(dna.find(letters.substr(i, 1)), symbols[i]) << letters[i];
  }
  EXPECT_EQ(dna.token(3), "T");
  for (const char other : {'N', 'Z', '0', '-', ' ', '\0', '\xff'}) {
    EXPECT_EQ(dna.find_letter(other), std::nullopt) << other;
  }
  EXPECT_EQ(dna.find("AC"), std::nullopt);
  EXPECT_EQ(dna.find(""), std::nullopt);
}

TEST(Alphabet, RnaReadsTAsU) {
  const Alphabet rna = Alphabet::rna();
  EXPECT_EQ(rna.all_tokens(), (Tokens{"A", "C", "G", "U"}));
  EXPECT_EQ(rna.find("T"), Symbol{3});
  EXPECT_EQ(rna.find_letter('t'), Symbol{3});
  EXPECT_EQ(rna.token(3), "U");
}

TEST(Alphabet, ProteinIsTheTwentyAminoAcidsByLetter) {
  const Alphabet protein = Alphabet::protein();
  EXPECT_EQ(protein.size(), 20U);
  EXPECT_EQ(protein.find_letter('A'), Symbol{0});
  EXPECT_EQ(protein.find_letter('y'), Symbol{19});
  for (const char other : std::string("BJOUXZ*")) {
    EXPECT_EQ(protein.find_letter(other), std::nullopt) << other;
  }
}

TEST(Alphabet, KnowsTheAmbiguityCodesOfItsKind) {
  for (const Alphabet& nucleic : {Alphabet::dna(), Alphabet::rna()}) {
    for (const char code : std::string("RYSWKMBDHVNXrywnx-.")) {
      EXPECT_TRUE(nucleic.is_ambiguity_code(code)) << code;
    }
    for (const char other : std::string("ACGTUacgtu?EFZ*1 \0\xff", 19)) {
      EXPECT_FALSE(nucleic.is_ambiguity_code(other)) << other;
    }
  }
  const Alphabet protein = Alphabet::protein();
  for (const char code : std::string("BJOUXZbx*-.")) {
    EXPECT_TRUE(protein.is_ambiguity_code(code)) << code;
  }
  for (const char other : std::string("NRYW?1")) {
    EXPECT_FALSE(protein.is_ambiguity_code(other)) << other;
  }
  EXPECT_FALSE(Alphabet::integers(4).is_ambiguity_code('N'));
  EXPECT_FALSE(Alphabet::tokens({"A", "B"}).is_ambiguity_code('N'));
}

TEST(Alphabet, NoLetterIsBothASymbolAndAnAmbiguityCode) {
  for (const Alphabet& alphabet : {Alphabet::dna(), Alphabet::rna(), Alphabet::protein()}) {
    for (int c = 0; c < 256; ++c) {
      const char letter = static_cast<char>(c);
      EXPECT_FALSE(alphabet.find_letter(letter) && alphabet.is_ambiguity_code(letter)) << letter;
    }
  }
}

TEST(Alphabet, TokensKeepTheirOrderAndCase) {
  const Alphabet words = Alphabet::tokens({"walk", "shop", "Walk", "a"});
  EXPECT_EQ(words.kind(), Kind::kTokens);
  EXPECT_EQ(words.find("shop"), Symbol{1});
  EXPECT_EQ(words.find("Walk"), Symbol{2});
  EXPECT_EQ(words.find("SHOP"), std::nullopt);
  EXPECT_EQ(words.find("?"), kMissing);
  EXPECT_EQ(words.token(0), "walk");
  EXPECT_FALSE(words.single_letters());
  EXPECT_EQ(words.find_letter('a'), std::nullopt) << "one long token: no single letters";
  EXPECT_TRUE(Alphabet::tokens({"x", "y"}).single_letters());
  EXPECT_EQ(Alphabet::tokens({"x", "y"}).find_letter('y'), Symbol{1});
  EXPECT_EQ(Alphabet::tokens({"\xff", "y"}).find_letter('\xff'), Symbol{0});
}

TEST(Alphabet, RejectsTokensThatCouldNotBeReadBack) {
  for (const char* bad : {"", "?", "a b", "a,b", "#a", "a\t", "a\n", "\x7f"}) {
    expect_error(ErrorCode::kUsage, "cannot be an alphabet token", [&] {
      (void)Alphabet::tokens({"ok", bad});
    });
  }
  expect_error(ErrorCode::kUsage, "'a\\u0009' cannot be", [] { (void)Alphabet::tokens({"a\t"}); });
  expect_error(ErrorCode::kUsage, "names 'x' twice", [] {
    (void)Alphabet::tokens({"x", "y", "x"});
  });
  expect_error(ErrorCode::kUsage, "too large",
               [] { (void)Alphabet::tokens(Tokens(kMaxAlphabet + 1, "x")); });
}

TEST(Alphabet, FromTokensRecognisesTheBuiltInOnes) {
  EXPECT_EQ(Alphabet::from_tokens(kDna).kind(), Kind::kDna);
  EXPECT_EQ(Alphabet::from_tokens({"A", "C", "G", "U"}).kind(), Kind::kRna);
  EXPECT_EQ(Alphabet::from_tokens(Alphabet::protein().all_tokens()).kind(), Kind::kProtein);
  EXPECT_EQ(Alphabet::from_tokens({"0", "1", "2"}), Alphabet::integers(3));
  EXPECT_EQ(Alphabet::from_tokens({"1", "0"}).kind(), Kind::kTokens);
  EXPECT_EQ(Alphabet::from_tokens({"1", "0"}).find("1"), Symbol{0});
  EXPECT_EQ(Alphabet::from_tokens({"G", "A", "C", "T"}).kind(), Kind::kTokens);
  expect_error(ErrorCode::kUsage, "twice", [] { (void)Alphabet::from_tokens({"0", "0"}); });
}

TEST(Alphabet, FromTokensUndoesAllTokens) {
  for (const Alphabet& alphabet :
       {Alphabet::integers(0), Alphabet::integers(1), Alphabet::integers(300), Alphabet::dna(),
        Alphabet::rna(), Alphabet::protein(), Alphabet::tokens({"G", "A", "C", "T"}),
        Alphabet::tokens({"one", "two"})}) {
    const Alphabet back = Alphabet::from_tokens(alphabet.all_tokens());
    EXPECT_TRUE(back == alphabet);
    EXPECT_EQ(back.kind(), alphabet.kind());
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
      const auto symbol = static_cast<Symbol>(i);
      EXPECT_EQ(alphabet.find(alphabet.token(symbol)), symbol);
    }
  }
}

TEST(Alphabet, ParsesWhatTheCommandLineTakes) {
  EXPECT_EQ(Alphabet::parse("dna").kind(), Kind::kDna);
  EXPECT_EQ(Alphabet::parse("rna").kind(), Kind::kRna);
  EXPECT_EQ(Alphabet::parse("protein").kind(), Kind::kProtein);
  EXPECT_EQ(Alphabet::parse("6"), Alphabet::integers(6));
  EXPECT_EQ(Alphabet::parse("65535").size(), kMaxAlphabet);
  EXPECT_EQ(Alphabet::parse("a,b,c").all_tokens(), (Tokens{"a", "b", "c"}));
  EXPECT_EQ(Alphabet::parse("0,1"), Alphabet::integers(2));
  EXPECT_EQ(Alphabet::parse("A,C,G,T").kind(), Kind::kDna);
}

TEST(Alphabet, ParseSaysWhatIsWrong) {
  const auto parse = [](std::string_view text) { return [text] { (void)Alphabet::parse(text); }; };
  expect_error(ErrorCode::kUsage, "'klingon' is not an alphabet: give dna, rna", parse("klingon"));
  expect_error(ErrorCode::kUsage, "'' is not an alphabet", parse(""));
  expect_error(ErrorCode::kUsage, "'-3' is not an alphabet", parse("-3"));
  expect_error(ErrorCode::kUsage, "is not an alphabet", parse("99999999999999999999999"));
  expect_error(ErrorCode::kUsage, "at least one symbol", parse("0"));
  expect_error(ErrorCode::kUsage, "70000 symbols is too large", parse("70000"));
  expect_error(ErrorCode::kUsage, "'' cannot be an alphabet token", parse("a,b,"));
  expect_error(ErrorCode::kUsage, "'' cannot be an alphabet token", parse(","));
  expect_error(ErrorCode::kUsage, "' b' cannot be an alphabet token", parse("a, b"));
  expect_error(ErrorCode::kUsage, "names 'a' twice", parse("a,b,a"));
}

TEST(Alphabet, DescribesItself) {
  EXPECT_EQ(Alphabet::integers(6).description(), "integers 0..5");
  EXPECT_EQ(Alphabet().description(), "integers");
  EXPECT_EQ(Alphabet::dna().description(), "dna (A C G T)");
  EXPECT_EQ(Alphabet::rna().description(), "rna (A C G U)");
  EXPECT_EQ(Alphabet::protein().description().substr(0, 12), "protein (A C");
  EXPECT_EQ(Alphabet::tokens({"a", "b"}).description(), "tokens a b");
  Tokens many;
  for (int i = 0; i < 30; ++i) many.push_back("t" + std::to_string(i));
  const std::string text = Alphabet::tokens(many).description();
  EXPECT_NE(text.find(" t23 … 30 in all"), std::string::npos) << text;
}

TEST(Alphabet, ComparesWhatItWrites) {
  EXPECT_EQ(Alphabet::dna(), Alphabet::parse("A,C,G,T"));
  EXPECT_NE(Alphabet::dna(), Alphabet::rna());
  EXPECT_NE(Alphabet::integers(2), Alphabet::integers(3));
  EXPECT_NE(Alphabet::integers(2), Alphabet::tokens({"a", "b"}));
  EXPECT_EQ(Alphabet(), Alphabet::integers(0));
}

}  // namespace
}  // namespace hqmm::detail
