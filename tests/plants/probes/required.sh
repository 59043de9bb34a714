#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The plants that a preset's build must have are among its tests: required.txt has lines of a preset's name and its probes.
# usage: required.sh BUILD-FOLDER      the folder bears the preset's name
# Looked up in the files that ctest reads: a ctest within a ctest would write over the outer one's log.
set -eu

folder=${0%/*}
preset=${1##*/}
there=$(find "$1/tests" -name CTestTestfile.cmake -exec sed -n 's/^add_test(\[*=*\[*"*probe\.\([a-z0-9_.]*\).*/\1/p' {} +)
missing=0
# shellcheck disable=SC2013
for probe in $(sed -n "s/^$preset //p" "$folder/required.txt"); do
	printf '%s\n' "$there" | grep -Fqx -e "$probe" || {
		echo "preset $preset has no probe $probe"
		missing=$((missing + 1))
	}
done
[ "$missing" -eq 0 ]
