#!/bin/sh
# Runs one agent process so that it can outlive the daemon. Usage: keeper.sh DIR PROGRAM [ARG…]
#
#   DIR/started    created by the keeper, which then runs the agent, or by a recovering daemon, which thereby makes sure
#                  that the agent is never started; the first one wins
#   DIR/keeper     the keeper's pid
#   DIR/q/         messages for the agent's stdin, written in the order of their names, then moved to DIR/sent/;
#                  the message named *.close closes stdin, one named *.short is a single short line
#   DIR/poke       FIFO: a line on it means "check q again"
#   DIR/out, err   the agent's output
#   DIR/exit       the agent's exit code, and "starved" if its stdin was lost; written last, complete with its newline
#
#   DIR/feeder     the feeder's pid
#   DIR/ended      the agent has ended, so the feeder was stopped on purpose
#   DIR/unread     the agent no longer reads its stdin, or has ended, so the feeder has stopped
#   DIR/seed.json  for the reader of the output: the initial state of the agent's protocol. The keeper does not use it
#   DIR/limit      VALUE or VALUE -S: the limit on file locks (both, or only the soft one) that marks every process that
#                  we start (lock-limit.ts)
#
# stdin must stay open whatever happens to the daemon: an agent whose stdin closes while it waits for an answer, or
# before it asks, takes that for a refusal by the user. So two processes hold it open: the feeder, which writes to it,
# and the holder, which otherwise only checks that DIR still exists. If the feeder dies, the agent waits, and a daemon
# notices that the feeder has died. Messages are files, so that a writer that dies halfway leaves no partial message in
# the pipe.
#
# Without DIR the agent can have no owner: no daemon can find it, and its output is lost. When DIR is missing at two
# checks in a row, the holder ends the agent and everything that it has started.
#
# Users wait for the agent to start, to receive a message, and to end. There the script uses shell built-ins instead of
# starting other programs.
dir=$1
shift
# The files in DIR are for this user only; the agent gets the umask that we were started with.
mask=$(umask)
umask 077
# A daemon recognises the keeper of a folder by its open log (keeper-folder.ts). A shell moves its stderr while a command
# has one of its own; this descriptor never moves.
exec 9>&2
set -C
true 2>/dev/null >"$dir/started" || exit 0
set +C
echo $$ >"$dir/keeper"
mkfifo -m 600 "$dir/in" "$dir/poke" || exit 125

# Processes that we start are recognised by this limit and by the environment variable that we were given; where the
# limit cannot be set, by the variable alone.
limit=
if read -r limit only 2>/dev/null <"$dir/limit"; then
  # The option is -w in dash and busybox, -x in bash, zsh and ksh.
  # shellcheck disable=SC3045,SC2086
  ulimit $only -w "$limit" 2>/dev/null || ulimit $only -x "$limit" 2>/dev/null
fi

# Feeder and holder must not die before the agent when the whole group is signalled, not even in their first moment: they
# inherit that these signals are ignored.
trap '' TERM INT HUP

WATCH_SECONDS=2
GRACE_SECONDS=3

# Kills every process that carries one of our marks, except the keeper and the calling process.
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
  exec 3>"$dir/in"
  # USR1: release stdin. USR2: the agent has ended; exit and leave no sleep behind. Before these traps are set, either
  # signal ends this process, which is also correct.
  trap 'exec 3>&-; kill -9 $! 2>/dev/null' USR1
  trap 'kill -9 $! 2>/dev/null; wait $!; exit' USR2
  misses=0
  while [ $misses -lt 2 ]; do
    # The traps use $!, which is set as soon as sleep runs; a variable might not be set yet when the trap runs.
    sleep $WATCH_SECONDS 3>&- &
    wait $!
    if [ -e "$dir/started" ]; then misses=0; else misses=$((misses + 1)); fi
  done
  # An agent that obeys SIGTERM ends here, and the keeper does the rest.
  kill -TERM -$$
  sleep $GRACE_SECONDS
  sweep
  kill -9 -$$
) &
holder=$!

(
  trap '' PIPE
  exec 4<>"$dir/poke" 3>"$dir/in"
  while :; do
    set -- "$dir"/q/*
    [ "$1" = "$dir/q/*" ] && set --
    for message; do
      # A short message is written by built-ins, which is faster than starting cat; for a long one, cat is faster than
      # reading byte by byte.
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
# The keeper itself has a handler instead: ignored signals would stay ignored in the agent.
trap : TERM INT HUP

# In a subshell, because some shells would redirect, and so move, their own descriptors until the agent has ended.
: >>"$dir/err"
(umask "$mask" && exec "$@" <"$dir/in" >>"$dir/out" 2>>"$dir/err" 9>&-)
code=$?
if [ ! -e "$dir/started" ]; then
  sweep
  exit 1
fi
# A feeder that died has disappeared by now, or is a zombie. If stdin was not closed on purpose, the agent may have lost
# it.
state=Z
read -r _ _ state _ 2>/dev/null <"/proc/$feeder/stat"
[ "$state" = Z ] && [ ! -e "$dir/sent/stdin.close" ] && [ ! -e "$dir/unread" ] && code="$code starved"
: >"$dir/ended"
kill -9 "$feeder" 2>/dev/null
kill -USR2 "$holder" 2>/dev/null
# They must have ended before the exit code is written: a daemon that then looks for leftover processes must not find
# ours.
wait "$feeder" "$holder" 2>/dev/null
echo "$code" >"$dir/exit"
