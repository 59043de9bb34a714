# SPDX-License-Identifier: BSD-2-Clause
# abd-perf's dedupe and names against what Python finds in the same trees.
if(ABD_BUILD_TESTS)
	find_package(Python3 COMPONENTS Interpreter)
	if(Python3_FOUND)
		enable_testing()
		add_test(NAME perf.dedupe_names COMMAND ${Python3_EXECUTABLE} -B
			${PROJECT_SOURCE_DIR}/tests/perf/check_dedupe_names.py $<TARGET_FILE:abd-perf>)
		set_tests_properties(perf.dedupe_names PROPERTIES LABELS perf TIMEOUT 300)
	endif()
endif()
