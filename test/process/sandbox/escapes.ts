/**
 * Attempts to get out of the sandbox. Each is a shell script that runs inside. Whether it had an effect is
 * checked from outside (escapes.test.ts): files and processes must be as before, sockets must have received nothing, and
 * neither a secret nor the word ESCAPED, which a script prints if it sees that it succeeded, may be in the output.
 *
 * An attack with `control` also runs without a sandbox, where it must have an effect: that proves that it is a real one.
 * Scripts that could damage the machine only open what they should not be able to open, and write nothing.
 *
 * Variables: HOME, WORK (writable), OUTSIDE (read-only), NODE, VICTIM (a pid outside), PORT, ABSTRACT, ADDRESSES.
 */
export interface Escape {
  name: string
  script: string
  control?: true
  /** Programs without which the attack cannot be made. */
  needs?: readonly string[]
  /** Only for this kind of user. */
  only?: 'root' | 'other'
  network?: 'none'
  /** A hole that is known and documented (decision 41). */
  notHeldBy?: 'bubblewrap'
  /** Ends other attacks that run in the same sandbox. */
  alone?: true
  /** Leaves descriptors of a folder and a file outside open. */
  descriptors?: true
}

const node = (code: string) => `"$NODE" -e '${code}'`

const connect = (target: string) =>
  node(
    `const s = require("node:net").connect(${target}, () => { s.end("hello"); console.log("ESCAPED") }); s.on("error", () => {})`,
  )

const FILES: Escape[] = [
  { name: 'write a file outside', script: 'echo changed >"$OUTSIDE/file"', control: true },
  { name: 'create a file outside', script: 'echo new >"$OUTSIDE/new"; mkdir "$HOME/dir"', control: true },
  {
    name: 'delete and rename outside',
    script: 'rm -f "$OUTSIDE/file"; mv "$OUTSIDE" "$HOME/moved"',
    control: true,
  },
  { name: 'change the mode of a file outside', script: 'chmod 777 "$OUTSIDE/file" "$HOME"', control: true },
  {
    name: 'write outside from an interpreter',
    script: node('require("fs").appendFileSync(process.env.OUTSIDE + "/file", "x")'),
    control: true,
  },
  {
    name: 'write outside by a relative path',
    script: 'cd "$WORK" && cd .. && echo changed >outside/file',
    control: true,
  },
  {
    name: 'write outside through /proc/self/cwd',
    script: 'cd "$WORK"; echo changed >/proc/self/cwd/../outside/file',
    control: true,
  },
  {
    name: 'write outside through /proc/self/root',
    script: 'echo changed >"/proc/self/root$OUTSIDE/file"',
    control: true,
  },
  {
    name: 'write outside through the root of process 1',
    script: 'echo changed >"/proc/1/root$OUTSIDE/file"',
  },
  { name: 'write a protected file', script: 'echo changed >"$WORK/sub/locked.txt"', control: true },
  {
    name: 'write into a protected folder',
    script: 'echo changed >"$WORK/locked/file"; echo new >"$WORK/locked/new"',
    control: true,
  },
  {
    name: 'delete a protected file',
    script: 'rm -f "$WORK/sub/locked.txt"; rm -rf "$WORK/locked"',
    control: true,
  },
  {
    name: 'replace a protected file',
    script: 'echo changed >"$WORK/x"; mv -f "$WORK/x" "$WORK/sub/locked.txt"',
    control: true,
  },
  {
    name: 'rename the parent of a protected file',
    script: 'mv "$WORK/sub" "$WORK/sub2" && mkdir "$WORK/sub" && echo changed >"$WORK/sub/locked.txt"',
    control: true,
  },
  {
    name: 'exchange the parent of a protected file',
    needs: ['perl'],
    script:
      'mkdir "$WORK/sub3"; perl -e \'syscall(316, -100, "$ENV{WORK}/sub", -100, "$ENV{WORK}/sub3", 2) == 0 and print "ESCAPED"\'',
  },
  {
    name: 'rename a protected folder',
    script: 'mv "$WORK/locked" "$WORK/locked2" && mkdir "$WORK/locked"',
    control: true,
  },
  {
    name: 'create a protected file that does not exist',
    script: 'mkdir -p "$WORK/.later" && echo new >"$WORK/.later/config"',
    control: true,
  },
  {
    name: 'make the placeholder of a protected file something else',
    script:
      'rmdir "$WORK/.later"; mv "$WORK/.later" "$WORK/x"; ln -sfn "$OUTSIDE" "$WORK/.later"; [ -L "$WORK/.later" ] && echo ESCAPED',
  },
  {
    name: 'create a hidden file that does not exist',
    script: 'echo new >"$WORK/.env"; mkdir "$HOME/.aws"',
    control: true,
  },
  {
    name: 'write through a symbolic link to the outside',
    script: 'ln -s "$OUTSIDE/file" "$WORK/link"; echo changed >"$WORK/link"',
    control: true,
  },
  {
    name: 'write through a symbolic link to a protected file',
    script: 'ln -s sub/locked.txt "$WORK/link2"; echo changed >"$WORK/link2"',
    control: true,
  },
  {
    name: 'read through a symbolic link into a hidden folder',
    script: 'ln -s "$HOME/.ssh" "$WORK/link3"; cat "$WORK/link3/id"',
    control: true,
  },
  {
    name: 'write through a hard link to a protected file',
    script: 'ln "$WORK/sub/locked.txt" "$WORK/hard" && echo changed >"$WORK/hard"',
    control: true,
  },
  {
    name: 'hard link to a file outside or hidden',
    script:
      'ln "$OUTSIDE/file" "$WORK/hard2" && echo changed >"$WORK/hard2"; ln "$WORK/token" "$WORK/hard3" && cat "$WORK/hard3"',
    control: true,
  },
  { name: 'read hidden files', script: 'cat "$HOME/.ssh/id" "$HOME/.netrc" "$WORK/token"', control: true },
  {
    name: 'find hidden files by searching',
    script: 'grep -rs SECRET "$HOME" "$HOME"/.[a-z]*',
    control: true,
  },
  {
    name: 'read hidden files through /proc',
    script: 'cat /proc/*/root"$HOME"/.ssh/id /proc/*/cwd/../.ssh/id /proc/*/cwd/token 2>/dev/null',
    control: true,
  },
  {
    name: 'uncover a hidden file by moving or removing what covers it',
    script:
      'mv "$WORK/token" "$WORK/t"; rm -f "$WORK/token"; rmdir "$HOME/.ssh"; cat "$WORK/token" "$WORK/t"',
    control: true,
  },
  {
    name: 'write to a folder on the path of the system',
    script:
      'for d in /etc /usr/bin /usr/local/bin /var/tmp /root /run; do : >"$d/reprise-escape" && rm "$d/reprise-escape" && echo ESCAPED; done',
  },
  {
    name: 'find anything that is writable',
    script:
      'find / -maxdepth 3 \\( -type f -o -type d \\) -writable -not -path "/proc/[0-9]*" -not -path "/proc/self*" -not -path "/proc/thread-self*" -not -path "/tmp*" -not -path "/dev*" -not -path "$HOME*" 2>/dev/null | sed "s/^/ESCAPED /"',
  },
]

