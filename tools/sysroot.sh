#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Puts the libraries that libabd needs, for another architecture, into build/sysroot/ARCH. apt fetches Debian's packages with its own
# package lists below build/sysroot, and they are unpacked there. Nothing is installed, no architecture is added, no root is needed.
# The Linux headers are for compilers that bring none (musl-gcc); the other compilers have them in a package of their own.
# usage: tools/sysroot.sh ARCH        a Debian architecture: arm64, armhf, i386, s390x, amd64 ...
set -eu

arch=$1
cd "$(dirname "$0")/.."
root=$PWD/build/sysroot/$arch
packages="liblz4-dev liblz4-1 libxxhash-dev liburcu-dev liburcu8 liburing-dev linux-libc-dev"
# Rebuild a sysroot that has other packages.
[ "$(cat "$root/complete" 2>/dev/null || :)" != "$packages" ] || exit 0
rm -rf "$root"
mkdir -p "$root/apt/lists/partial" "$root/apt/cache/archives/partial" "$root/deb"
: >"$root/apt/status"

apt() {
	apt-get -q -o "APT::Architecture=$arch" -o "APT::Architectures=$arch" -o "Dir::State=$root/apt" \
		-o "Dir::State::lists=$root/apt/lists" -o "Dir::State::status=$root/apt/status" -o "Dir::Cache=$root/apt/cache" \
		-o "Acquire::Languages=none" -o "APT::Sandbox::User=" "$@"
}

# A package list may be unavailable (of security updates, for instance). A package that can't be fetched is a failure.
apt update || :
# shellcheck disable=SC2086
(cd "$root/deb" && apt download $packages)
for package in "$root"/deb/*.deb; do
	dpkg-deb -x "$package" "$root"
done
rm -rf "$root/deb" "$root/apt"
printf '%s\n' "$packages" >"$root/complete"
