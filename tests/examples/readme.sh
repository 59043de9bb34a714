#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# examples/hello.c, behind its opening comments, is README's program, line by line.
# usage: readme.sh README HELLO
set -eu

readme=$(sed -n '/^```c$/,/^```$/p' "$1" | sed '1d;$d')
hello=$(sed -n '/^#include/,$p' "$2")
[ -n "$readme" ]
if [ "$readme" != "$hello" ]; then
	echo "FAIL README's program and $2 differ"
	exit 1
fi
