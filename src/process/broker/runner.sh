#!/bin/sh
# Runs one program for a caller in a sandbox, and tells the caller how it ended. It is started by the daemon (runner.ts) in a
# session of its own and does not depend on the daemon any more.
#
# Usage: runner.sh DIR ROOT START PID REPLY STDIN STDOUT STDERR AFTER PROGRAM [ARG…]
#
#   ROOT, START   process 1 of the sandbox as seen from here, and when it was started (clock ticks since boot)
#   PID           the shim, as seen from inside
#   REPLY         path of the shim's reply FIFO, only to recognise it
#   STDIN         open, copied, null or closed; STDOUT: open or closed; STDERR: open, stdout or closed
#   AFTER         a line that the shim is given with the exit code
#
#   DIR/claim     created exclusively, before the program is started: our pid and start time. Whoever has created it is the only
#                 one to run the program; a daemon that creates it thereby makes sure that the program is never started
#   DIR/gone      the caller died, so the program was ended
#   DIR/exit      the exit code; complete with its newline
#
# Everything of the caller's is opened as a descriptor of the shim, through the sandbox's own /proc, so no process outside can
# be named. What has been opened must be a FIFO, or a character device for the three standard streams; it is checked
# after it has been opened, because the caller may exchange it at any time. Opening in both directions first never blocks
# and never truncates.
#
# Signals from the shim are passed on to the process group: this shell has handlers for them, the watcher ignores them, and the
# program has the default.
#
# Variables have a prefix, because one that the program's environment already has would be changed for the program.
broker_dir=$1 broker_root=$2 broker_start=$3 broker_caller=/proc/$2/root/proc/$4/fd broker_reply=$5
broker_stdin=$6 broker_stdout=$7 broker_stderr=$8 broker_after=$9
shift 9

BROKER_GRACE_SECONDS=5

give_up() {
  echo "$*" >&2
  exit 1
}

# Sets broker_ticks to the start time of a process.
read_start() {
  broker_ticks=
  read -r broker_line 2>/dev/null <"/proc/$1/stat" || return
  # The command name may contain spaces and parentheses.
  # shellcheck disable=SC2086
  set -- ${broker_line##*) }
  shift 19
  broker_ticks=$1
}

# Sends a signal to every other process of our session. Fails if there is none. A command name may contain anything, but after
# it there are only numbers.
signal_session() {
  broker_found=1
  for broker_path in $(command -p grep -lsE "\\) [A-Y] [0-9]+ [0-9]+ $$ [-0-9 ]+\$" /proc/[0-9]*/stat); do
    broker_path=${broker_path%/stat}
    broker_pid=${broker_path#/proc/}
    [ "$broker_pid" = $$ ] || [ "$broker_pid" = "$broker_self" ] || ! kill "-$1" "$broker_pid" 2>/dev/null || broker_found=0
  done
  return $broker_found
}
broker_self=
end_session() {
  while signal_session KILL; do command -p sleep 0.1; done
}

trap : TERM INT HUP
is_caller_there() { [ "$broker_caller/3" -ef "$broker_reply" ]; }
is_caller_there || give_up 'the caller is gone'
exec 5<>"$broker_caller/3"
[ -p /proc/$$/fd/5 ] || give_up 'the reply is not a FIFO'
# For writing only, so that we do not wait for ourselves when nobody reads.
exec 3>/proc/$$/fd/5 5<>"$broker_caller/4"
[ -p /proc/$$/fd/5 ] || give_up 'the lifeline is not a FIFO'
exec 4</proc/$$/fd/5 5>&-
if [ "$broker_stdin" = copied ]; then
  # Descriptor 6 keeps the input from ending until the shim says that it is complete.
  exec 5<>"$broker_caller/7"
  [ -p /proc/$$/fd/5 ] || give_up 'the input is not a FIFO'
  exec 6>/proc/$$/fd/5 7</proc/$$/fd/5 5>&-
fi

# The watcher. A caller that has died cannot have completed the input: the program is killed while its input is still open.
(
  trap '' TERM INT HUP PIPE
  exec 3>&- 7<&-
  while read -r broker_word; do
    case $broker_word in
      TERM | INT | HUP) kill "-$broker_word" 0 ;;
      input) exec 6>&- ;;
      broken) break ;;
    esac
  done <&4
  : >"$broker_dir/gone"
  kill -TERM 0
  # A sleep that ignored SIGTERM would look like something that the program left behind.
  (
    trap - TERM
    command -p sleep $BROKER_GRACE_SECONDS
  )
  read -r broker_self _ </proc/self/stat
  end_session
) &
broker_watcher=$!
exec 4<&- 6>&-

open_stream() {
  exec 5<>"$broker_caller/$1"
  [ -p /proc/self/fd/5 ] || [ -c /proc/self/fd/5 ] || give_up "descriptor $1 is neither a pipe nor a device"
}
# In a subshell, which is not the leader of the session: opening a terminal does not make it ours. It does everything up to
# the claim; only what fails after that is an end of the program.
(
  case $broker_stdin in
    open)
      open_stream 7
      exec 7</proc/self/fd/5
      ;;
    null) exec 7</dev/null ;;
  esac
  if [ "$broker_stdout" = open ]; then
    open_stream 8
    exec 8>/proc/self/fd/5
  fi
  case $broker_stderr in
    open)
      open_stream 9
      exec 9>/proc/self/fd/5
      ;;
    stdout) exec 9>&8 ;;
  esac
  exec 5>&-
  # If process 1 is still the one of the sandbox, it was when the descriptors were opened: its number was not used again.
  read_start "$broker_root"
  [ "$broker_ticks" = "$broker_start" ] && is_caller_there || give_up 'the caller is gone'
  read_start $$
  set -C
  echo "$$ $broker_ticks" >"$broker_dir/claim" || exit 1
  set +C
  echo started >&3
  if [ "$broker_stdin" = closed ]; then exec <&-; else exec <&7; fi
  if [ "$broker_stdout" = closed ]; then exec >&-; else exec >&8; fi
  if [ "$broker_stderr" = closed ]; then exec 2>&-; else exec 2>&9; fi
  exec "$@" 3>&- 7<&- 8>&- 9>&-
)
broker_code=$?
# Before the caller is told, and ends: from now on that is no reason to end anything.
kill -9 "$broker_watcher" 2>/dev/null
exec 7<&-
trap '' PIPE
broker_owner=
read -r broker_owner _ 2>/dev/null <"$broker_dir/claim"
if [ "$broker_owner" = $$ ]; then
  [ ! -e "$broker_dir/gone" ] || broker_gone=' gone'
  echo "$broker_code${broker_gone-}" >"$broker_dir/exit"
  echo "exit $broker_code $broker_after" >&3
fi
exec 3>&-
wait "$broker_watcher" 2>/dev/null

# What the program left in its session ends with it. What has left the session is a service of its own.
broker_left=$BROKER_GRACE_SECONDS
if signal_session TERM; then
  while [ "$broker_left" -gt 0 ] && signal_session 0; do
    command -p sleep 1
    broker_left=$((broker_left - 1))
  done
  end_session
fi
