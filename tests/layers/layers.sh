#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Upward and sideways includes do not compile; those that a layer says it sees do.
# usage: layers.sh LAYERS LIB CC [DOWN]
#   LAYERS  one line per layer, "NAME DIR;DIR;...": the include folders, from the targets themselves
#   LIB     the folder that holds the layers' folders
#   DOWN    a planted mistake for the probe: the rank that counts as lower, "lower" (right) or "higher" (wrong)
set -eu

layers=$1 lib=$2 cc=$3 below=${4:-lower}
passed=0 failed=0

# Where each layer stands; from the design. A layer may only see those of a smaller number.
rank() {
	case $1 in
	base) echo 0 ;;
	chunk | compare | copy | flush) echo 1 ;;
	abd) echo 2 ;;
	codec | uring) echo 3 ;;
	arc) echo 4 ;;
	tuning) echo 5 ;; # knows every layer's tunables; nothing includes it
	*) echo "layers: lib/$1 has no rank: say in tests/layers/layers.sh where it stands" >&2; exit 2 ;;
	esac
}

is_below() {
	if [ "$below" = lower ]; then
		[ "$1" -lt "$2" ]
	else
		[ "$1" -gt "$2" ]
	fi
}

# With the include folders of one layer, include a file of another: prints nothing if it compiles, else the first error.
try_include() {
	printf '#include "%s"\n' "$2" |
		eval "$cc" -x c -std=c11 -D_GNU_SOURCE -DABD_CHECKED=0 -fsyntax-only "$1" - 2>&1 |
		grep -m 1 error || true
}

is_unseen() {
	case $1 in
	*"No such file"* | *"file not found"*) return 0 ;;
	esac
	return 1
}

result() { # VERDICT
	if [ "$1" = ok ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $1"
	fi
}

# Any file shows that a folder is out of sight, so a source stands in where a layer has no header.
check_upward() { # FROM FLAGS TO
	for file in "$lib/$3"/*.h "$lib/$3"/*.c; do
		[ -e "$file" ] || continue
		error=$(try_include "$2" "${file##*/}")
		if is_unseen "$error"; then
			result ok
		else
			result "$1 can include ${file##*/} of $3, which is not below it"
		fi
		return
	done
}

# A layer may leave a lower one out of its SEES, base excepted. What it sees compiles: some header of it does, for a few are
# bodies that only compile inside their own layer.
check_downward() { # FROM FLAGS TO
	for file in "$lib/$3"/*.h; do
		[ -e "$file" ] || continue
		error=$(try_include "$2" "${file##*/}")
		if [ -z "$error" ]; then
			result ok
			return
		fi
		if is_unseen "$error" && [ "$3" != base ]; then
			return
		fi
		problem="$1 includes ${file##*/} of $3: $error"
	done
	[ -z "${problem:-}" ] || result "$problem"
	problem=
}

while read -r from dirs; do
	flags=$(printf '%s' "$dirs" | sed "s/;/' -I'/g; s/^/-I'/; s/\$/'/")
	from_rank=$(rank "$from")
	while read -r to _; do
		[ "$to" != "$from" ] || continue
		to_rank=$(rank "$to")
		if is_below "$to_rank" "$from_rank"; then
			check_downward "$from" "$flags" "$to"
		else
			check_upward "$from" "$flags" "$to"
		fi
	done <"$layers"
done <"$layers"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
