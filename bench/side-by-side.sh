# shellcheck shell=bash
# What two processors can give, read by cpu.sh and mining.sh: two runs at once, which share nothing, against one run alone. `one NAME` makes a
# run, `wall NAME` says how long it took. side_by_side ROUNDS
side_by_side() {
  local alone i
  for ((i = 0; i < $1; i++)); do
    one a
    alone=$(wall a)
    one a &
    one b
    wait
    awk -v a="$alone" -v x="$(wall a)" -v y="$(wall b)" 'BEGIN { print 2 * a / ((x + y) / 2) }'
  done | sort -g | awk '{ v[NR] = $1 } END { printf "median %.2f (%.2f to %.2f)\n", v[int((NR + 1) / 2)], v[1], v[NR] }'
}
