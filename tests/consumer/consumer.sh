#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Install the library into a prefix of its own and use nothing but that: by find_package and by pkg-config, in C and C++, then
# once more after the prefix was moved. Or, as "subdirectory" or by FetchContent as "fetch", as a part of another project.
# From Go and Python too, where they are installed. PROVIDER is jemalloc if the library offers it to programs that ask, else empty.
# OPTIONs configure the library. An empty CXX leaves C++ out.
# usage: consumer.sh shared|static|subdirectory|fetch SOURCE WORK CC CXX PROVIDER OPTION...
set -eu

way=$1 source=$2 work=$3 cc=$4 cxx=$5 provider=$6
shift 6
here=$source/tests/consumer
jobs=${ABD_JOBS:-$(nproc 2>/dev/null || echo 2)}
passed=0 failed=0 lib=
rm -rf "$work"
mkdir -p "$work"
unset ABD_MAX_ORDER LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH
# Linking is what is tested; in ci the library is compiled without optimisation.
fast=
[ "${ABD_GATE_TIER:-full}" = full ] || fast=-DCMAKE_C_FLAGS_RELEASE=-O0\ -DNDEBUG

run() { # what may be noisy while it works
	"$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "FAIL $*"; exit 1; }
}

expect() { # WHAT TEXT COMMAND...
	what=$1 text=$2
	shift 2
	output=$("$@" 2>&1) && code=0 || code=$?
	if [ "$code" -eq 0 ] && printf '%s\n' "$output" | grep -Fq -e "$text"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf '%s\nFAIL %s: exit code %s\n' "$output" "$what" "$code"
	fi
}

# The programs in a folder, built in whatever way.
expect_all() { # WHAT FOLDER
	expect "$1: consumer" "linear 1, linear_page 1, same address 1, borrows 2, borrow copies 0" "$2/consumer"
	expect "$1: host" "malloc belongs to libc.so" env ABD_CHUNK_PROVIDER=jemalloc "$2/host" regions
	[ -z "$cxx" ] || expect "$1: host_cxx" "_Znwm belongs to libstdc++" "$2/host_cxx" regions
	# Asked for, it is the provider, and no more: malloc stays the host's.
	[ -z "$provider" ] || expect "$1: host_jemalloc" "malloc belongs to libc.so" env ABD_CHUNK_PROVIDER="$provider" "$2/host_jemalloc" "$provider"
	for kind in module shared; do
		expect "$1: $kind library opened late, and closed" "0 failed" "$2/host_close" "$2/host_$kind.so"
	done
}

by_cmake() { # WHAT OPTION...
	what=$1
	shift
	rm -rf "$work/by_cmake"
	run cmake -S "$here" -B "$work/by_cmake" -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Release ${fast:+"$fast"} \
		${cxx:+-DCONSUMER_CXX=ON -DCMAKE_CXX_COMPILER="$cxx"} "$@"
	run cmake --build "$work/by_cmake" -j "$jobs"
	expect_all "$what" "$work/by_cmake"
	rm -rf "$work/installed"
	run cmake --install "$work/by_cmake" --prefix "$work/installed"
	mv "$work/by_cmake" "$work/away"
	expect "$what, installed" "borrow copies 0" env LD_LIBRARY_PATH="$lib" "$work/installed/bin/consumer"
	rm -rf "$work/away"
}

