#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The project on each version of Open MPI, in chroots of Debian's suites. See usage below.
set -eu

usage()
{
    cat << 'END'
usage: test/matrix/run.sh [OPTION...] [VERSION...]

Builds, tests and installs the project on each version of Open MPI, as README.md says, in a chroot of
the Debian suite that has this version: 4.1 (bookworm), 5.0 (trixie), 6.0 (sid). Without VERSION: all.

  --short        one test of each kind, in the chroots that are there already; without any: exit
                 status 77
  --tests LIST   only these tests, such as 'test/mpi/types.sh test/cli/cost.sh'
  --shell        a shell in the build folder, after the build, instead of the tests
  --cache DIR    keeps chroots, compiled objects and logs (default: $XDG_CACHE_HOME/strag-matrix, or
                 ~/.cache/strag-matrix); 2 GiB per version
  --mirror URL   of Debian, or a snapshot of it at some date (default: debootstrap's)
  --help

Needs root, debootstrap and util-linux, and for a new chroot the mirror. Known failures of Open MPI
itself are in test/matrix/known-failures.txt. STRAG_TEST_SLOWER=3 for a slow machine: three times the
tests' time limits. Exit status: 0: nothing else failed; 1; 2: wrong usage.
END
}

homes=(4.1:bookworm 5.0:trixie 6.0:sid)
packages='gcc libc6-dev make autoconf automake libtool pkg-config openmpi-bin libopenmpi-dev libhwloc-dev
    libyaml-dev libjansson-dev libucx-dev ccache lammps hpcc libcmocka-dev valgrind python3 iproute2 procps binutils diffutils file'
packages_later='libpmix-dev' # from Open MPI 5.0 on
packages_site='slurm-wlm munge environment-modules' # of what users find at a site; not for --short
short_tests='test/cli/contract.sh test/dist/install.sh test/mpi/params.sh test/mpi/types.sh
    test/app/hpcc.sh'

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

say()
{
    printf '%s\n' "$@"
}

wrong()
{
    say "test/matrix/run.sh: $*" >&2
    exit 2
}

# ---- Chroots ----

# enter ROOT COMMAND...: run there. All mounts are in a namespace of their own, which the kernel
# removes with the last process, whatever ends it; so are the processes.
enter()
{
    local root=$1
    shift
    unshare --mount --uts --pid --fork --kill-child bash -eu -c '
        root=$1 objects=$2
        shift 2
        mount --bind "$root" "$root" # tests make namespaces of their own, which needs a mount at /
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs tmpfs "$root/dev/shm"
        mkdir -p "$root/strag/objects"
        mount --bind "$objects" "$root/strag/objects"
        exec chroot "$root" env -i PATH=/usr/lib/ccache:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" DEBIAN_FRONTEND=noninteractive \
            CCACHE_DIR=/strag/objects STRAG_TEST_SLOWER="${STRAG_TEST_SLOWER:-1}" "$@"
        ' enter "$root" "$objects" "$@"
}

# logged FILE COMMAND...: its output goes to the file; the end of it is shown where it fails
logged()
{
    local file=$1
    shift
    if ! "$@" < /dev/null > "$file" 2>&1; then
        tail -n 25 "$file" | sed 's/^/      /'
        say "      ($file)"
        return 1
    fi
}

# update ROOT: the lists of packages; of a suite or a snapshot whose release file has expired, too
update()
{
    enter "$1" apt-get -q update && return
    say 'once more, without asking whether the release file is still valid'
    echo 'Acquire::Check-Valid-Until "false";' > "$1/etc/apt/apt.conf.d/99dated"
    enter "$1" apt-get -q update
}

install_packages()
{
    local root=$1
    shift
    update "$root" && enter "$root" apt-get -q -y install --no-install-recommends "$@" &&
        enter "$root" apt-get clean
}

# chroot_of VERSION SUITE: in $root, with all packages
chroot_of()
{
    local version=$1 suite=$2 wanted=$packages stamp installed='' package missing=''
    root=$cache/$suite
    stamp=$root/strag/packages # has those that have been installed
    case $version in
        4.*) ;;
        *) wanted="$wanted $packages_later" ;;
    esac
    [ $short = yes ] || wanted="$wanted $packages_site"
    if [ ! -d "$root" ]; then
        rm -rf "$root.part"
        # shellcheck disable=SC2086 # empty, or an argument
        logged "$logs/debootstrap.log" unshare --mount debootstrap --variant=minbase "$suite" "$root.part" $mirror ||
            return 1
        # A chroot that is not finished is made again: nothing has to reach the disk file by file.
        echo force-unsafe-io > "$root.part/etc/dpkg/dpkg.cfg.d/unsafe-io"
        mv "$root.part" "$root"
    fi
    mkdir -p "$root/strag"
    # Open MPI looks its own host up.
    printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$(hostname)" > "$root/etc/hosts"
    [ ! -e "$stamp" ] || installed=$(tr '\n' ' ' < "$stamp")
    for package in $wanted; do
        case " $installed " in *" $package "*) ;; *) missing="$missing $package" ;; esac
    done
    if [ -n "$missing" ]; then
        cp -f /etc/resolv.conf "$root/etc/resolv.conf"
        # shellcheck disable=SC2086 # a list
        logged "$logs/packages.log" install_packages "$root" $missing || return 1
        printf '%s\n' "$missing" >> "$stamp"
    fi
}