const MOUNTS: Escape[] = [
  {
    name: 'remount the root writable',
    script:
      'mount -o remount,rw /; mount -o remount,bind,rw /; mount -o remount,bind,rw "$HOME"; echo changed >"$OUTSIDE/file"',
  },
  {
    name: 'remount a protected folder writable',
    script: 'mount -o remount,bind,rw "$WORK/locked"; echo changed >"$WORK/locked/file"',
  },
  {
    name: 'unmount',
    script:
      'for p in "$WORK/sub/locked.txt" "$WORK/locked" "$WORK/token" "$WORK" "$HOME/.ssh" "$HOME" /tmp /proc; do umount -l "$p"; umount "$p"; done; cat "$WORK/token" "$HOME/.ssh/id"; echo changed >"$WORK/locked/file"',
  },
  {
    name: 'mount over',
    script:
      'mount --bind "$WORK" /etc && echo ESCAPED; mount -t tmpfs tmpfs /etc && echo ESCAPED; mount --bind "$WORK" "$WORK/locked" && echo ESCAPED',
  },
  {
    name: 'mount a new /proc, sysfs or cgroup',
    script:
      'mkdir -p "$WORK/m"; for t in proc sysfs cgroup cgroup2 tmpfs devtmpfs overlay; do mount -t $t $t "$WORK/m" && echo ESCAPED; done',
  },
  {
    name: 'system calls for mounts',
    needs: ['perl'],
    script:
      'perl -e \'my $p = "$ENV{WORK}/locked"; $p .= "\\0"; my $a = pack("QQQQ", 0, 1, 0, 0); syscall(442, -100, $p, 0x8000, $a, 32) == 0 and print "ESCAPED"; syscall(428, -100, "/", 1) >= 0 and print "ESCAPED"; syscall(430, "tmpfs", 0) >= 0 and print "ESCAPED"; syscall(166, $p, 2) == 0 and print "ESCAPED"\'',
  },
  {
    name: 'a user namespace of its own',
    script:
      'unshare -Ur true && echo ESCAPED; unshare -Urm sh -c "umount -l \\"$WORK/token\\"; cat \\"$WORK/token\\""',
  },
  {
    name: 'other namespaces',
    script: 'for f in -m -p -n -i -u -C; do unshare $f true && echo ESCAPED; done',
  },
  {
    name: 'a sandbox inside the sandbox',
    needs: ['bwrap'],
    script: 'bwrap --bind / / true && echo ESCAPED; bwrap --unshare-user --bind / / true && echo ESCAPED',
  },
  {
    name: 'the namespaces of another process',
    needs: ['nsenter'],
    script:
      'nsenter -t 1 -m true && echo ESCAPED; nsenter -t 1 -U true && echo ESCAPED; nsenter -t "$VICTIM" -m true && echo ESCAPED',
  },
  {
    name: 'chroot',
    needs: ['chroot'],
    script:
      'chroot / true && echo ESCAPED; mkdir -p "$WORK/c"; chroot "$WORK/c" /x; test $? = 127 && echo ESCAPED; true',
  },
  {
    name: 'open by handle',
    needs: ['perl'],
    script:
      'perl -e \'my $h = pack("IiQQQ", 8, 1, 2, 0, 0); opendir(my $d, "/"); syscall(304, 3, $h, 0) >= 0 and print "ESCAPED"\'',
  },
]

