#!/usr/bin/env bash
# Ends what start.sh started in STATE, its jobs first, and removes STATE. usage: stop.sh STATE
set -uo pipefail
state=$1
[ -d "$state" ] || exit 0

# A daemon is known by its pid and by its folder on its command line or in its environment: the number may be another's by now.
is_ours() { grep -qaF "$state/" "/proc/$1/cmdline" "/proc/$1/environ" 2>/dev/null; }

end() {
  local pid
  pid=$(cat "$state/$1.pid" 2>/dev/null) || return 0
  for signal in TERM KILL; do
    for _ in $(seq 50); do
      is_ours "$pid" || return 0
      kill -"$signal" "$pid" 2>/dev/null
      sleep 0.1
    done
  done
}

if [ -x "$state/bin/scancel" ]; then
  timeout 5 "$state/bin/scancel" --user="$(id -un)" 2>/dev/null
  for _ in $(seq 150); do
    [ -n "$(timeout 2 "$state/bin/squeue" -h 2>/dev/null)" ] || break
    sleep 0.1
  done
fi
end slurmd
# What waits for a job's last words goes on without slurmd.
for file in $(grep -laF "$state/" /proc/[0-9]*/environ 2>/dev/null); do
  pid=${file#/proc/} pid=${pid%/environ}
  [[ $(cat "/proc/$pid/comm" 2>/dev/null) != slurmstepd* ]] || kill -KILL "$pid" 2>/dev/null
done
end slurmctld
end munged
rm -rf "$state"
