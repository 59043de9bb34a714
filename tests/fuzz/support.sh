# SPDX-License-Identifier: BSD-2-Clause
# Sourced by tests/gates/fuzz and tests/plants/run, from the top folder: the seeds and options of each target.
# shellcheck shell=sh

# fuzz_targets BUILD: all targets that were built, except the planted one.
fuzz_targets() {
	find "$1/tests/fuzz" -name 'fuzz_*' -type f -perm -u+x | sed 's/.*fuzz_//' | grep -v 'seeds$\|^plant$' | sort
}

# fuzz_seeds BUILD TARGET FOLDER: write the seeds of a target: lines of seeds.txt, and those that a program makes.
fuzz_seeds() {
	mkdir -p "$3"
	[ ! -x "$1/tests/fuzz/fuzz_${2%%_*}_seeds" ] || "$1/tests/fuzz/fuzz_${2%%_*}_seeds" "$3"
	sed -n "s/^$2 //p" tests/fuzz/seeds.txt | {
		fuzz_number=0
		while read -r fuzz_text; do
			fuzz_number=$((fuzz_number + 1))
			printf '%b' "$fuzz_text" >"$3/seed-$fuzz_number"
		done
	}
}

# fuzz_options TARGET: the longest useful input, and the target's dictionary.
fuzz_options() {
	echo -max_len=1024
	[ ! -e "tests/fuzz/$1.dict" ] || echo "-dict=tests/fuzz/$1.dict"
}
