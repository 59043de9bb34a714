# SPDX-License-Identifier: BSD-2-Clause
# The targets whose input is operations or text; the lz4 decoders' are in CMakeLists.txt.
foreach(name buffer tuning arc)
	if(name STREQUAL "arc" AND NOT ABD_WITH_ARC)
		continue()
	endif()
	add_executable(fuzz_${name} fuzz_${name}.c)
	target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
	target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
	target_link_libraries(fuzz_${name} PRIVATE abd_settings abd_internal Threads::Threads)
endforeach()

# A library that forgets a byte in one case of sixty-odd thousand, which the fuzzer must find (tests/gates/fuzz).
add_executable(fuzz_plant fuzz_buffer.c fuzz_plant.c)
target_compile_options(fuzz_plant PRIVATE -fsanitize=fuzzer)
target_link_options(fuzz_plant PRIVATE -fsanitize=fuzzer -Wl,--wrap=abd_zero_off)
target_link_libraries(fuzz_plant PRIVATE abd_settings abd_internal Threads::Threads)