by_pkg_config() { # WHAT PREFIX
	rm -rf "$work/by_pkg_config"
	mkdir "$work/by_pkg_config"
	pc=$(find "$2" -name abd.pc)
	PKG_CONFIG_PATH=${pc%/*}
	export PKG_CONFIG_PATH
	lib=${PKG_CONFIG_PATH%/pkgconfig}
	if [ "$way" = static ]; then
		for kind in -static -static-pie; do
			# shellcheck disable=SC2046
			run "$cc" -std=c11 $kind "$here/consumer.c" -o "$work/by_pkg_config/consumer" $(pkg-config --static --cflags --libs abd)
			expect "$1, a program without shared libraries, $kind" "borrow copies 0" "$work/by_pkg_config/consumer"
		done
	else
		expect "$1, the library alone" "names:-labd::" echo "names:$(pkg-config --libs-only-l abd | tr -d ' '):$(pkg-config --libs-only-other abd):"
		other_languages "$1"
	fi
	for flags in "$(pkg-config --cflags --libs abd)" "-Wl,--as-needed $(pkg-config --cflags --libs abd)" \
		"$(pkg-config --static --cflags --libs abd)"; do
		# shellcheck disable=SC2086,SC2046
		{
			run "$cc" -std=c11 "$here/consumer.c" -o "$work/by_pkg_config/consumer" $flags "-Wl,-rpath,$lib"
			run "$cc" -std=c11 "$source/tests/host/host.c" -o "$work/by_pkg_config/host" $flags -ldl \
				"-Wl,-rpath,$lib"
			run "$cc" -std=c11 "$source/tests/host/host_close.c" -o "$work/by_pkg_config/host_close" -pthread -ldl
			for kind in module shared; do
				run "$cc" -std=c11 -fPIC -shared "$source/tests/host/host_plugin.c" \
					-o "$work/by_pkg_config/host_$kind.so" $flags "-Wl,-rpath,$lib"
			done
			# Distributions link with --as-needed: what was asked for has to survive that.
			[ -z "$provider" ] || run "$cc" -std=c11 "$source/tests/host/host.c" -o "$work/by_pkg_config/host_jemalloc" $flags \
				$(pkg-config --libs abd-jemalloc) -ldl "-Wl,-rpath,$lib"
			[ -z "$cxx" ] || run "$cxx" -std=c++17 "$source/tests/host/host_cxx.cpp" \
				-o "$work/by_pkg_config/host_cxx" $flags -ldl "-Wl,-rpath,$lib"
		}
		expect_all "$1, $flags" "$work/by_pkg_config"
	done
	unset PKG_CONFIG_PATH
}

# Go refuses flags that it does not know; Python opens the library while it runs.
other_languages() { # WHAT
	if command -v go >/dev/null; then
		mkdir -p "$work/go"
		cp "$here/consumer.go" "$work/go"
		run env -C "$work/go" GOCACHE="$work/go/cache" GOFLAGS=-mod=mod GO111MODULE=off CGO_ENABLED=1 \
			go build -o "$work/go/consumer" consumer.go
		expect "$1, cgo" "borrow copies 0" env LD_LIBRARY_PATH="$lib" "$work/go/consumer"
	fi
	command -v python3 >/dev/null || return 0
	expect "$1, ctypes" "borrow copies 0" python3 "$here/consumer.py" "$lib/libabd.so"
}

by_package() { # WHAT PREFIX
	lib=$(find "$2" -name abd.pc)
	lib=${lib%/pkgconfig/abd.pc}
	by_cmake "$1 by find_package" -DCMAKE_PREFIX_PATH="$2"
	by_pkg_config "$1 by pkg-config" "$2"
}

case $way in
subdirectory)
	all="ON OFF"
	[ "${ABD_GATE_TIER:-full}" = full ] || all=ON # each takes as long as the library does
	for shared in $all; do
		by_cmake "$way, BUILD_SHARED_LIBS=$shared" -DABD_SOURCE="$source" -DBUILD_SHARED_LIBS="$shared" -DABD_INSTALL=ON \
			-DCMAKE_C_FLAGS="-Wall -Wextra -Wpedantic -Wcast-qual -Werror" "$@"
	done
	;;
fetch)
	by_cmake "$way" -DABD_FETCH="$source" "$@"
	;;
shared | static)
	shared=ON
	[ "$way" = shared ] || shared=OFF
	run cmake -S "$source" -B "$work/build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Release ${fast:+"$fast"} \
		-DBUILD_SHARED_LIBS=$shared -DABD_BUILD_TESTS=OFF -DABD_BUILD_PERF=OFF -DABD_BUILD_EXPLAIN=OFF -DABD_BUILD_EXAMPLES=OFF \
		-DCMAKE_INSTALL_PREFIX="$work/first" "$@"
	run cmake --build "$work/build" -j "$jobs"
	run cmake --install "$work/build"
	# Once more to folders that are given as absolute paths; CMake wants headers outside of the source's folder.
	apart=$(mktemp -d)
	trap 'rm -rf "$apart"' EXIT
	run cmake -S "$source" -B "$work/build" -DCMAKE_INSTALL_LIBDIR="$apart/lib/machine" \
		-DCMAKE_INSTALL_INCLUDEDIR="$apart/headers" -DCMAKE_INSTALL_PREFIX="$apart/prefix"
	run cmake --install "$work/build"
	# From here on there is only what was installed.
	rm -rf "$work/build"
	expect "the package names no place of this machine" "" \
		sh -c "! grep -rIl -e '$work' -e '$source' '$work/first'"
	by_package "$way" "$work/first"
	by_pkg_config "$way, absolute folders" "$apart"
	mv "$work/first" "$work/moved"
	by_package "$way, moved" "$work/moved"
	;;
*)
	echo "no way $way"
	exit 2
	;;
esac
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
