#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Packages in chroots of Debian, of which only copies are changed. debian/ builds packages in which lintian finds no
# error, and dist/strag.spec RPMs in which rpmlint finds none; both are installed, used and removed, and leave nothing.
# What dist/Containerfile runs makes a container that runs strag. There environment-modules and Lmod load and unload
# the modules.
#
# Needs root, a network and debootstrap, and takes minutes: for STRAG_TEST_FULL=1.
#     STRAG_SUITE=trixie       the suite; bookworm by default, the only one in which RPMs and the container are made
#     STRAG_DEBIAN=DIR         a chroot of the suite to start from, without Open MPI
#     STRAG_PARTS='debian rpm container modules'    some of them; modules are tried in the container
set -eu
# shellcheck source=test/dist/common.sh
. "${srcdir:?run me by make check}/test/dist/common.sh"

[ -n "${STRAG_TEST_FULL:-}" ] || skip 'builds packages in chroots, which takes minutes: STRAG_TEST_FULL=1'
[ "$(id -u)" = 0 ] || skip 'not root, who can make chroots'
[ -n "${STRAG_DEBIAN:-}" ] || command -v debootstrap > /dev/null || skip 'no debootstrap'
unshare --mount true 2> /dev/null || skip 'no namespaces of mounts here'
suite=${STRAG_SUITE:-bookworm}
parts=debian
[ "$suite" != bookworm ] || parts='debian rpm container modules'
parts=${STRAG_PARTS:-$parts}
own_folder chroots

# logged COMMAND...: what it prints is shown if it fails
logged()
{
    "$@" > "$work/log" 2>&1 < /dev/null || { tail -n 30 "$work/log"; fail "$*"; }
}

# copy NAME [OF]: a copy of the chroot, or of another copy; only what differs is stored
declare -A below
copy()
{
    mkdir -p "$work/$1/changes" "$work/$1/overlay" "$work/$1/root"
    below[$1]=$base
    if [ -n "${2-}" ]; then
        below[$1]=$work/$2/changes:${below[$2]}
    fi
}

# enter NAME COMMAND...: run in the copy of that name. Mounts and processes end with the command.
enter()
{
    local name=$1
    shift
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount --pid --fork --kill-child bash -eu -c '
        below=$1 name=$2
        shift 2
        mount -t overlay overlay "$name/root" \
            -o "lowerdir=$below,upperdir=$name/changes,workdir=$name/overlay"
        mount -t proc proc "$name/root/proc"
        mount --rbind /dev "$name/root/dev"
        mount -t tmpfs tmpfs "$name/root/dev/shm"
        cp /etc/resolv.conf "$name/root/etc/resolv.conf"
        printf "127.0.0.1 localhost\n127.0.1.1 %s\n" "$(hostname)" > "$name/root/etc/hosts"
        exec chroot "$name/root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive OMPI_ALLOW_RUN_AS_ROOT=1 \
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@"' enter "${below[$name]}" "$work/$name" "$@"
}

# install NAME PACKAGE...: Debian's packages
install()
{
    local name=$1
    shift
    logged enter "$name" apt-get -q -y install --no-install-recommends "$@"
}

# ---- Debian's and the others' packages ----

# users_machine: the copy "mpi" has Open MPI, "build" also what builds packages
users_machine()
{
    copy mpi
    logged enter mpi apt-get -q update
    install mpi openmpi-bin libopenmpi-dev gcc libc6-dev pkg-config
    copy build mpi
    mkdir "$work/build/changes/build"
    cp "$tarball" "$work/build/changes/build/"
    tar -C "$work/build/changes/build" -xf "$tarball"
    install build build-essential debhelper lintian
    logged enter build bash -c "cd /build/strag-$version && apt-get -q -y build-dep --no-install-recommends ."
}

