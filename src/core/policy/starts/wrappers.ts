/** Programs that start another program, given as their arguments: how to find it. */
import { DOCKERS } from '../pattern.ts'

interface Described {
  /** Options that take the next word as their value. */
  values?: string
  /** The other options it may have. Where they are listed, any further one may take the next word or mean something else. */
  flags?: string
  /** With these it does not start a program but changes files. */
  edits?: RegExp
  /** Words between the options and the command: the duration of `timeout`, the host of `ssh`. */
  skip?: number
  /** The words are joined and given to a shell. */
  shell?: true
  /** Options whose value is a text for a shell. */
  text?: readonly string[]
  /** The command starts at this word if it is there: `kubectl exec pod -- sh`. */
  dashes?: true
  /** Words that must come first for it to be a wrapper at all: `exec` of `kubectl exec`. */
  after?: readonly string[]
  /** Started with nothing to run, it starts a shell that reads what it is given. */
  shellByDefault?: true
  /** Options with which it starts nothing. */
  idle?: RegExp
  /** What it starts does not begin in this directory, always or with these options. */
  elsewhere?: true | RegExp
  /** Every word with `=` in front of the command is a variable, whatever its name. */
  variables?: true
}

/** The same, made ready to be asked. */
export interface Wrapper extends Omit<Described, 'values' | 'flags'> {
  values: ReadonlySet<string>
  flags: ReadonlySet<string> | undefined
  /** A dash alone is an option. */
  dash: boolean
}

const DESCRIBED: Record<string, readonly Described[]> = {
  sudo: [
    {
      values:
        '-u -g -h -p -C -D -r -t -T -U --user --group --host --prompt --close-from --chdir --role --type --command-timeout --other-user',
      flags:
        '-A -b -B -E -H -i -K -k -l -n -N -P -S -s -V -v --askpass --background --bell --preserve-env --set-home --login --remove-timestamp --reset-timestamp --list --non-interactive --preserve-groups --stdin --shell --version --validate --no-update --help',
      edits: /^(-[A-Za-z]*e|--ed[a-z]*)$/,
      elsewhere: /^(-[A-Za-z]*i|--lo)/,
      variables: true,
      shellByDefault: true,
      idle: /^(-[lvkKnVS]+|--(list|validate|version|help|reset-timestamp|remove-timestamp|non-interactive))$/,
    },
  ],
  doas: [{ values: '-u -C', flags: '-L -n -s', shellByDefault: true, idle: /^-(L|n)$/ }],
  env: [
    {
      values: '-u -C --unset --chdir',
      flags:
        '-i -0 -v --ignore-environment --null --debug --block-signal --default-signal --ignore-signal --list-signal-handling',
      text: ['-S', '--split-string'],
      variables: true,
    },
  ],
  nohup: [{ flags: '' }],
  setsid: [{ flags: '-c -f -w --ctty --fork --wait' }],
  time: [{ values: '-f -o --format --output' }],
  timeout: [
    {
      values: '-s -k --signal --kill-after',
      flags: '-f -p -v --foreground --preserve-status --verbose',
      skip: 1,
    },
  ],
  nice: [{ values: '-n --adjustment', flags: '-#' }],
  ionice: [{ values: '-c -n -p -P -u --class --classdata' }],
  chrt: [{ values: '-T -P -D', skip: 1 }],
  taskset: [{ skip: 1 }],
  stdbuf: [{ values: '-i -o -e --input --output --error', flags: '' }],
  watch: [
    {
      values: '-n -q -s --interval --equexit --shotsdir',
      flags:
        '-b -c -C -d -e -f -g -p -r -t -v -w -x --beep --color --no-color --differences --errexit --follow --chgexit --precise --no-rerun --no-title --no-wrap --no-linewrap --exec',
      shell: true,
    },
  ],
  chroot: [{ values: '--userspec --groups', skip: 1, shellByDefault: true, elsewhere: true }],
  unshare: [
    {
      values: '-S -G -R -w --setuid --setgid --root --wd --map-user --map-group --propagation',
      shellByDefault: true,
    },
  ],
  nsenter: [
    {
      values: '-t -S -G --target --setuid --setgid',
      flags:
        '-a -m -u -i -n -p -U -C -T -F -Z -e --all --mount --uts --ipc --net --pid --user --cgroup --time --no-fork --follow-context --env --preserve-credentials',
      shellByDefault: true,
      elsewhere: true,
    },
  ],
  strace: [{ values: '-e -o -p -s -u -E -a -b -I -O -P -S -U -X --trace --output' }],
  ltrace: [{ values: '-e -o -p -s -u -l -n -a' }],
  flock: [{ values: '-w -E --timeout --conflict-exit-code', skip: 1, text: ['-c', '--command'] }],
  runuser: [{ values: '-g -G -u -w --group --supp-group --user --whitelist-environment' }],
  newgrp: [{ skip: 99, text: ['-c', '--command'], shellByDefault: true }],
  sg: [{ skip: 1, text: ['-c'], shell: true, shellByDefault: true }],
  pkexec: [{ values: '--user', shellByDefault: true, elsewhere: true }],
  script: [{ values: '-E -I -O -B -T -m -o', text: ['-c', '--command'], skip: 99, shellByDefault: true }],
  'systemd-run': [
    {
      values:
        '-u -p -E -M -H -t --unit --property --setenv --machine --host --slice --description --uid --gid --nice --working-directory --on-active --on-calendar',
      shellByDefault: true,
      elsewhere: true,
    },
  ],
  'systemd-inhibit': [{ values: '--what --who --why --mode' }],
  setpriv: [{ values: '--reuid --regid --groups --inh-caps --ambient-caps --bounding-set' }],
  prlimit: [{}],
  numactl: [{ values: '-C -N -m -i -p' }],
  setarch: [{ skip: 1, shellByDefault: true }],
  linux64: [{ shellByDefault: true }],
  fakeroot: [{ values: '-l -s -i -b', shellByDefault: true }],
  gosu: [{ skip: 1 }],
  'su-exec': [{ skip: 1 }],
  chpst: [{ values: '-u -U -b -e -/ -n -l -L -m -d -o -p -f -c -t' }],
  tini: [{ values: '-p -e' }],
  'dumb-init': [{}],
  unbuffer: [{}],
  rlwrap: [{}],
  torsocks: [{}],
  proxychains: [{ values: '-f' }],
  proxychains4: [{ values: '-f' }],
  eatmydata: [{}],
  faketime: [{ values: '-f', skip: 1 }],
  catchsegv: [{}],
  'xvfb-run': [{ values: '-n -e -f -p -s -w' }],
  'dbus-run-session': [{}],
  firejail: [{ shellByDefault: true }],
  bwrap: [{ values: '--chdir --setenv --unsetenv --hostname --uid --gid --tmpfs --proc --dev --dir' }],
  busybox: [{ flags: '--list --list-full --help' }],
  toybox: [{ flags: '--help --long' }],
  command: [{ flags: '-p -v -V' }],
  builtin: [{ flags: '' }],
  exec: [{ values: '-a', flags: '-c -l' }],
  coproc: [{}],
  noglob: [{}],
  ssh: [
    {
      values: '-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B',
      skip: 1,
      shell: true,
      shellByDefault: true,
      elsewhere: true,
    },
  ],
  vagrant: [{ after: ['ssh'], text: ['-c', '--command'], skip: 99, elsewhere: true }],
  kubectl: [
    {
      after: ['exec'],
      values: '-c -n -f --container --namespace --context --kubeconfig',
      dashes: true,
      skip: 1,
    },
  ],
  oc: [{ after: ['exec'], values: '-c -n --container --namespace', dashes: true, skip: 1 }],
  lxc: [{ after: ['exec'], dashes: true, skip: 1 }],
  direnv: [{ after: ['exec'], skip: 1 }],
  poetry: [{ after: ['run'] }],
  pipenv: [{ after: ['run'] }],
  bundle: [{ after: ['exec'] }],
  npx: [{ values: '-p --package', text: ['-c', '--call'] }],
  bunx: [{}],
  ...Object.fromEntries(DOCKERS.map((name) => [name, containerWrappers()])),
}