# copy_source ROOT: what git tracks, or would
copy_source()
{
    rm -rf "$1/strag/source" "$1/strag/build"
    mkdir -p "$1/strag/source"
    git -C "$top" ls-files -z --cached --others --exclude-standard |
        tar -C "$top" --null --ignore-failed-read -T - -c 2> /dev/null | tar -C "$1/strag/source" -x
}

# ---- Results ----

# known VERSION TEST: why it is known to fail there
known()
{
    awk -v version="$1" -v test="$2" '
        /^#/ || NF == 0 { next }
        index(version, $1) == 1 && test == $2 { $1 = $2 = ""; sub(/^ */, ""); print }
        ' "$here/known-failures.txt"
}

# judge VERSION: what the tests' results are worth
judge()
{
    local version=$1 result test reason
    while read -r result test; do
        reason=$(known "$version" "$test")
        case $result,$reason in
            PASS,) passed=$((passed + 1)) ;;
            PASS,*)
                passed=$((passed + 1))
                say "NOTE  $version $test passed, but is known to fail ($reason): if it always does, take it out of test/matrix/known-failures.txt"
                ;;
            SKIP,*)
                skipped=$((skipped + 1))
                say "SKIP  $version $test"
                ;;
            *,?*)
                expected=$((expected + 1))
                say "KNOWN $version $test: $reason"
                ;;
            *)
                failed=$((failed + 1))
                say "FAIL  $version $test: $logs/$(basename "$test" .sh).log ends with"
                tail -n 15 "$logs/$(basename "$test" .sh).log" | sed 's/^/      /'
                ;;
        esac
    done < <(sed -En 's/^(PASS|FAIL|ERROR|SKIP|XPASS|XFAIL): (.*)/\1 \2/p' "$logs/check.log")
}

