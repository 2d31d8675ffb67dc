#!/bin/bash
# One rank of a job: starts the server, says in the job's folder where it listens and how it ended, and takes its processes and its
# shared memory along. usage: rank.sh FOLDER PROGRAM [ARGUMENT...]
set -u
shopt -s nullglob
folder=$1
shift
rank=${SLURM_PROCID:-0}
# Names of the server's shared memory begin with it, and so it stands on the command line of each Python stub.
run=$(basename "$folder")
prefix=lockstep_job_${run#lockstep-}_${rank}_$$_
# Slurm kills what is left KillWait after its SIGTERM, 30 s where nobody changed it.
grace_s=8

# say NAME: standard input becomes a file of the job's folder, whole or not at all.
say() {
  { cat >"$folder/.$1.$rank.$$" && mv -f "$folder/.$1.$rank.$$" "$folder/$1"; } 2>/dev/null
}

# kill_stubs PREFIX: stubs outlive a server that was killed.
kill_stubs() {
  local file
  for file in $(grep -alF -- "$1" /proc/[0-9]*/cmdline 2>/dev/null); do
    file=${file#/proc/}
    kill -KILL "${file%/cmdline}" 2>/dev/null
  done
}

# sweep: what ranks left on this node that were killed with no time to clean up.
sweep() {
  local file owner seen=' '
  for file in /dev/shm/lockstep_job_*; do
    [[ $file =~ /(lockstep_job_[0-9a-z-]+_[0-9]+_([0-9]+)_) ]] || continue
    owner=${BASH_REMATCH[2]}
    [[ $(tr '\0' ' ' <"/proc/$owner/cmdline") == *rank.sh* ]] && continue
    [[ $seen == *" $owner "* ]] || kill_stubs "${BASH_REMATCH[1]}"
    seen+="$owner "
    rm -f "$file"
  done 2>/dev/null
}

# choose_ports: three that no socket of this node has, below those that the kernel gives to clients.
choose_ports() {
  local table port hex
  table=$(cat /proc/net/tcp /proc/net/tcp6 2>/dev/null)
  ports=()
  while ((${#ports[@]} < 3)); do
    port=$((20000 + RANDOM % 12000))
    printf -v hex ':%04X ' "$port"
    [[ $table == *"$hex"* || " ${ports[*]} " == *" $port "* ]] || ports+=("$port")
  done
}

# facts: what only the node knows, one NAME=VALUE a line.
facts() {
  local name
  printf 'node=%s\nhttp=%s\ngrpc=%s\nmetrics=%s\n' "${SLURMD_NODENAME:-$(hostname)}" "${ports[@]}"
  printf 'container=%s\n' "${NVIDIA_TRITON_SERVER_VERSION:-}"
  printf 'tensorrt_llm=%s\n' "$(timeout 20 python3 -c 'import importlib.metadata as m; print(m.version("tensorrt_llm"))' 2>/dev/null)"
  for name in $(cat "$folder/switches"); do
    if [[ -n ${!name:-} ]]; then printf 'switch=%s=%s\n' "$name" "${!name}"; fi
  done
  timeout 20 nvidia-smi --query-gpu=name,driver_version,uuid --format=csv,noheader 2>/dev/null | sed 's/^/gpu=/'
}

# stubs: instances whose Python stub lives, as the server's children show them. The kernel keeps children by the thread that made them.
stubs() {
  local pid argument argv
  for pid in $(cat /proc/"$server"/task/*/children 2>/dev/null); do
    argv=()
    mapfile -d '' argv <"/proc/$pid/cmdline"
    for argument in "${argv[@]}"; do
      if [[ $argument =~ ^[A-Za-z0-9_.-]+_[0-9]+_[0-9]+$ ]]; then printf '%s\n' "$argument"; fi
    done
  done 2>/dev/null | sort
}

# look: one turn of the first rank's watch over its server.
look() {
  local now
  if [[ -z ${listening:-} ]] && (exec 3<>"/dev/tcp/127.0.0.1/${ports[0]}") 2>/dev/null; then
    listening=1
    : | say listening
  fi
  now=$(stubs)
  if [[ $now != "${before:-}" ]]; then
    before=$now
    printf '%s\n' "$now" | say stubs
  fi
}

on_signal() {
  stopped_at=${stopped_at:-$SECONDS}
  if [[ -n ${server:-} ]]; then kill -TERM "$server" 2>/dev/null; fi
}
trap on_signal TERM INT HUP

sweep
listen=()
if [[ $rank == 0 ]]; then
  choose_ports
  facts | say node
  listen=("--http-port=${ports[0]}" "--grpc-port=${ports[1]}" "--metrics-port=${ports[2]}")
fi
# A signal that came before the server must not be forgotten.
if [[ -z ${stopped_at:-} ]]; then
  "$@" "${listen[@]}" "--backend-config=python,shm-region-prefix-name=$prefix" &
  server=$!
  # A read that nothing answers is a sleep without a process, and a signal ends it.
  exec 9<> <(:)
  while kill -0 "$server" 2>/dev/null; do
    if [[ -n ${stopped_at:-} ]] && ((SECONDS - stopped_at >= grace_s)); then kill -KILL "$server" 2>/dev/null; fi
    # Whoever removes the folder ends the job, also where Slurm cannot be asked to.
    if [[ -z ${stopped_at:-} && ! -e $folder && -e ${folder%/*} ]]; then on_signal; fi
    if [[ $rank == 0 ]]; then look; fi
    read -r -t 0.5 -u 9
  done
  wait "$server"
  code=$?
else
  code=143
fi
kill_stubs "$prefix"
rm -f "/dev/shm/$prefix"*
if [[ $rank == 0 || $code != 0 ]]; then printf 'rank=%s\ncode=%s\nstopped=%s\n' "$rank" "$code" "${stopped_at:+yes}" | say ended; fi
exit "$code"
