#!/usr/bin/env bash
# A real Slurm of one node, this host: munged, slurmctld and slurmd from Debian's packages, unpacked and not installed.
# usage: start.sh STATE CACHE [PID]
#   STATE  folder that is made, for sockets, pids, logs and state; its path must be short: a socket's holds 107 characters
#   CACHE  folder that keeps the unpacked packages
#   PID    process whose end, however it ends, is the end of all this too
# Clients are in STATE/bin. stop.sh STATE ends everything and removes STATE.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
state=$1 cache=$2
fail() { printf 'slurm: %s\n' "$1" >&2; exit 1; }

[ ! -e "$state" ] || fail "$state is there already; stop.sh ends what runs in it"
(umask 077; mkdir "$state")
started= draft=
cleanup() {
  [ -z "$draft" ] || rm -rf "$draft"
  [ -n "$started" ] || "$here/stop.sh" "$state"
}
trap cleanup EXIT

# unpack: the packages of packages.txt, in a folder named after the list.
unpack() {
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || fail "Debian's apt-get and dpkg are needed to get Slurm's packages"
  local packages
  mkdir -p "$cache"
  draft=$(mktemp -d "$cache/.unpacking-XXXXXX")
  mapfile -t packages <"$here/packages.txt"
  (
    cd "$draft"
    # apt drops root for downloads where it can; this folder is root's own.
    get() { apt-get -qq -o APT::Sandbox::User=root download "${packages[@]}" >"$draft/apt.log" 2>&1; }
    get || { apt-get update -qq && get; } || { cat "$draft/apt.log" >&2; exit 1; }
    mkdir root
    for package in *.deb; do dpkg -x "$package" root; done
  ) || fail 'the packages could not be had; see above'
  mv -T "$draft/root" "$root" 2>/dev/null || [ -d "$root" ]
}

root=$cache/root-$(sha256sum <"$here/packages.txt" | cut -c 1-12)
[ -d "$root" ] || unpack
libraries=$root/usr/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu/slurm-wlm
missing=$(for program in "$root"/usr/bin/{sbatch,srun} "$root"/usr/sbin/{munged,slurmctld-wlm,slurmd-wlm,slurmstepd-wlm}; do
  LD_LIBRARY_PATH=$libraries ldd "$program" | awk '/not found/ { print $1 }'
done | sort -u | tr '\n' ' ')
[ -z "$missing" ] || fail "this host lacks libraries of Slurm: $missing; the list in packages.txt is Debian 12's"

# free_port: one that nothing listens on, below those that the kernel gives to clients.
free_port() {
  local port
  while port=$((20000 + RANDOM % 12000)); (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  printf '%s' "$port"
}
node=$(uname -n | cut -d . -f 1)
memory=$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)
sed -e "s|@NODE@|$node|g" -e "s|@USER@|$(id -un)|" -e "s|@STATE@|$state|g" -e "s|@ROOT@|$root|" -e "s|@MEMORY@|$memory|" \
  -e "s|@CTLD_PORT@|$(free_port)|" -e "s|@SLURMD_PORT@|$(free_port)|" "$here/slurm.conf" >"$state/slurm.conf"

mkdir "$state/bin" "$state/state" "$state/spool"
for program in sbatch srun squeue scancel scontrol sinfo sacct; do
  printf '#!/bin/sh\nSLURM_CONF=%q LD_LIBRARY_PATH=%q exec %q "$@"\n' "$state/slurm.conf" "$libraries" "$root/usr/bin/$program" >"$state/bin/$program"
done
chmod +x "$state"/bin/*

export LD_LIBRARY_PATH=$libraries SLURM_CONF=$state/slurm.conf
(umask 077; head -c 1024 /dev/urandom >"$state/munge.key")
"$root/usr/sbin/munged" --force --key-file="$state/munge.key" --socket="$state/munge.sock" --pid-file="$state/munged.pid" \
  --log-file="$state/munged.log" --seed-file="$state/munge.seed" 2>"$state/munged.start" || { cat "$state/munged.start" >&2; fail 'munged does not start'; }
# Both say why they end in their logs alone, which go with the state.
"$root/usr/sbin/slurmctld-wlm" || { tail -n 20 "$state/slurmctld.log" >&2; fail 'slurmctld does not start'; }
"$root/usr/sbin/slurmd-wlm" -d "$root/usr/sbin/slurmstepd-wlm" -N "$node" || { tail -n 20 "$state/slurmd.log" >&2; fail 'slurmd does not start'; }

for _ in $(seq 300); do
  if [ "$("$state/bin/sinfo" -h -p main -o %T 2>/dev/null)" = idle ]; then
    started=yes
    if [ -n "${3:-}" ]; then
      # In a session of its own, so that what kills the process and its group leaves this one.
      setsid bash -c 'while [ -d "$1" ] && kill -0 "$2"; do sleep 1; done; exec "$3" "$1"' \
        guard "$state" "$3" "$here/stop.sh" </dev/null >/dev/null 2>&1 &
    fi
    exit 0
  fi
  sleep 0.1
done
tail -n 20 "$state"/slurmctld.log "$state"/slurmd.log >&2
fail 'waited 30 s for the node to become idle, in vain'
