#!/usr/bin/env bash
# Phrases that an English writer would not use, in what people read: pages, comments, messages, docstrings. "There is no X"
# is fine, and so is a list that names them: the changelog and this file are left out.
# usage: phrases.sh   (in the root of the repository)
set -euo pipefail
phrases=(
  '(^|[^e]) (is|are) no (a |an |the )?[a-z]+'  # "is not an X"; "there is no X" and "where is no X" pass
  '\bgone on with'                             # "resumed"
  'by its own reckoning'                       # "by its own figures"
  'what is printed is a'
  'has no direction, and one'
  'guessing every symbol'                      # "a uniform guess"
  '\bbehind (the|a) (Kraus|fast|data|paper)'   # "of", "that made"
)
status=0
for phrase in "${phrases[@]}"; do
  if git grep -nIE -e "$phrase" -- '*.md' '*.hpp' '*.cpp' '*.py' ':!CHANGELOG.md' ':!docs/studies' ':!fuzz/corpus'; then
    echo "  ^ reads oddly: $phrase"
    status=1
  fi
done
exit "$status"
