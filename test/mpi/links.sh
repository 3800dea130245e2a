#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Hosts' links are probed while a job runs (links.c); the hosts are names, as in layout.sh.
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

if ! unshare --uts true 2> /dev/null; then
    echo "skipped: this user may not give processes host names of their own (unshare --uts)"
    exit 77
fi

files=$builddir/links-test.$$
mkdir "$files"
trap 'rm -rf "$files"' EXIT

cat > "$files/on-hosts" << 'END'
#!/bin/bash
# on-hosts PER PROGRAM...: PER ranks on each of the hosts n0, n1, ...
host=n$((OMPI_COMM_WORLD_RANK / $1))
shift
# shellcheck disable=SC2016 # expanded by the inner shell
exec unshare --uts bash -c 'hostname "$0" && exec "$@"' "$host" "$@"
END
chmod +x "$files/on-hosts"

strag=(--mca coll strag --mca coll_strag_window 4)

must 3 "${strag[@]}" "$files/on-hosts" 1 "$programs/links"
must 6 "${strag[@]}" "$files/on-hosts" 2 "$programs/links"
must 4 "${strag[@]}" --mca coll_strag_straggler none "$files/on-hosts" 1 "$programs/links"
must 4 "${strag[@]}" --mca coll_strag_slowdown none "$files/on-hosts" 1 "$programs/links" --expect none
must 4 "${strag[@]}" "$files/on-hosts" 2 "$programs/links" --expect none # two hosts
must 3 "${strag[@]}" --mca coll_strag_algorithm ring "$files/on-hosts" 1 "$programs/links" --expect none
