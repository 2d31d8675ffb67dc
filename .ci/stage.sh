# What .ci/run counts with: a stage is a command, and the end line is the sum of all that their runs said.

passed=0 failed=0 skipped=0
declare -a table=()

# stage NAME COMMAND...: runs it, adds the counts of every summary line that it printed, or one for a stage that counts nothing.
stage() {
  local name=$1; shift
  local log; log=$(mktemp)
  local began=$SECONDS
  printf '\n=== %s: %s\n' "$name" "$*"
  "$@" 2>&1 | tee "$log"
  local code=${PIPESTATUS[0]}
  local took=$((SECONDS - began))
  local lines; lines=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -aE '^(claims: |unit tests: )')
  local held broken out
  held=$(sum "$lines" 'held|passed'); broken=$(sum "$lines" 'failed'); out=$(sum "$lines" 'not served|skipped')
  if [ -z "$lines" ]; then
    if [ "$code" -eq 0 ]; then held=1; else broken=1; fi
  elif [ "$code" -ne 0 ] && [ "$broken" -eq 0 ]; then
    broken=1
  fi
  passed=$((passed + held)) failed=$((failed + broken)) skipped=$((skipped + out))
  table+=("$(printf '%-28s %5ds  %s' "$name" "$took" "$([ "$code" -eq 0 ] && echo ok || echo "FAILED ($code)")")")
  rm -f "$log"
  return "$code"
}

# sum LINES WORDS: the sum of the numbers that stand before one of the words.
sum() {
  grep -oE "[0-9]+ ($2)" <<<"$1" | awk '{ n += $1 } END { print n + 0 }'
}

# finish: the time of each stage and the end line; fails when anything failed.
finish() {
  printf '\n'
  printf '%s\n' "${table[@]}"
  printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [ "$failed" -eq 0 ]
}