function containerWrappers(): Described[] {
  const exec = '-e -u -w --env --env-file --user --workdir --detach-keys --index'
  const run = `${exec} -v -p -l -h -m -c -a --name --network --net --volume --mount --publish --entrypoint --label --hostname --memory --cpus --platform --pull --restart --gpus --device --cap-add --cap-drop --security-opt --ulimit --ip --dns --add-host --volumes-from --tmpfs --pid --ipc --userns --log-driver --log-opt --shm-size --stop-signal --cidfile`
  return [
    { after: ['exec'], values: exec, skip: 1 },
    { after: ['container', 'exec'], values: exec, skip: 1 },
    { after: ['compose', 'exec'], values: exec, skip: 1 },
    { after: ['run'], values: run, skip: 1 },
    { after: ['container', 'run'], values: run, skip: 1 },
    { after: ['create'], values: run, skip: 1 },
    { after: ['compose', 'run'], values: run, skip: 1 },
  ]
}

export const WRAPPERS: ReadonlyMap<string, readonly Wrapper[]> = new Map(
  Object.entries(DESCRIBED).map(([name, wrappers]) => [name, wrappers.map(ready)]),
)

function ready(described: Described): Wrapper {
  const { values, flags } = described
  return {
    ...described,
    values: new Set(values?.split(' ')),
    flags: flags === undefined ? undefined : new Set(flags.split(' ')),
    dash: flags?.includes('-i') === true,
  }
}

export const SHELLS = new Set([
  'sh',
  'bash',
  'dash',
  'zsh',
  'ksh',
  'mksh',
  'ash',
  'rbash',
  'fish',
  'csh',
  'tcsh',
  'yash',
  'pwsh',
])

/** Programs that run a text of their own language: what it starts cannot be seen. */
export const INTERPRETERS = new Set(
  'python perl ruby node nodejs deno bun php lua luajit tclsh expect osascript Rscript guile gdb ed ex vi vim nvim emacs m4 dc'.split(
    ' ',
  ),
)

/** Programs that start what a file, a queue or another process says: what that is cannot be seen. */
export const STARTERS = new Set([
  'make',
  'gmake',
  'cmake',
  'ninja',
  'npm',
  'yarn',
  'pnpm',
  'bun',
  'just',
  'task',
  'rake',
  'gradle',
  'mvn',
  'cargo',
  'go',
  'tox',
  'nox',
  'tmux',
  'screen',
  'at',
  'batch',
  'crontab',
  'anacron',
  'run-parts',
  'start-stop-daemon',
  'supervisorctl',
  'pm2',
  'forever',
  'entr',
  'inotifywait',
  'fswatch',
  'nodemon',
  'parallel',
  'rush',
  'pssh',
  'pdsh',
  'dsh',
  'fab',
  'salt',
  'socat',
  'ncat',
  'nc',
  'telnet',
  'nix-shell',
  'nix',
  'guix',
  'uv',
  'pipx',
  'conda',
  'mamba',
  'mise',
  'asdf',
  'machinectl',
  'lxc-attach',
  'vagrant',
  'qemu',
  'dbus-send',
  'gdbus',
  'busctl',
  'xdotool',
  'rsh',
  'rexec',
  'mosh',
  'source',
  '.',
  'enable',
  'bind',
  'compgen',
  'fc',
  'complete',
  'history',
])
