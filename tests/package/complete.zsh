# SPDX-License-Identifier: Apache-2.0
# Prints what zsh offers for a line: complete.zsh FOLDER LINE. A shell in a terminal of its own is
# asked, since completion works nowhere else.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT=; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D"
zpty -w shell 'zstyle ":completion:*" list-packed no; setopt no_list_ambiguous; print -r -- rea""dy'
zpty -r -m shell ready '*ready*'
zpty -w -n shell "$2"$'\t\C-a: \C-e; print -r -- do""ne\n'
zpty -r -m shell line '*done*'
print -r -- "$line"
zpty -d shell
