#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every call of calls.txt occurs in the program.
# usage: calls.sh CALLS PROGRAM.c...
set -eu

missing=0
calls=$1
shift
while read -r call; do
	grep -q "[^a-z_]$call(" "$@" || {
		echo "FAIL: $call is in $calls, but not called in $*"
		missing=1
	}
done <"$calls"
exit "$missing"
