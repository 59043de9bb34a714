#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A gate that must catch a planted bug: the command has to fail, and to say why.
# usage: must_fail.sh MESSAGE COMMAND [ARGUMENT...]      MESSAGE: an extended regular expression; of a command that a signal
# ended, "ended by signal N" can be asked for.
set -u

message=$1
shift
# The subshell takes the shell's own line about a process that died of a signal.
output=$( ("$@") 2>&1 </dev/null)
code=$?
[ "$code" -le 128 ] || output="$output
ended by signal $((code - 128))"
printf '%s\n' "$output"
if [ "$code" -eq 0 ]; then
	echo "PROBE: the planted bug went unnoticed: exit code 0"
	exit 1
fi
if ! printf '%s\n' "$output" | grep -Eq -e "$message"; then
	echo "PROBE: exit code $code, but nothing in the output matches: $message"
	exit 1
fi
echo "PROBE: caught, exit code $code"
