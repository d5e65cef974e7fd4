#!/bin/sh
# Mounts the file system of a sandbox and then starts the program in it. Run by `unshare` as process 1 and root of new
# namespaces (unshare.ts).
#
# Usage: sandbox.sh PERL SCRIPT NUMBER SCRATCH UID GID WORKDIR NETWORK [HOW SOURCE TARGET]… -- PROGRAM [ARG…]
#
#   ro, rw          mount SOURCE, read-only or writable, at TARGET; ro-try, rw-try: if SOURCE still exists
#   dev             mount the device SOURCE at TARGET, so that its mode cannot be changed
#   proc, tmpfs, devpts   mount a new one at TARGET
#
# PERL, SCRIPT and NUMBER are for mounts.pl, which makes all mounts in one process. If PERL is empty, `mount` is started for each.
#
# SCRATCH/base is the host's tree, all of it read-only: whatever is mounted from there is read-only too, with all mounts
# below it. SCRATCH/root becomes the root of the program. Each mount that fails ends the script: nothing runs half enclosed.
#
# The program enters a second user namespace, without rights over these mounts, and must not create a third. Its id map is
# written through the host's /proc, because the new one is read-only; that is why the root is changed only then.
# Variables have a prefix, because one that the program's environment already has would be changed for the program.
fail() {
  echo "sandbox: $*" >&2
  exit 126
}
sandbox_perl=$1 sandbox_script=$2 sandbox_number=$3
sandbox_base=$4/base sandbox_root=$4/root
sandbox_uid=$5 sandbox_gid=$6 sandbox_dir=$7 sandbox_network=$8
shift 8
sandbox_path=$PATH
PATH=/usr/bin:/usr/sbin:/bin:/sbin

mount_host() {
  mount -c --rbind / "$sandbox_base" || fail "cannot mount the root"
  while read -r _ _ _ _ sandbox_at sandbox_options _; do
    # Spaces and the like are written as \040.
    case $sandbox_at in *\\*)
      sandbox_at=$(printf '%b.' "$sandbox_at")
      sandbox_at=${sandbox_at%.}
      ;;
    esac
    # Device nodes work in /dev only, where just six of them will be seen.
    case $sandbox_at/ in
      "$sandbox_base"/dev/*) sandbox_options=ro,nosuid${sandbox_options#r[ow]} ;;
      "$sandbox_base"/*) sandbox_options=ro,nosuid,nodev${sandbox_options#r[ow]} ;;
      *) continue ;;
    esac
    # What is mounted in a folder that this user may not enter cannot be reached from inside either.
    [ -e "$sandbox_at" ] || continue
    mount -c --options-mode ignore -o "remount,bind,$sandbox_options" "$sandbox_at" ||
      umount -l "$sandbox_at" || fail "cannot make $sandbox_at read-only"
  done </proc/self/mountinfo
  mount -c --rbind "$sandbox_base" "$sandbox_root" || fail "cannot mount the root"
}

mount_one() {
  case $1 in
    ro | dev) mount -c --rbind "$sandbox_base$2" "$sandbox_root$3" ;;
    rw) mount -c --rbind "$2" "$sandbox_root$3" ;;
    proc) mount -c -t proc -o ro,nosuid,nodev,noexec proc "$sandbox_root$3" ;;
    tmpfs) mount -c -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$sandbox_root$3" ;;
    devpts) mount -c -t devpts -o newinstance,ptmxmode=0666,mode=620,nosuid,noexec devpts "$sandbox_root$3" ;;
    *-try) [ ! -e "$2" ] || mount_one "${1%-try}" "$2" "$3" ;;
    *) false ;;
  esac
}

echo 1 >/proc/sys/user/max_user_namespaces || fail "cannot limit user namespaces"
if [ -n "$sandbox_perl" ]; then
  # Its own variables could make it load something else.
  PERL5OPT='' PERL5LIB='' "$sandbox_perl" "$sandbox_script" "$sandbox_number" "$sandbox_base" "$sandbox_root" "$@" || exit 126
else
  mount_host
fi
while [ "$1" != -- ]; do
  [ -n "$sandbox_perl" ] || mount_one "$1" "$2" "$3" || fail "cannot mount $2 at $3"
  shift 3
done
shift

if [ "$sandbox_network" = none ]; then
  ip link set lo up || fail "cannot bring up the loopback interface (is iproute2 installed?)"
fi
PATH=$sandbox_path
exec unshare --user --map-user="$sandbox_uid" --map-group="$sandbox_gid" \
  --root="$sandbox_root" --wd="$sandbox_dir" -- \
  setpriv --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"