# try VERSION SUITE: build, test, install
try()
{
    local suite=$2 start=$SECONDS ready built version
    logs=$cache/logs/$suite
    rm -rf "$logs"
    mkdir -p "$logs"
    passed=0 failed=0 expected=0 skipped=0
    if ! chroot_of "$1" "$suite"; then
        say "FAIL  $1 ($suite): there is no chroot"
        return 1
    fi
    version=$(enter "$root" ompi_info --version | sed -n 's/^Open MPI v//p')
    ready=$SECONDS
    copy_source "$root"
    if ! logged "$logs/build.log" enter "$root" bash /strag/source/test/matrix/inside.sh build; then
        say "FAIL  $version build"
        return 1
    fi
    built=$SECONDS
    if [ "$shell" = yes ]; then
        enter "$root" env -C /strag/build bash
        return
    fi
    enter "$root" bash /strag/source/test/matrix/inside.sh check "$tests" > "$logs/check.log" 2>&1 || true
    find "$root/strag/build/test" -name '*.log' -exec cp -t "$logs" {} + || true
    judge "$version"
    if [ $((passed + failed + expected)) -eq 0 ]; then
        failed=1
        tail -n 25 "$logs/check.log" | sed 's/^/      /'
    fi
    if enter "$root" bash /strag/source/test/matrix/inside.sh install > "$logs/installed.log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        say "FAIL  $version installed: $logs/installed.log ends with"
        tail -n 25 "$logs/installed.log" | sed 's/^/      /'
    fi
    summary+=("$version ($suite): $passed passed, $failed failed, $expected known failures of Open MPI, $skipped skipped; chroot $((ready - start)) s, build $((built - ready)) s, tests $((SECONDS - built)) s")
    [ "$failed" -eq 0 ]
}

# ---- Command line ----

# What this machine lacks: the short form is skipped there.
lacks()
{
    if [ $short = yes ]; then
        say "test/matrix/run.sh --short is skipped: $*"
        exit 77
    fi
    wrong "$@"
}

# All in one function, so that the file may be changed while it runs.
main()
{
    cache=${XDG_CACHE_HOME:-$HOME/.cache}/strag-matrix
    mirror='' short=no shell=no tests='' versions=()
    while [ $# -gt 0 ]; do
        case $1 in
            --help | -h)
                usage
                exit 0
                ;;
            --short) short=yes ;;
            --shell) shell=yes ;;
            --tests | --cache | --mirror)
                [ $# -ge 2 ] || wrong "$1 needs a value"
                case $1 in
                    --tests) tests=$2 ;;
                    --cache) cache=$2 ;;
                    --mirror) mirror=$2 ;;
                esac
                shift
                ;;
            [0-9]*) versions+=("$1") ;;
            *) wrong "'$1' is unknown; --help says what is not" ;;
        esac
        shift
    done
    if [ $short = yes ] && [ -z "$tests" ]; then
        tests=$short_tests
    fi
    for test in $tests; do
        [ -f "$top/$test" ] || [ -f "$top/$test.c" ] ||
            wrong "--tests '$test' is not a test; test/mpi/types.sh is one"
    done
    chosen=()
    for home in "${homes[@]}"; do
        case " ${versions[*]-} " in
            '  ' | *" ${home%:*} "*) chosen+=("$home") ;;
        esac
    done
    [ ${#versions[@]} -eq 0 ] || [ ${#chosen[@]} -eq ${#versions[@]} ] ||
        wrong "accepted versions: ${homes[*]%:*}"
    if [ $short = yes ]; then
        for i in "${!chosen[@]}"; do
            if [ ! -e "$cache/${chosen[i]#*:}/strag/packages" ]; then
                unset "chosen[i]"
            fi
        done
        [ ${#chosen[@]} -gt 0 ] || lacks "there is no chroot in $cache; without --short one is made"
    fi
    [ "$(id -u)" -eq 0 ] || lacks 'chroots need root'
    git -C "$top" rev-parse > /dev/null 2>&1 || lacks "$top is not a git checkout"
    for command in debootstrap unshare; do
        command -v "$command" > /dev/null ||
            lacks "$command is missing (Debian: apt-get install debootstrap util-linux)"
    done
    objects=$cache/objects
    mkdir -p "$objects"

    status=0 summary=()
    for home in "${chosen[@]}"; do
        try "${home%:*}" "${home#*:}" || status=1
    done
    say "${summary[@]}"
    exit $status
}

main "$@"
