#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Run commands one by one, and fail if one of them leaves anything in /dev/shm or in the folder for temporary files. Each has both to
# itself: a file system of its own in /dev/shm, and in /tmp too unless this tree lies there. Without the right to mount (a container
# may refuse it) the test is skipped, by exit code 77.
# A command is a line of shell. What it exits with is not judged here, but a command that can't be run or dies of a signal fails.
# usage: leftovers.sh WORK COMMAND...
set -u

work=$1
shift
if [ "${ABD_LEFTOVERS_INSIDE:-}" = "" ]; then
	for how in "-m" "-rm"; do
		if unshare $how mount -t tmpfs tmpfs /dev/shm 2>/dev/null; then
			ABD_LEFTOVERS_INSIDE=1 exec unshare $how sh "$0" "$work" "$@"
		fi
	done
	echo "skipped: nothing can be mounted here"
	exit 77
fi

mount -t tmpfs tmpfs /dev/shm || exit 1
case $work in
/tmp/*)
	TMPDIR=$work
	rm -rf "$work"
	mkdir -p "$work" || exit 1
	;;
*)
	TMPDIR=/tmp
	mount -t tmpfs tmpfs /tmp || exit 1
	;;
esac
export TMPDIR
passed=0 failed=0
for command; do
	output=$(sh -c "$command" 2>&1 </dev/null)
	code=$?
	left=$(find /dev/shm "$TMPDIR" -mindepth 1)
	if [ "$code" -lt 126 ] && [ "$left" = "" ]; then
		passed=$((passed + 1))
		continue
	fi
	failed=$((failed + 1))
	printf '%s\nFAIL %s: exit code %s; left: %s\n' "$output" "$command" "$code" "$left"
	find /dev/shm "$TMPDIR" -mindepth 1 -delete
done
echo "$passed commands left nothing, $failed failed"
[ "$failed" -eq 0 ]
