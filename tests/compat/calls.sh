#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every call of calls.txt occurs in the program.
# usage: calls.sh CALLS PROGRAM.c
set -eu

missing=0
while read -r call; do
	grep -q "[^a-z_]$call(" "$2" || {
		echo "FAIL: $call is in $1, but not called in $2"
		missing=1
	}
done <"$1"
exit "$missing"