const KERNEL: Escape[] = [
  {
    name: 'open /proc/sys for writing',
    script:
      'for f in kernel/core_pattern kernel/modprobe kernel/hostname vm/drop_caches fs/binfmt_misc/register user/max_user_namespaces; do (: >>/proc/sys/$f) 2>/dev/null && echo ESCAPED $f; done',
  },
  {
    name: 'open other files of /proc for writing',
    script:
      'for f in sysrq-trigger kcore kmsg mem irq/default_smp_affinity bus/pci/devices mtrr acpi/wakeup; do (: >>/proc/$f) 2>/dev/null && echo ESCAPED $f; done; true',
  },
  {
    name: 'open kernel memory and log',
    script:
      'for f in /proc/kcore /proc/kmsg /dev/mem /dev/kmsg /dev/port; do head -c 1 $f >/dev/null 2>&1 && echo ESCAPED $f; done; true',
  },
  {
    name: 'cgroup release_agent',
    script:
      'for d in /sys/fs/cgroup /sys/fs/cgroup/*; do mkdir "$d/reprise-escape" 2>/dev/null && echo ESCAPED $d; (: >>"$d/release_agent") 2>/dev/null && echo ESCAPED $d; (: >>"$d/cgroup.procs") 2>/dev/null && echo ESCAPED $d; done; true',
  },
  {
    name: 'open /sys for writing',
    script:
      'for f in kernel/uevent_helper power/state kernel/mm/ksm/run module/kernel/parameters/panic; do (: >>/sys/$f) 2>/dev/null && echo ESCAPED $f; done; find /sys -maxdepth 4 -type f -writable 2>/dev/null | head -3 | sed "s/^/ESCAPED /"',
  },
  {
    name: 'block devices and other devices',
    script:
      'for f in /dev/vd* /dev/sd* /dev/nvme* /dev/loop* /dev/zram* /dev/tty[0-9]* /dev/ttyS* /dev/kvm /dev/fuse /dev/vsock /dev/loop-control; do test -e "$f" && echo ESCAPED $f; done; true',
  },
  {
    name: 'a device node outside /dev',
    only: 'root',
    script: '(: <"$OUTSIDE/../../null-device") && echo ESCAPED; true',
    control: true,
  },
  {
    name: 'change the mode of a device',
    only: 'root',
    notHeldBy: 'bubblewrap',
    script: 'for f in null zero full random urandom tty; do chmod 666 /dev/$f && echo ESCAPED; done; true',
    control: true,
  },
  {
    name: 'create a device',
    script:
      'mknod "$WORK/disk" b 254 0 && echo ESCAPED; mknod "$WORK/mem" c 1 1 && echo ESCAPED; mknod /tmp/kmsg c 1 11 && echo ESCAPED; true',
  },
  { name: 'see /dev/shm of the host', script: 'ls -A /dev/shm | grep . && echo ESCAPED' },
  { name: '/dev/shm of the host', script: 'echo x >/dev/shm/reprise-escape', control: true },
  { name: 'System V shared memory of the host', needs: ['ipcmk'], script: 'ipcmk -M 4096' },
  { name: 'host name', needs: ['hostname'], script: 'hostname reprise-escape && echo ESCAPED' },
  {
    name: 'a setuid program',
    only: 'other',
    script: 'test "$("$OUTSIDE/../../setuid-id" -u)" = 0 && echo ESCAPED; true',
    control: true,
  },
  {
    name: 'capabilities and new privileges',
    script:
      'grep -E "^Cap(Inh|Prm|Eff|Amb):.*[1-9a-f]" /proc/self/status | sed "s/^/ESCAPED /"; grep -q "NoNewPrivs:.*1" /proc/self/status || echo ESCAPED',
    control: true,
  },
  {
    name: 'change owner or user',
    script:
      'chown 12345 "$WORK/own.txt" && echo ESCAPED; setpriv --reuid=12345 true && echo ESCAPED; setpriv --reuid=0 --clear-groups true && echo ESCAPED; true',
  },
]

