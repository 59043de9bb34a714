# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the gates in tests/gates that build a preset and run its tests, from the top folder.
# Invariant: gate_end() ends with the lines that tests/row reads: "saw: N tests", "figure: ..." and "N passed, N failed".
# shellcheck shell=sh
# shellcheck source=tools/setup.sh
. tools/setup.sh

gate_jobs=$(abd_jobs)
gate_passed=0 gate_failed=0
ABD_GATE_TIER=${ABD_GATE_TIER:-ci}

gate_count() { # PASSED FAILED
	gate_passed=$((gate_passed + $1))
	gate_failed=$((gate_failed + $2))
}

# Say how much the gate has looked at. tests/row compares it with the head's line "# least: NUMBER WHAT".
gate_saw() { # "NUMBER WHAT"
	echo "saw: $1"
}

# Configure and build; a gate that can't build ends here.
gate_build() { # PRESET [CMAKE-BUILD-OPTION...]
	gate_preset=$1
	shift
	abd_configure "$gate_preset" || exit 1
	cmake --build "build/$gate_preset" -j "$gate_jobs" "$@" >"build/$gate_preset.log" 2>&1 ||
		{ cat "build/$gate_preset.log"; exit 1; }
}

# Run tests of a build and show those that failed, without those whose name fits LEFT-OUT. Those that say the same in every build run in
# release only. It is a failure to find no test, and so is an exit code of ctest other than 0, whatever its log says.
gate_ctest() { # BUILD-FOLDER LEFT-OUT CTEST-OPTION...
	gate_folder=$1 gate_without=${2:-'^$'} gate_code=0
	[ "$1" = build/release ] || gate_without="$(abd_tests_of_one_build)|$gate_without"
	shift 2
	ctest --test-dir "$gate_folder" -j "$gate_jobs" --timeout 7200 --no-label-summary --no-tests=error --output-on-failure -E "$gate_without" "$@" \
		>"$gate_folder/gate.log" 2>&1 || gate_code=$?
	[ "$gate_code" -eq 0 ] || grep -Ev '^ *$|^ *Start +[0-9]|   Passed  ' "$gate_folder/gate.log" || :
	# shellcheck disable=SC2046
	gate_count $(awk -v code="$gate_code" -f tests/totals.awk "$gate_folder/Testing/Temporary/LastTest.log")
}

# Some tests of a forkless program: the program is started once for each SUITE/NAME pattern. A pattern that matches no test is a failure.
gate_forkless() { # PROGRAM PATTERN...
	gate_program=$1
	shift
	for gate_pattern in "$@"; do
		if gate_output=$("$gate_program" "$gate_pattern" 2>&1) && ! echo "$gate_output" | grep -qx "0 passed, 0 failed"; then
			# shellcheck disable=SC2046
			gate_count $(printf '%s\n' "$gate_output" |
				sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' | tail -1)
		else
			printf '%s\n' "$gate_output"
			gate_count 0 1
		fi
	done
}

# Print the kernels that this CPU can't run, as "FILE FEATURE". A kernel's supported() is abd_cpu_runs_<feature>();
# tests/plants/probes/probe_cpu.c prints the answers on this machine. A kernel whose instruction a test emulates runs everywhere.
gate_stood_in="MOVDIR64B" # tests/flush/test_flush_around.c
gate_not_here() { # BUILD-FOLDER
	"$1/tests/plants/probes/probe_cpu" >"$1/gate.cpu" || return 1
	grep -ro 'abd_cpu_runs_[a-z0-9]*' --include='*.c' lib/*/x86 lib/*/arm64 | sed '/_any$/d; s/:abd_cpu_runs_/ /' | sort -u |
		while read -r gate_file gate_feature; do
			gate_feature=$(echo "$gate_feature" | tr a-z A-Z)
			if grep -qx "lacks $gate_feature" "$1/gate.cpu"; then
				# The kernels of arm64 are not built on x86.
				case "$gate_file $gate_feature" in
				*/arm64/* | *" $gate_stood_in") ;;
				*) echo "$gate_file $gate_feature" ;;
				esac
			elif ! grep -qx "has $gate_feature" "$1/gate.cpu"; then
				echo "$gate_file unknown-to-probe_cpu.c-$gate_feature"
			fi
		done
}

# Count one command as one test.
gate_step() { # WHAT COMMAND...
	gate_what=$1
	shift
	if gate_output=$("$@" 2>&1); then
		gate_count 1 0
	else
		printf '%s\n' "$gate_output" "FAILED: $gate_what"
		gate_count 0 1
	fi
}

# Count a command as many tests as its last line says: "N passed, N failed". What it says is shown.
gate_counted() { # COMMAND...
	gate_code=0
	gate_output=$("$@" 2>&1) || gate_code=$?
	printf '%s\n' "$gate_output" | sed '$d'
	# shellcheck disable=SC2046
	set -- $(printf '%s\n' "$gate_output" | sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
	gate_count "${1:-0}" "${2:-1}"
	[ "$gate_code" -eq 0 ] || [ "${2:-1}" -gt 0 ] || gate_count 0 1
}

# A planted bug: the command must fail, and its output must match MESSAGE, an extended regular expression.
gate_plant() { # MESSAGE COMMAND...
	gate_step "planted bug: $*" sh tests/plants/probes/must_fail.sh "$@"
}

# End a gate: print what it saw, its figure and its counts. Returns 1 if anything failed.
gate_end() { # FIGURE
	gate_saw "$((gate_passed + gate_failed)) tests"
	echo "figure: $1"
	echo "$gate_passed passed, $gate_failed failed"
	[ "$gate_failed" -eq 0 ]
}
