#!/bin/sh
# Stands on the agent's PATH in the place of a policed program: asks Reprise each time it is started, and becomes the
# program if it may run. Installed under the program's name by guards.ts; answered by guard-desk.ts.
#
#   DIR/bin/PROGRAM      this file
#   DIR/asked/ID.reply   FIFO: "allow", or "deny REASON" with newlines and backslashes escaped; made and opened first,
#                        so that a reply that nobody has open belongs to a guard that is gone
#   DIR/asked/ID         what is asked, each with a NUL behind it: working directory and newline, program, path of the
#                        real program, pid, number of arguments, the arguments. With fewer it is not complete yet
#
# Whatever goes wrong, the program is not started. While there is no daemon the guard waits; the next one finds what was
# asked. The daemon removes both files.
#
# It costs each start one fork, for mkfifo, which is not called by the PATH that may lead to a guard. Nothing that the
# program gets may change: not its stdin or other descriptors, nor exported variables, hence the names of ours. But
# argv[0] is a path; dash sets PWD, and drops variables whose names no shell would accept.
#
# This is a second line, not a sandbox. The agent is the same user: it can call the program by its path, change PATH,
# or write the reply itself.
reprise_dir=@DIR@
reprise_program=${0##*/}

refuse() {
  printf '%s: refused%b\n' "$reprise_program" "$1" >&2
  exit 126
}

# The next one behind this on PATH. Behind the last place where this is found, under whatever name of its directory: two
# guards that each found the other would go round in circles.
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
