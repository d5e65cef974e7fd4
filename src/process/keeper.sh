#!/bin/sh
# Keeps one agent process, so that it can outlive the daemon. Usage: keeper.sh DIR PROGRAM [ARG…]
#
#   DIR/started    made by whoever comes first: the keeper, which then runs the agent, or a recovering daemon, which
#                  thereby makes sure that the agent will never be run
#   DIR/keeper     the keeper's pid
#   DIR/q/         messages for the agent's stdin, fed in the order of their names, then moved to DIR/sent/;
#                  the message named *.close ends stdin, one named *.short is a single short line
#   DIR/poke       FIFO: a line on it means "look into q again"
#   DIR/out, err   what the agent printed
#   DIR/exit       its exit code, and "starved" if its stdin was lost; written last, and whole once its newline is there
#
#   DIR/feeder     the feeder's pid
#   DIR/ended      the agent has ended: the feeder is gone on purpose
#   DIR/unread     the agent itself reads no more, or is gone: the feeder had nobody left to feed
#   DIR/seed.json  for whoever reads the output: what the state of the agent's protocol begins from; not for the keeper
#   DIR/limit      VALUE or VALUE -S: the limit on file locks, both or the soft one, that marks all we start (lock-limit.ts)
#
# stdin must stay open whatever happens to the daemon: an agent whose stdin closes while it waits for an answer, or
# before it asks, takes that for a refusal by the user. So two processes hold it: the feeder, which feeds it, and the
# holder, which otherwise only looks whether DIR is still there. If the feeder dies the agent waits, and a daemon sees
# that it is gone. Messages are files so that a writer that dies halfway leaves nothing half-written in the pipe.
#
# Without DIR nobody will ever own the agent again: no daemon can find it, and what it prints is lost. So when DIR has
# been missing at two looks in a row, the holder ends the agent and everything that it has started.
#
# Somebody waits for the agent to start, to get a message, and to be over: there, what the shell can do by itself is
# not left to other programs.
dir=$1
shift
set -C
true 2>/dev/null >"$dir/started" || exit 0
set +C
echo $$ >"$dir/keeper"
mkfifo -m 600 "$dir/in" "$dir/poke" || exit 125

# What we start is recognised by this, and by the variable that we were given. Where it cannot be set, by that alone.
limit=
if read -r limit only 2>/dev/null <"$dir/limit"; then
  # Shells call it -w (dash, busybox) or -x (bash, zsh, ksh).
  # shellcheck disable=SC3045,SC2086
  ulimit $only -w "$limit" 2>/dev/null || ulimit $only -x "$limit" 2>/dev/null
fi

# A handler, not "ignore": ignored signals would stay ignored in the agent. Feeder and holder do ignore them: they
# must not die before the agent when the whole group is asked to end.
trap : TERM INT HUP

WATCH_SECONDS=2
GRACE_SECONDS=3

# Kills everything that carries one of our marks, except the keeper and whoever calls this.
sweep() {
  read -r self _ </proc/self/stat
  for found in /proc/[0-9]*; do
    [ "$found" = "/proc/$self" ] || [ "$found" = "/proc/$$" ] && continue
    grep -qs "^Max file locks .* ${limit:-none} " "$found/limits" ||
      grep -qsz "^REPRISE_ATTEMPT=$REPRISE_ATTEMPT\$" "$found/environ" || continue
    kill -9 "${found#/proc/}" 2>/dev/null
  done
}

(
  trap '' TERM INT HUP
  exec 3>"$dir/in"
  # USR1: let go of stdin. USR2: it is over; our sleep must not be left behind. Either ends us if it comes before this.
  trap 'exec 3>&-; kill -9 $! 2>/dev/null' USR1
  trap 'kill -9 $! 2>/dev/null; wait $!; exit' USR2
  misses=0
  while [ $misses -lt 2 ]; do
    # Known to a trap as soon as it runs; a variable of ours would not be set yet if the trap came right after this.
    sleep $WATCH_SECONDS 3>&- &
    wait $!
    if [ -e "$dir/started" ]; then misses=0; else misses=$((misses + 1)); fi
  done
  # An agent that obeys ends here, and the keeper does the rest.
  kill -TERM -$$
  sleep $GRACE_SECONDS
  sweep
  kill -9 -$$
) &
holder=$!

(
  trap '' TERM INT HUP PIPE
  exec 4<>"$dir/poke" 3>"$dir/in"
  while :; do
    set -- "$dir"/q/*
    [ "$1" = "$dir/q/*" ] && set --
    for message; do
      # What is short is there sooner without starting a program; what is long would be read byte by byte.
      case $message in
        *.close)
          exec 3>&-
          kill -USR1 "$holder"
          break
          ;;
        *.short) IFS= read -r line <"$message" && printf '%s\n' "$line" >&3 ;;
        *) cat "$message" >&3 ;;
      esac || {
        : >"$dir/unread"
        exit 1
      }
    done
    [ $# -eq 0 ] || mv "$@" "$dir/sent/" || exit 1
    [ -e "$dir/sent/stdin.close" ] && exit 0
    read -r _ <&4 || exit 1
  done
) &
feeder=$!
echo "$feeder" >"$dir/feeder"

"$@" <"$dir/in" >>"$dir/out" 2>>"$dir/err"
code=$?
if [ ! -e "$dir/started" ]; then
  sweep
  exit 1
fi
# A feeder that died is gone by now, or a zombie. If nobody closed stdin, the agent may have lost it.
state=Z
read -r _ _ state _ 2>/dev/null <"/proc/$feeder/stat"
[ "$state" = Z ] && [ ! -e "$dir/sent/stdin.close" ] && [ ! -e "$dir/unread" ] && code="$code starved"
: >"$dir/ended"
kill -9 "$feeder" 2>/dev/null
kill -USR2 "$holder" 2>/dev/null
# Gone before the exit is told: whoever then looks for processes left behind must not find our own.
wait "$feeder" "$holder" 2>/dev/null
echo "$code" >"$dir/exit"