# used NAME INSTALL REMOVE EXAMPLE: the packages in /packages of that copy are installed, used and removed by these
# commands; EXAMPLE is where library.c is then
used()
{
    local name=$1
    shift
    cp "$srcdir/test/dist/sum.c" "$srcdir/examples/library.c" "$work/$name/changes/packages/"
    cat > "$work/$name/changes/packages/use" << 'END'
set -eu
cd /packages
# In Fedora these folders belong to packages of its own.
mkdir -p /usr/lib64/pkgconfig /usr/share/modulefiles
export PKG_CONFIG_PATH=/usr/lib64/pkgconfig
files() {
    find / -xdev \( -path /proc -o -path /packages -o -path '/var/lib/[dr]p[mk]*' -o -path /var/lib/apt \
        -o -path /var/cache -o -path /var/log -o -path /tmp \) -prune -o -print | sort
}
mpicc sum.c -o sum
ran='coll:strag: .*allreduce of'
run() { mpirun --oversubscribe -np 2 --mca pml ob1 --mca coll_strag_verbose 1 --mca coll_strag_minimum_size 0 "$@" ./sum > out 2>&1 ||
    { cat out; exit 1; }; }
files > before
eval "$1"
run --mca coll strag
grep -q '^sum 3$' out && grep -q "$ran" out || { cat out; exit 1; }
run
grep -q '^sum 3$' out && ! grep -q "$ran" out || { cat out; exit 1; }
ompi_info | grep 'MCA coll: strag '
strag verify ring -n 5
test -e /usr/share/man/man7/coll_strag.7.gz
cc -Wall -Werror "$3" -o library $(pkg-config --cflags --libs strag)
printf 'SwitchName=s Nodes=a,b,c\n' > layout
./library layout
eval "$2"
files > after
diff before after
! ompi_info | grep 'MCA coll: strag '
END
    logged enter "$name" bash /packages/use "$@"
    grep -q '^3 ranks on 3 hosts' "$work/log" || fail "$name: the example"
    echo "ok: $suite, $name: installed, used and removed; nothing is left"
}

part_debian()
{
    logged enter build bash -c "cd /build/strag-$version && nice dpkg-buildpackage -b -us -uc -j$(nproc)"
    enter build bash -c 'cd /build && lintian --fail-on none --tag-display-limit 0 --display-info *.changes' \
        > "$work/lintian" 2>&1 || { cat "$work/lintian"; fail 'lintian'; }
    # It has looked: this one is right, and stays until the library has a release.
    grep -q '^I: libstrag0: no-symbols-control-file' "$work/lintian" || { cat "$work/lintian"; fail 'what lintian says'; }
    if grep '^E: ' "$work/lintian"; then
        fail 'lintian found errors'
    fi
    grep '^W: ' "$work/lintian" || true
    echo "ok: $suite: $(cd "$work/build/changes/build" && echo ./*.deb): no errors"
    copy debian mpi
    mkdir "$work/debian/changes/packages"
    cp "$work"/build/changes/build/{strag,libstrag0,libstrag-dev}_*.deb "$work/debian/changes/packages/"
    used debian 'apt-get -q -y install ./*.deb' 'apt-get -q -y purge --autoremove strag libstrag0 libstrag-dev' \
        /usr/share/doc/libstrag-dev/examples/library.c
}