const PROCESSES: Escape[] = [
  { name: 'kill a process outside', script: 'kill -9 "$VICTIM"', control: true },
  { name: 'signal every process', alone: true, script: '(trap "" TERM; kill -TERM -1); kill -9 -1; true' },
  { name: 'stop the process group of a process outside', script: 'kill -9 -"$VICTIM"; true' },
  {
    name: 'read the environment of a process outside',
    script: 'tr "\\0" "\\n" <"/proc/$VICTIM/environ"',
    control: true,
  },
  {
    name: 'search the environments of all processes',
    script: 'cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" | grep SECRET',
    control: true,
  },
  {
    name: 'see processes outside',
    script:
      'ls -d "/proc/$VICTIM" && echo ESCAPED; ps ax 2>/dev/null | grep "[s]leep 98765" && echo ESCAPED; true',
    control: true,
  },
  {
    name: 'use descriptors of processes outside',
    script: 'ls -l "/proc/$VICTIM/fd" && echo ESCAPED; ls "/proc/$VICTIM/root/" && echo ESCAPED; true',
    control: true,
  },
  {
    name: 'trace a process outside',
    needs: ['perl'],
    script:
      'perl -e \'syscall(101, 16, $ENV{VICTIM}+0, 0, 0) == 0 and print "ESCAPED"; for my $p (2..40) { next if $p == $$; }\'',
  },
  {
    name: 'a pidfd of a process outside',
    needs: ['perl'],
    script: 'perl -e \'syscall(434, $ENV{VICTIM}+0, 0) >= 0 and print "ESCAPED"\'',
    control: true,
  },
  {
    name: 'inherited descriptors',
    descriptors: true,
    script:
      'for f in /proc/self/fd/*; do echo x >"$f/escaped-by-fd"; done 2>/dev/null; ls -l /proc/self/fd | grep -E "outside" && echo ESCAPED; true',
    control: true,
  },
  {
    name: 'inherited descriptors of process 1',
    descriptors: true,
    script: 'ls -l /proc/1/fd | grep -E "outside" && echo ESCAPED; echo x >/proc/1/fd/3/escaped-by-fd; true',
  },
  {
    name: 'kill process 1 of the sandbox',
    alone: true,
    script: 'kill -9 1; kill -TERM 1; test -d /proc/1 || echo ESCAPED',
  },
]

const SOCKETS: Escape[] = [
  {
    name: 'a hidden Unix socket',
    script: connect('process.env.HOME + "/sockets/agent.sock"'),
    control: true,
  },
  {
    name: 'a hidden Unix socket through /proc',
    script: connect('"/proc/1/root" + process.env.HOME + "/sockets/agent.sock"'),
  },
  {
    name: 'a loopback port',
    network: 'none',
    script: connect('Number(process.env.PORT), "127.0.0.1"'),
    control: true,
  },
  { name: 'a loopback port by IPv6', network: 'none', script: connect('Number(process.env.PORT), "::1"') },
  {
    name: 'every address of the machine, link-local ones too',
    network: 'none',
    script: `for a in $ADDRESSES 169.254.169.254; do A=$a ${node('const s = require("node:net").connect({ port: Number(process.env.PORT), host: process.env.A, timeout: 500 }, () => { s.end("hello"); console.log("ESCAPED") }); s.on("error", () => {}); s.on("timeout", () => s.destroy())')}; done`,
    control: true,
  },
  {
    name: 'an abstract socket',
    network: 'none',
    needs: ['perl'],
    script:
      'perl -MSocket -e \'socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, pack("Sa*", AF_UNIX, "\\0$ENV{ABSTRACT}")) and syswrite(S, "hello") and print "ESCAPED"\'',
    control: true,
  },
  {
    name: 'a route of its own',
    network: 'none',
    needs: ['ip'],
    script: 'ip link add d type dummy && echo ESCAPED; ip addr add 10.9.9.9/24 dev lo && echo ESCAPED; true',
  },
]

export const ESCAPES: readonly Escape[] = [...FILES, ...MOUNTS, ...KERNEL, ...PROCESSES, ...SOCKETS]
