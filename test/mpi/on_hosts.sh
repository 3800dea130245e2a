#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# on_hosts.sh PER HOSTS PROGRAM...: PER ranks in turn on each of the hosts HOST,HOST,...; -: as many as it
# takes, n0, n1, ... A host is no more than a name of the process's own. From the environment:
# FOLDERS=PATH, each host has the current folder PATH/HOST; ADDRESSES=TEXT, and TEXTHOST as its address;
# ETC=PATH, and the files of PATH/HOST in /etc.
place=$((OMPI_COMM_WORLD_RANK / $1))
host=n$place
if [ "$2" != - ]; then
    IFS=, read -r -a hosts <<< "$2"
    host=${hosts[place % ${#hosts[@]}]}
fi
shift 2
case ${ADDRESSES:-} in
    ?*) export SLURM_TOPOLOGY_ADDR="$ADDRESSES$host" ;;
esac
if [ -n "${FOLDERS:-}" ]; then
    cd "$FOLDERS/$host" || exit 1
fi
if [ -n "${ETC:-}" ]; then
    exec unshare --uts --mount bash -c 'mount -t overlay overlay /etc -o "lowerdir=$ETC/$0:/etc" &&
        hostname "$0" && exec "$@"' "$host" "$@"
fi
exec unshare --uts bash -c 'hostname "$0" && exec "$@"' "$host" "$@"
