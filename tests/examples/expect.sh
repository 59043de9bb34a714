#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A program must exit with 0 and print exactly what is expected.
# usage: expect.sh TEXT COMMAND [ARGUMENT...]
set -u

expected=$1
shift
output=$("$@" 2>&1)
code=$?
printf '%s\n' "$output"
if [ "$code" -ne 0 ] || [ "$output" != "$expected" ]; then
	printf 'FAIL exit code %s; expected:\n%s\n' "$code" "$expected"
	exit 1
fi
