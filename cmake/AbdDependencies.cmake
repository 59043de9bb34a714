# SPDX-License-Identifier: BSD-2-Clause
# What the library itself needs: lz4 and xxhash's header always, jemalloc where it is installed. Debian ships pkg-config files for them,
# but no CMake packages. So they are linked by name, and programs that use an installed abd need not find them.
find_package(PkgConfig REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

pkg_check_modules(ABD_LZ4 REQUIRED liblz4)
pkg_check_modules(ABD_XXHASH REQUIRED libxxhash) # its header only: the code is compiled in
pkg_check_modules(ABD_JEMALLOC QUIET jemalloc)
find_library(ABD_JEMALLOC_ARCHIVE libjemalloc_pic.a HINTS ${ABD_JEMALLOC_LIBRARY_DIRS} ${ABD_JEMALLOC_LIBDIR})
set(abd_jemalloc_found OFF)
if(ABD_JEMALLOC_FOUND AND ABD_JEMALLOC_ARCHIVE)
	set(abd_jemalloc_found ON)
endif()

option(ABD_WITH_JEMALLOC "Build abd::jemalloc, for programs that ask for runs from a jemalloc arena" ${abd_jemalloc_found})
if(ABD_WITH_JEMALLOC AND NOT abd_jemalloc_found)
	message(FATAL_ERROR "ABD_WITH_JEMALLOC is on, but there is no jemalloc, or no libjemalloc_pic.a of it (Debian: libjemalloc-dev)")
endif()

# The cache. bp is liburcu's flavour whose threads register themselves; see lib/arc/abd_arc_rcu.h.
pkg_check_modules(ABD_LIBURCU QUIET liburcu-bp)
option(ABD_WITH_ARC "Build the adaptive replacement cache (needs liburcu)" ${ABD_LIBURCU_FOUND})
if(ABD_WITH_ARC AND NOT ABD_LIBURCU_FOUND)
	message(FATAL_ERROR "ABD_WITH_ARC is on, but pkg-config knows no liburcu-bp (Debian: liburcu-dev)")
endif()
if(NOT ABD_WITH_ARC)
	message(STATUS "abd: the cache (abd/arc.h) is left out; it needs liburcu-bp (Debian: liburcu-dev)")
endif()
set(ABD_URCU_LIBRARIES "")
set(ABD_URCU_LIBRARY_DIRS "")
if(ABD_WITH_ARC)
	set(ABD_URCU_LIBRARIES ${ABD_LIBURCU_LIBRARIES})
	set(ABD_URCU_LIBRARY_DIRS ${ABD_LIBURCU_LIBRARY_DIRS})
endif()

# What lib/arc is compiled with.
function(abd_urcu target)
	target_include_directories(${target} SYSTEM PRIVATE ${ABD_LIBURCU_INCLUDE_DIRS})
	set(standin ${PROJECT_SOURCE_DIR}/tests/support/standin)
	if(ABD_SANITIZE)
		# liburcu's entries are aligned less than their type says, of which UndefinedBehaviorSanitizer tells where the read side is inlined.
		target_include_directories(${target} BEFORE PRIVATE ${standin}/reader)
	endif()
	if(ABD_SANITIZE MATCHES "thread|memory")
		# They can't see into liburcu.
		target_include_directories(${target} BEFORE PRIVATE ${standin})
	endif()
endfunction()

# Reads and writes by io_uring.
pkg_check_modules(ABD_LIBURING QUIET liburing)
option(ABD_WITH_URING "Build the calls for io_uring (needs liburing)" ${ABD_LIBURING_FOUND})
if(ABD_WITH_URING AND NOT ABD_LIBURING_FOUND)
	message(FATAL_ERROR "ABD_WITH_URING is on, but pkg-config knows no liburing (Debian: liburing-dev)")
endif()
set(ABD_URING_LIBRARIES "")
set(ABD_URING_LIBRARY_DIRS "")
set(ABD_URING_INCLUDE_DIRS "")
if(ABD_WITH_URING)
	set(ABD_URING_LIBRARIES ${ABD_LIBURING_LIBRARIES})
	set(ABD_URING_LIBRARY_DIRS ${ABD_LIBURING_LIBRARY_DIRS})
	set(ABD_URING_INCLUDE_DIRS ${ABD_LIBURING_INCLUDE_DIRS})
endif()

# The remaining folders are places where the linker doesn't look by itself.
foreach(dirs ABD_LZ4_LIBRARY_DIRS ABD_URCU_LIBRARY_DIRS ABD_URING_LIBRARY_DIRS)
	list(REMOVE_ITEM ${dirs} ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
endforeach()
