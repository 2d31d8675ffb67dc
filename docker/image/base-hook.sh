#!/bin/sh
# Runs in mmdebstrap with the unpacked root as $1. dev/ is not touched: mmdebstrap has mounts there.
set -eu
cd "$1"
rm -f etc/hostname etc/resolv.conf
mkdir -p usr/local/bin sbin models
# The Python backend starts its stub through bash, a shell alone is not enough; the rest is for whoever looks inside.
for applet in $(bin/busybox --list); do [ -e "bin/$applet" ] || ln -s busybox "bin/$applet"; done
ln -sf python3.11 usr/bin/python3
echo 'root:x:0:0:root:/root:/bin/sh' >etc/passwd
echo 'root:x:0:' >etc/group
echo 'hosts: files dns' >etc/nsswitch.conf
# Without bytecode each stub would compile the standard library at every start, half a second to two.
chroot . /usr/bin/python3.11 -m compileall -q --invalidation-mode unchecked-hash usr/lib/python3.11 || true