# No package of Debian is one to RPM, so that nothing can be said to be needed.
part_rpm()
{
    install build rpm rpmlint
    logged enter build bash -c "cd /build && nice rpmbuild -ta --nodeps --define 'ompi /usr' --define '_topdir /build/rpm' \
        --define '_smp_build_ncpus $(nproc)' strag-$version.tar.xz"
    enter build bash -c "cd /build && rpmlint -r strag-$version/dist/strag.rpmlintrc rpm/RPMS/*/*.rpm rpm/SRPMS/*.rpm" \
        > "$work/rpmlint" 2>&1 || { cat "$work/rpmlint"; fail 'rpmlint'; }
    grep ' W: ' "$work/rpmlint" || true
    echo "ok: $(cd "$work/build/changes/build/rpm" && echo RPMS/*/*.rpm): no errors"
    copy rpm mpi
    install rpm rpm libyaml-0-2 libjansson4 # which --nodeps leaves out
    mkdir "$work/rpm/changes/packages"
    cp "$work"/build/changes/build/rpm/RPMS/*/strag-{"$version",libs,devel}-*.rpm "$work/rpm/changes/packages/"
    used rpm 'rpm -i --nodeps ./*.rpm' 'rpm -e strag strag-libs strag-devel' /packages/library.c
}

# ---- The container ----

# in_container NAME COMMAND...: in a copy of it, with its variables
in_container()
{
    local name=$1
    shift
    # shellcheck disable=SC2046 # words
    logged enter "$name" env -i HOME=/root PATH=/usr/local/bin:/usr/bin:/bin \
        $(sed -n 's/^ENV //p' "$srcdir/dist/Containerfile") "$@"
}

part_container()
{
    copy container
    mkdir -p "$work/container/changes/usr/src"
    cp "$tarball" "$work/container/changes/usr/src/"
    cp "$srcdir/test/dist/sum.c" "$work/container/changes/"
    while read -r line; do
        logged enter container env MAKEFLAGS=-j"$(nproc)" nice sh -ec "$line"
    done < <(sed -n 's/^RUN //p' "$srcdir/dist/Containerfile")
    [ "$(sed -n 's/^CMD //p' "$srcdir/dist/Containerfile")" = '["strag", "--help"]' ] || fail 'the command of dist/Containerfile'
    in_container container strag --help
    in_container container mpicc /sum.c -o /sum
    in_container container mpirun --oversubscribe -np 2 --mca coll strag --mca coll_strag_verbose 1 \
        --mca coll_strag_minimum_size 0 /sum
    grep -q 'coll:strag: .*allreduce of' "$work/log" || { cat "$work/log"; fail 'the container runs no strag'; }
    grep -q '^sum 3$' "$work/log" || { cat "$work/log"; fail "the container's sum"; }
    echo 'ok: the container runs strag'
}

# The installed modules: a job selects strag itself with the one, and need not with the other.
part_modules()
{
    local name init
    for name in environment-modules lmod; do # one excludes the other
        init=/usr/share/modules/init/bash
        [ "$name" != lmod ] || init=/usr/share/lmod/lmod/init/bash
        copy "$name" container
        logged enter "$name" apt-get -q update
        install "$name" "$name"
        cat > "$work/$name/changes/use" << 'END'
. "$1"
fail() { echo "FAIL: $*"; cat out; exit 1; }
run() { mpirun --oversubscribe -np 2 --mca coll_strag_verbose 1 --mca coll_strag_minimum_size 0 "$@" /sum > out 2>&1 &&
    grep -q '^sum 3$' out || fail "$*"; }
ran='coll:strag: .*allreduce of'
variables() { env | grep -Ev '^(_|__|SHLVL|LS_COLORS|MODULE|LMOD|LOADED|_LM|_ModuleTable|__MOD)' | sort; }
module use /usr/local/share/modulefiles
variables > before
module load strag || fail 'module load strag'
[ "$(type -P strag)" = /usr/local/bin/strag ] && strag verify ring -n 5 > out || fail 'the command'
run; ! grep "$ran" out || fail 'a job that selects nothing runs strag'
run --mca coll strag; grep "$ran" out || fail 'a job that selects strag'
module load strag-default || fail 'module load strag-default'
run; grep "$ran" out || fail 'strag-default'
run --mca coll ^strag; ! grep "$ran" out || fail 'a job without strag'
module unload strag-default
run; ! grep "$ran" out || fail 'strag-default was unloaded'
module unload strag 2>&1
variables > after
diff before after > out || fail 'left by unloading'
END
        in_container "$name" bash /use "$init"
        echo "ok: the modules by $name"
    done
}

# ---- All of it ----

base=${STRAG_DEBIAN:-$work/base}
# In a namespace: if it is interrupted, nothing is left mounted.
if [ ! -d "$base" ]; then
    logged unshare --mount debootstrap --variant=minbase "$suite" "$base"
    echo force-unsafe-io > "$base/etc/dpkg/dpkg.cfg.d/unsafe-io"
fi
version=$(value PACKAGE_VERSION)
tarball=$work/strag-$version.tar.xz
logged make -C "$builddir" distdir distdir="$work/strag-$version" top_distdir="$work/strag-$version"
XZ_OPT=-1 tar -C "$work" -cJf "$tarball" "strag-$version"
case " $parts " in *' debian '* | *' rpm '*) users_machine ;; esac
for part in $parts; do
    "part_$part"
done
