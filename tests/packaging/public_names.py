"""What the library offers: the names that its installed headers declare in namespace hqmm, against the list that
docs/public_names.txt keeps, and what its object files show to others.

usage: public_names.py INCLUDE_FOLDER LIST [LIBRARY]
       public_names.py INCLUDE_FOLDER LIST --write

A name is added or taken away by a change of the list, on purpose. LIBRARY is libhqmm.a or libhqmm.so.
"""

import pathlib
import re
import subprocess
import sys

MOST = 150
# Parts of public classes that stand in public headers.
SHOWN_DETAIL = ("SymbolBlock", "Offsets", "CacheLineAllocator")


def declared(text):
    """The names that a header declares in namespace hqmm itself."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"^#[^\n]*", "", text, flags=re.M)
    text = re.sub(r"\[\[[^\]]*\]\]", "", text)
    found, spaces, statement, depth = set(), [], "", 0
    for character in text:
        if depth == 0 and character == "{":
            space = re.fullmatch(r"\s*namespace (?:HQMM_API )?(\S+)\s*", statement)
            if space:
                spaces.append(space.group(1))
                statement = ""
                continue
        if character == "{":
            depth += 1
            if depth == 1:
                statement += " {"
        elif character == "}":
            if depth == 0:
                spaces.pop()
                statement = ""
                continue
            depth -= 1
            if depth == 0 and re.search(r"\)[^=]*\{$", statement):  # a function's body: no semicolon follows
                found |= name_of(statement) if spaces == ["hqmm"] else set()
                statement = ""
        elif depth == 0 and character == ";":
            found |= name_of(statement) if spaces == ["hqmm"] else set()
            statement = ""
        elif depth == 0:
            statement += character
    return found


def name_of(statement):
    statement = " ".join(statement.split())
    if not statement or statement.startswith(("template <>", "using namespace")):
        return set()
    while statement.startswith("template <"):
        end, open_ = 9, 0
        for end in range(9, len(statement)):
            open_ += {"<": 1, ">": -1}.get(statement[end], 0)
            if open_ == 0:
                break
        statement = statement[end + 1 :].strip()
    for pattern in (
        r"(?:enum class|enum|class|struct) (\w+)",
        r"using (\w+) =",
        r"(?:inline )?constexpr [^(]*?(\w+) (?:=|\{)",
    ):
        match = re.match(pattern, statement)
        if match:
            return {match.group(1)}
    match = re.search(r"(\w+) ?\(", statement)
    if match is None:
        raise SystemExit(f"what is declared here? {statement}")
    return {match.group(1)}


def shown(library):
    """The demangled symbols of hqmm that others can link with."""
    table = subprocess.run(["readelf", "-sW", library], check=True, capture_output=True, text=True).stdout
    symbols = set()
    for line in table.splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[4] in ("GLOBAL", "WEAK", "UNIQUE") and fields[5] == "DEFAULT" and fields[6] != "UND":
            symbols.add(fields[7])
    plain = subprocess.run(["c++filt"], input="\n".join(symbols), check=True, capture_output=True, text=True).stdout
    return [s for s in plain.splitlines() if re.match(r"((vtable|typeinfo|typeinfo name|guard variable) for )?hqmm::", s)]


def beyond(symbol, names):
    """Whether a symbol is of a name that is not public."""
    path = re.sub(r"^(vtable|typeinfo name|typeinfo|guard variable) for ", "", symbol).split("::")
    first = re.match(r"~?\w*", path[1]).group()
    if first == "detail":
        return re.match(r"\w*", path[2]).group() not in SHOWN_DETAIL
    return first not in names


def main():
    include, list_file = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    names = set()
    for header in sorted((include / "hqmm").rglob("*.hpp")):
        names |= declared(header.read_text())
    if "--write" in sys.argv:
        list_file.write_text("".join(f"{name}\n" for name in sorted(names)))
        return
    kept = list_file.read_text().split()
    problems = [f"{name}: public, and not in {list_file.name}" for name in sorted(names - set(kept))]
    problems += [f"{name}: in {list_file.name}, and not public" for name in sorted(set(kept) - names)]
    if len(names) > MOST:
        problems.append(f"{len(names)} public names: {MOST} are enough")
    symbols = shown(sys.argv[3]) if len(sys.argv) > 3 else []
    problems += [f"{symbol}: shown by the library" for symbol in symbols if beyond(symbol, names)]
    print(f"{len(names)} public names, {len(symbols)} symbols")
    raise SystemExit("\n".join(problems) if problems else 0)


main()
