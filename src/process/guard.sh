#!/bin/sh
# Stands in for a policed program on the agent's PATH. Each time it is started it asks Reprise, and executes the program
# if that is allowed. guards.ts installs it under the program's name; guard-desk.ts answers.
#
#   DIR/bin/PROGRAM      this file
#   DIR/asked/ID.reply   FIFO for "allow", or "deny REASON" with newlines and backslashes escaped. The guard creates and
#                        opens it first, so a reply FIFO that no process has open belongs to a guard that has died
#   DIR/asked/ID         the request, each field followed by NUL: working directory and newline, program, path of the
#                        real program, pid, number of arguments, the arguments. It is incomplete until all are there
#
# If anything fails, the program is not started. While no daemon runs, the guard waits; the next daemon finds the
# request. The daemon removes both files.
#
# Each start costs one fork, for mkfifo, which is found without the PATH that may lead to a guard. Everything the
# program inherits must stay the same: stdin, other descriptors and exported variables, hence the prefix of the names
# here. Two differences remain: argv[0] is a path, and dash sets PWD and drops variables whose names are not valid in a
# shell.
#
# The guard is a second line of defence, not a sandbox. The agent runs as the same user: it can call the program by its
# path, change PATH, or write the reply itself.
reprise_dir=@DIR@
reprise_program=${0##*/}

refuse() {
  printf '%s: refused%b\n' "$reprise_program" "$1" >&2
  exit 126
}

# Find the next program of this name on PATH after the last entry that is this guard, under whatever name of its
# directory: two guards that find each other would loop.
reprise_real=
reprise_path=$PATH:
while [ "$reprise_path" ]; do
  reprise_found=${reprise_path%%:*}
  reprise_found=${reprise_found:-.}/$reprise_program
  reprise_path=${reprise_path#*:}
  if [ -f "$reprise_found" ] && [ -x "$reprise_found" ]; then
    if [ "$reprise_found" -ef "$0" ]; then reprise_real=; else reprise_real=${reprise_real:-$reprise_found}; fi
  fi
done
if [ ! "$reprise_real" ]; then
  printf '%s: command not found\n' "$reprise_program" >&2
  exit 127
fi

reprise_id=
reprise_verdict=
read -r reprise_id 2>/dev/null </proc/sys/kernel/random/uuid
reprise_asked=$reprise_dir/asked/${reprise_id:-none}
command -p mkfifo -m 600 "$reprise_asked.reply" 2>/dev/null || refuse ': Reprise cannot be asked'
{
  {
    pwd -P
    printf '\0'
    printf '%s\0' "$reprise_program" "$reprise_real" "$$" "$#" "$@"
  } >"$reprise_asked" && read -r reprise_verdict reprise_reason
} 2>/dev/null <>"$reprise_asked.reply"

case $reprise_verdict in
  allow) exec "$reprise_real" "$@" ;;
  deny) refuse " by Reprise: $reprise_reason" ;;
  *) refuse ': Reprise cannot be asked' ;;
esac
