#!/bin/sh
# Stands in, inside a sandbox, for a program that acts on the world. It hands the call to the broker outside and passes on
# what comes back. shims.ts installs it under the program's name, desk.ts answers, runner.sh runs the real program.
#
#   ASKED/ID         the request, each field followed by NUL: working directory and newline, program, pid in this namespace,
#                    how to open stdin, stdout and stderr, number of arguments, the arguments. Incomplete until all are there
#   ASKED/ID.reply   FIFO, open on descriptor 3; lines from the broker:
#                      started          the real program runs
#                      exit CODE [TEXT] it has ended; TEXT is written to $REPRISE_BROKER_AFTER, if that is set
#                      wake             handle a signal that came just before this process waited
#                      fail CODE TEXT   print TEXT (newlines and backslashes escaped) and end with CODE
#                    and from our own copying processes: "input STATUS", "output", "leave"
#   ASKED/ID.life    FIFO, open for writing on descriptor 4: names of signals to pass on, and "input" when all of a copied
#                    stdin has been written, or "broken". When this process dies, by whatever signal, the FIFO closes, and
#                    the program is ended
#
# The runner opens /proc/PID/fd/7, 8 and 9 of this process as the program's stdin, stdout and stderr. A pipe, a terminal or
# /dev/null is there itself, so nothing is copied, and a program that does not read its stdin takes nothing from it. In the
# place of all else there is a FIFO, from or to which `cat` copies here, with the caller's own rights: a socket cannot be opened
# by others; a file opened again would have an offset of its own, and the runner must never open a file for the caller.
#
# Descriptors 7 to 9 are used because a shell moves 0, 1 and 2 while a command is redirected. A call that copies nothing
# costs one fork, for mkfifo.
asked=@ASKED@
program=${0##*/}
fds=/proc/$$/fd

fail() {
  printf '%s: %b\n' "$program" "$2" >&2
  exit "$1"
}

exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
stdin=closed stdout=closed stderr=closed
outputs=0
fifos=
if [ -e $fds/0 ]; then
  exec 7<&0
  if [ -p $fds/0 ] || [ -c $fds/0 ]; then
    stdin=open
  elif [ -d $fds/0 ]; then
    stdin=null
  else
    stdin=copied fifos=in
  fi
fi
if [ -e $fds/1 ]; then
  exec 8>&1
  stdout=open
  [ -p $fds/1 ] || [ -c $fds/1 ] || fifos="$fifos out"
fi
if [ -e $fds/2 ]; then
  exec 9>&2
  stderr=open
  if [ -p $fds/2 ] || [ -c $fds/2 ]; then
    :
  # One FIFO for both keeps the order of what is written to both.
  elif [ $fds/1 -ef $fds/2 ]; then
    stderr=stdout
  else
    fifos="$fifos err"
  fi
fi

id=
read -r id 2>/dev/null </proc/sys/kernel/random/uuid
call=$asked/${id:-none}
paths() {
  for fifo in $fifos; do set -- "$@" "$call.$fifo"; done
  command -p mkfifo -m 600 "$call.reply" "$call.life" "$@" 2>/dev/null
}
paths || fail 126 'not started: the broker cannot be asked'
# Opened for both directions first, which never blocks.
exec 3<>"$call.reply" 5<>"$call.life" 4>"$call.life" 5>&-
for fifo in $fifos; do
  case $fifo in
    in) exec 5<>"$call.in" 7<"$call.in" 5>&- ;;
    # Descriptors 5 and 6 keep the FIFO from ending before the program has it open.
    out) exec 5<>"$call.out" 8<"$call.out" ;;
    err) exec 6<>"$call.err" 9<"$call.err" ;;
  esac
done
{
  pwd -P
  printf '%s\0' '' "$program" $$ $stdin $stdout $stderr $# "$@"
} 2>/dev/null >"$call" || fail 126 'not started: the broker cannot be asked'

