#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# debian/ builds packages in which lintian finds no error, which can be installed, used and purged:
# each in a chroot of Debian 12, of which only copies are changed. Minutes, and needs root, a network
# and debootstrap: for STRAG_TEST_FULL=1. STRAG_DEBIAN=DIR is a chroot of bookworm to start from, such
# as test/matrix/run.sh has.
set -eu
. "${srcdir:?run me by make check}/test/dist/common.sh"

[ -n "${STRAG_TEST_FULL:-}" ] || skip 'builds packages in chroots, which takes minutes: STRAG_TEST_FULL=1'
[ "$(id -u)" = 0 ] || skip 'not root, who can make chroots'
[ -n "${STRAG_DEBIAN:-}" ] || command -v debootstrap > /dev/null || skip 'no debootstrap'
unshare --mount true 2> /dev/null || skip 'no namespaces of mounts here'

own_folder debian

# logged COMMAND...: what it prints is shown if it fails
logged()
{
    "$@" > "$work/log" 2>&1 < /dev/null || { tail -n 30 "$work/log"; fail "$*"; }
}

# enter NAME COMMAND...: run in the copy of that name, whose changes are kept in $work/NAME. Mounts
# and processes end with the command.
enter()
{
    local name=$1
    shift
    mkdir -p "$work/$name/changes" "$work/$name/overlay" "$work/$name/root"
    unshare --mount --pid --fork --kill-child bash -eu -c '
        base=$1 name=$2
        shift 2
        mount -t overlay overlay "$name/root" \
            -o "lowerdir=$base,upperdir=$name/changes,workdir=$name/overlay"
        mount -t proc proc "$name/root/proc"
        mount --rbind /dev "$name/root/dev"
        mount -t tmpfs tmpfs "$name/root/dev/shm"
        cp /etc/resolv.conf "$name/root/etc/resolv.conf"
        exec chroot "$name/root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive OMPI_ALLOW_RUN_AS_ROOT=1 \
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@"' enter "$base" "$work/$name" "$@"
}

base=${STRAG_DEBIAN:-$work/bookworm}
[ -d "$base" ] || logged debootstrap --variant=minbase bookworm "$base"

# ---- Build ----

mkdir -p "$work/build/changes/build"
logged make -C "$builddir" distdir distdir="$work/strag" top_distdir="$work/strag"
mv "$work/strag" "$work/build/changes/build/strag"
logged enter build apt-get -q update
logged enter build apt-get -q -y install --no-install-recommends build-essential debhelper lintian
logged enter build bash -c 'cd /build/strag && apt-get -q -y build-dep --no-install-recommends .'
logged enter build bash -c 'cd /build/strag && nice dpkg-buildpackage -b -us -uc -j2'
enter build bash -c 'cd /build && lintian --fail-on none --tag-display-limit 0 --display-info *.changes' \
    > "$work/lintian" 2>&1 || { cat "$work/lintian"; fail 'lintian'; }
# It has looked: this one is right, and stays until the library has a release.
grep -q '^I: libstrag0: no-symbols-control-file' "$work/lintian" || { cat "$work/lintian"; fail 'what lintian says'; }
if grep '^E: ' "$work/lintian"; then
    fail 'lintian found errors'
fi
grep '^W: ' "$work/lintian" || true
echo "ok: $(cd "$work/build/changes/build" && echo ./*.deb): no errors"

# ---- Install, use, purge ----

mkdir -p "$work/use/changes/packages"
cp "$work"/build/changes/build/{strag,libstrag0,libstrag-dev}_*.deb "$work/use/changes/packages/"
cp "$srcdir/test/dist/sum.c" "$work/use/changes/packages/"
cat > "$work/use/changes/packages/use" << 'END'
set -eu
cd /packages
apt-get -q update
apt-get -q -y install --no-install-recommends openmpi-bin libopenmpi-dev gcc libc6-dev pkg-config
mpicc sum.c -o sum
files() {
    find / -xdev \( -path /proc -o -path /packages -o -path /var/lib/dpkg -o -path /var/lib/apt \
        -o -path /var/cache -o -path /var/log -o -path /tmp \) -prune -o -print | sort
}
files > before
apt-get -q -y install ./*.deb
mpirun --oversubscribe -np 2 --mca coll strag --mca coll_strag_verbose 1 --mca coll_strag_minimum_size 0 \
    --mca pml ob1 ./sum > out 2>&1
grep -q '^sum 3$' out && grep -q 'coll:strag: .*allreduce of' out || { cat out; exit 1; }
! ompi_info --param coll strag --level 9 | grep -q 'not found'
strag verify ring -n 5
test -e /usr/share/man/man7/coll_strag.7.gz
cc -Wall -Werror /usr/share/doc/libstrag-dev/examples/library.c -o library $(pkg-config --cflags --libs strag)
printf 'SwitchName=s Nodes=a,b,c\n' > layout
./library layout
apt-get -q -y purge --autoremove strag libstrag0 libstrag-dev
files > after
diff before after
END
logged enter use bash /packages/use
grep '^3 ranks on 3 hosts' "$work/log" || fail 'the example'
echo 'ok: installed, used and purged; nothing is left'
