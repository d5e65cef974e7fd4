#!/bin/sh
# Stands in for git inside a sandbox. A push goes through the broker, which has the credentials; everything else is git's own
# business and is done here. git-shim.ts installs it.
#
#   REAL      the real git
#   BROKERED  the shim that hands the call to the broker
#
# After a push the broker says which references of the remote have moved: "track REF ID [REF ID …] -- GITDIR". The folder comes
# last because its name may contain spaces.
real=@REAL@
brokered=@BROKERED@

# The options of git itself come before the command; some have a value of their own.
command=
skip=
for argument; do
  if [ "$skip" ]; then
    skip=
    continue
  fi
  case $argument in
    -C | -c | --git-dir | --work-tree | --namespace | --super-prefix | --config-env | --attr-source) skip=1 ;;
    -*) ;;
    *)
      command=$argument
      break
      ;;
  esac
done
[ "$command" = push ] || exec "$real" "$@"

after=/tmp/.reprise-push-$$
REPRISE_BROKER_AFTER=$after "$brokered" "$@"
code=$?
if [ -f "$after" ]; then
  read -r word moved <"$after"
  dir=${moved#* -- }
  rm -f "$after"
  if [ "$code" = 0 ] && [ "$word" = track ]; then
    # shellcheck disable=SC2086
    set -- ${moved%% -- *}
    while [ $# -ge 2 ]; do
      "$real" "--git-dir=$dir" update-ref "$1" "$2" 2>/dev/null
      shift 2
    done
  fi
fi
exit $code
