# SPDX-License-Identifier: BSD-2-Clause
# Sourced by tests/run, perf/run and the gates: messages, and installing the packages that a command needs.
# A tool or a library may come from anywhere: a command is looked for in PATH, a library by pkg-config. Only missing packages
# are installed, so a second call installs nothing.

abd_say() {
	printf '%s\n' "== $*"
}

# How many processors a command may use: ABD_JOBS, or all. tests/run sets ABD_JOBS for the gates that it starts side by side.
abd_jobs() {
	echo "${ABD_JOBS:-$(nproc 2>/dev/null || echo 2)}"
}

# Print how to look for what a Debian package provides: a command, a header, a library, or the package itself.
abd_need_probe() {
	case $1 in
	binutils) echo command objdump ;;
	git | make | cmake | cargo | rustc | ccache | ninja-build | pkg-config | clang | clang-format | gcovr | python3 | valgrind | lcov | gcc | g++ | fio)
		echo command "${1%-build}" ;;
	libc6-dev) echo header stdio.h ;;
	libcriterion-dev) echo library criterion ;;
	libisal-dev) echo library libisal ;;
	libjansson-dev) echo library jansson ;;
	libjemalloc-dev) echo library jemalloc ;;
	liblz4-dev) echo library liblz4 ;;
	liburcu-dev) echo library liburcu-bp ;;
	liburing-dev) echo library liburing ;;
	libxxhash-dev) echo library libxxhash ;;
	*) echo package "$1" ;;
	esac
}

abd_need_is_met() {
	# shellcheck disable=SC2046
	set -- $(abd_need_probe "$1")
	case $1 in
	command) command -v "$2" >/dev/null 2>&1 ;;
	header) [ -e "/usr/include/$2" ] ;;
	library) pkg-config --exists "$2" 2>/dev/null ;;
	package) dpkg-query -W -f '${Status}' "$2" 2>/dev/null | grep -q 'ok installed' ;;
	esac
}

# Run a command as root: as we are, or with sudo.
abd_as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

abd_install() {
	# A fresh system has no package lists, and others may have lists that are too old: then fetch them and try once more.
	# Gates run side by side and one may hold dpkg's lock, so wait up to 600 s for it.
	set -- env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=600 "$@"
	abd_as_root "$@" || { abd_as_root apt-get update -q && abd_as_root "$@"; }
}

# abd_need_packages PACKAGE...: install what is missing, or print exactly what to install and exit 1.
# Package names are Debian's. On other systems the message says how each package is looked for.
abd_need_packages() {
	abd_missing=
	for abd_package in "$@"; do
		abd_need_is_met "$abd_package" || abd_missing="$abd_missing $abd_package"
	done
	[ -n "$abd_missing" ] || return 0

	if command -v apt-get >/dev/null 2>&1 &&
		{ [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null 2>&1; }; then
		abd_say "installing:$abd_missing"
		# shellcheck disable=SC2086
		if ! abd_install $abd_missing; then
			abd_say "could not install:$abd_missing"
			exit 1
		fi
		return 0
	fi

	if command -v apt-get >/dev/null 2>&1; then
		abd_say "missing, and neither root nor sudo to install it. Run: apt-get install$abd_missing" >&2
	else
		abd_say "missing, and no apt-get to install it (package names are Debian's):" >&2
		for abd_package in $abd_missing; do
			printf '   %-18s looked for as %s\n' "$abd_package" "$(abd_need_probe "$abd_package")" >&2
		done
	fi
	exit 1
}

# abd_configure PRESET: configure build/PRESET, unless it exists and is newer than CMakePresets.json. Run from the top folder.
abd_configure() {
	if [ -e "build/$1/build.ninja" ] && [ -n "$(find "build/$1/CMakeCache.txt" -newer CMakePresets.json)" ]; then
		return 0
	fi
	abd_say "$1: configuring"
	mkdir -p build
	cmake --preset "$1" >"build/$1.log" 2>&1 || { cat "build/$1.log"; return 1; }
}

# Print the cmake options that build the library alone: each turns off one of the other things that CMakeLists.txt can build.
abd_library_only() {
	sed -n 's/^option(\(ABD_BUILD_[A-Z]*\|ABD_INSTALL\) .*/-D\1=OFF/p' CMakeLists.txt
}

# Print the tests whose answer is the same in every build: hit ratios, memory over a long run, a record of gigabytes, files written with
# O_DIRECT, how many records one put evicts. The code that they run is also run by short tests. Builds with a checker leave them out,
# except in tier full.
abd_tests_of_figures() {
	echo "arc_policy/batches* arc_resident/* arc_uses/a_scan* abd_arc_admission/a_scan_takes* arc_shards/none_starves*
		arc_holds/a_put_of_a_large_record* arc_holds/no_put_frees* arc_waits/the_index_shrinks* abd_arc_resize/what_an_index_was*
		abd_memory/what_*_leaves_behind* abd_memory/so_does* abd_memory/free_pages* abd_lz4_huge/*"
}

# Print a regular expression of the tests that say the same in every build: they read the tree or other programs than the library, or
# start one many times.
abd_tests_of_one_build() {
	echo '^(probe\.)?(docs|layers|leftovers|exports\.headers|dialect\.names|cpp\.(compile|misuse|path))|^(flush_log\.killed|host\.memory)$'
}
