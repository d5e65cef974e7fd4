#!/bin/sh
# Keeps one agent process, so that it can outlive the daemon. Usage: keeper.sh DIR PROGRAM [ARG…]
#
#   DIR/started/   made by whoever comes first: the keeper, which then runs the agent, or a recovering daemon, which
#                  thereby makes sure that the agent will never be run
#   DIR/keeper     the keeper's pid
#   DIR/q/         messages for the agent's stdin, fed in the order of their names, then moved to DIR/sent/;
#                  the message named *.close ends stdin
#   DIR/poke       FIFO: a line on it means "look into q again"
#   DIR/out, err   what the agent printed
#   DIR/exit       its exit code; written last, all at once
#
# stdin stays open as long as the feeder lives, whatever happens to the daemon: an agent whose stdin closes while it
# waits for an answer takes that for a refusal. Messages are files so that a writer that dies halfway leaves nothing
# half-written in the pipe.
dir=$1
shift
mkdir "$dir/started" 2>/dev/null || exit 0
echo $$ >"$dir/keeper"
mkfifo -m 600 "$dir/in" "$dir/poke" || exit 125

# A handler, not "ignore": ignored signals would stay ignored in the agent.
trap : TERM INT HUP

(
  # The feeder must not die before the agent when the whole group is asked to end: that would close stdin.
  trap '' TERM INT HUP
  exec 4<>"$dir/poke" 3>"$dir/in"
  while :; do
    for message in "$dir"/q/*; do
      case $message in
        *.close) exit 0 ;;
        *"/q/*") break ;;
      esac
      cat "$message" >&3 || exit 1
      mv "$message" "$dir/sent/" || exit 1
    done
    read -r _ <&4 || exit 1
  done
) &
feeder=$!

"$@" <"$dir/in" >>"$dir/out" 2>>"$dir/err"
code=$?
kill -9 "$feeder" 2>/dev/null
echo "$code" >"$dir/exit.new" && mv "$dir/exit.new" "$dir/exit"