# Writes the caller's stdin, now descriptor 7, to the FIFO. Of a file only what comes after the present offset, which is left
# as it is: `while read x; do PROGRAM; done <file` must find its next line.
#
# These processes close what they do not use by `exec`, because a shell keeps a copy of what it redirects for a function, and a
# copy of descriptor 4 would hide our death. They ignore the signals that are passed on, because the program may have something left to
# say. They use the FIFOs through our descriptors: the broker may have removed the names.
copy_input() {
  # The program may have ended meanwhile, and so may we: then there is nothing to copy, and nothing to say about it.
  exec 2>/dev/null
  exec 3>$fds/3 4>&- 5<&- 8<&- 9<&-
  trap '' TERM HUP
  trap 'kill -9 $! 2>/dev/null' USR1
  if [ -f $fds/7 ] && [ -r $fds/7 ]; then
    while read -r key offset; do [ "$key" != pos: ] || break; done </proc/$$/fdinfo/7
    command -p tail -c "+$((offset + 1))" <$fds/7 >$fds/5 3>&- &
  else
    command -p cat <&7 >$fds/5 3>&- &
  fi
  wait $!
  echo "input $?" >&3
}

copy_output() {
  exec 2>/dev/null
  exec 3>$fds/3 4>&- 5<&- 7<&- 8<&- 9<&-
  trap '' TERM HUP
  command -p cat 3>&-
  echo output >&3
}

# A process that the program left behind may have its output open for ever.
wait_a_moment() {
  exec >/dev/null 2>&1 3>$fds/3 4>&- 5<&- 7<&-
  trap 'kill -9 $! 2>/dev/null; exit' USR1
  command -p sleep 2 &
  wait $!
  echo leave >&3
}

input= timer=
start_copying() {
  exec 5>&- 6>&-
  for fifo in $fifos; do
    case $fifo in
      in)
        # The FIFO stays open for reading, so that opening it for writing does not block if the program has ended.
        exec 5<&7 7<&0
        (copy_input) &
        input=$!
        ;;
      out) (exec <&8 && copy_output) & ;;
      err) (exec <&9 >&2 && copy_output) & ;;
    esac
    [ "$fifo" = in ] || outputs=$((outputs + 1))
  done
  # Only `cat` has them open now: when it is ended by SIGPIPE, so is the program.
  exec 8<&- 9<&-
}

# Until the program runs, a signal ends this process, and so the call.
signal=
pass_on() {
  signal=$1
  echo "$1" >&4
} 2>/dev/null
pass_on_signals() {
  for name in TERM INT HUP; do
    # shellcheck disable=SC2064
    trap "pass_on $name" $name
  done
}

finish() {
  for helper in $input $timer; do kill -USR1 "$helper"; done 2>/dev/null
  # A caller that sent the signal expects that we die by it.
  case $signal$1 in
    TERM143 | INT130 | HUP129)
      trap - "$signal"
      kill "-$signal" $$
      ;;
  esac
  exit "$1"
}

code=
while :; do
  word=
  # Fails only when a signal interrupts it.
  read -r word status text <&3 || [ "$signal" ] || exit 125
  case $word in
    started)
      # Before anything that the program prints can be seen: a caller may send a signal as soon as it sees that.
      pass_on_signals
      start_copying
      # For writing to a FIFO whose reader has ended. What copies must not inherit it.
      trap '' PIPE
      ;;
    input) if [ "$status" = 0 ]; then echo input >&4; else echo broken >&4; fi 2>/dev/null ;;
    output) outputs=$((outputs - 1)) ;;
    exit)
      code=$status
      # For a caller that is a shim itself.
      [ ! "$REPRISE_BROKER_AFTER" ] || [ ! "$text" ] || printf '%s\n' "$text" >"$REPRISE_BROKER_AFTER"
      if [ $outputs -gt 0 ]; then
        (wait_a_moment) &
        timer=$!
      fi
      ;;
    leave) outputs=0 ;;
    fail) fail "$status" "$text" ;;
  esac
  [ ! "$code" ] || [ $outputs -gt 0 ] || finish "$code"
done
