# SPDX-License-Identifier: BSD-2-Clause
# From ctest's log (Testing/Temporary/LastTest.log), how many tests passed and failed: "PASSED FAILED".
# A program of unit tests counts for as many as it says; every other, and every probe, for one. A program that failed in
# another way than its count tells (it crashed, hung, leaked) is one failure more. So is ctest itself, when its exit code
# (-v code=N) is not 0 and no test's failure says why.

function entry_ends() {
	if (name == "")
		return
	if (inner_passed + inner_failed == 0 || name !~ /\.(criterion|forkless)$/) {
		inner_passed = ok
		inner_failed = !ok
	} else if (!ok && inner_failed == 0)
		inner_failed = 1
	passed += inner_passed
	failed += inner_failed
	name = ""
}

/^[0-9]+\/[0-9]+ Testing: / {
	entry_ends()
	name = $3
	ok = missing = inner_passed = inner_failed = 0
}
/^Command: ""$/ { missing = 1 } # not built; the log goes on to say that it passed
/^[0-9]+ passed, [0-9]+ failed$/ {
	inner_passed = $1
	inner_failed = $3
}
/Synthesis: Tested: / {
	for (i = 1; i < NF; i++) {
		if ($i == "Passing:")
			inner_passed = $(i + 1)
		if ($i == "Failing:") # counts those that crashed, too
			inner_failed = $(i + 1)
	}
}
/^Test Passed\.$/ { ok = !missing }
END {
	entry_ends()
	if (code != 0 && failed == 0)
		failed = 1
	print passed + 0, failed + 0
}
