/**
 * The sandbox by the programs of util-linux (2.38 and later), where bubblewrap is not installed. sandbox.sh mounts what is
 * planned here.
 *
 * Two user namespaces, one inside the other. The outer one owns the mounts; only the script has rights in it. The program
 * lives in the inner one, in which it has the user's own id and no rights at all over the mounts.
 */
import { join } from 'node:path'
import type { HostFiles } from './host-files.ts'
import { asInit, commandOf, type InnerTools, ignoringSignals } from './inner-command.ts'
import type { Layout } from './layout.ts'
import type { PlannedFile, SandboxCommand, SandboxInput } from './sandbox.ts'

export interface UnshareTools extends InnerTools {
  unshare: string
  setpriv: string
  sh: string
  /** sandbox.sh */
  script: string
  /** Makes all mounts in one process. null: not installed, or it does not work here. */
  perl: { program: string; script: string; mountCall: number } | null
}

/** The number of the system call mount, by architecture. */
export const MOUNT_CALLS: Partial<Record<NodeJS.Architecture, number>> = { x64: 165, arm64: 40, riscv64: 40 }

/** bubblewrap's `--dev` has the same. */
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty']
const LINKS = {
  fd: '/proc/self/fd',
  stdin: '/proc/self/fd/0',
  stdout: '/proc/self/fd/1',
  stderr: '/proc/self/fd/2',
  ptmx: 'pts/ptmx',
}

export function planUnshare(
  input: SandboxInput,
  layout: Layout,
  tools: UnshareTools,
  command: SandboxCommand,
  files: HostFiles,
): { command: SandboxCommand; files: PlannedFile[] } {
  const { scratch } = input
  const dev = join(scratch, 'dev')
  const devices = DEVICES.filter((name) => files.kindOf(`/dev/${name}`) === 'file')
  const argv = [
    ...ignoringSignals(tools),
    // Dies with the keeper; everything inside dies with it.
    ...[tools.setpriv, '--pdeathsig', 'KILL', '--'],
    ...[tools.unshare, '--user', '--map-root-user', '--mount', '--propagation', 'private'],
    ...['--pid', '--fork', '--kill-child=KILL', '--ipc', '--uts', '--cgroup'],
    ...(input.network === 'none' ? ['--net'] : []),
    ...[
      '--',
      tools.sh,
      tools.script,
      tools.perl?.program ?? '',
      tools.perl?.script ?? '',
      String(tools.perl?.mountCall ?? ''),
      scratch,
      String(input.uid),
      String(input.gid),
      layout.workDir,
      input.network,
    ],
    ...['proc', '', '/proc', 'ro', dev, '/dev'],
    // A read-only mount does not keep anybody from writing to a device, but root from changing its mode.
    ...devices.flatMap((name) => ['dev', `/dev/${name}`, `/dev/${name}`]),
    ...['tmpfs', '', '/dev/shm', 'devpts', '', '/dev/pts'],
    ...layout.binds.flatMap(({ mode, source, target, optional }) => [
      optional ? `${mode}-try` : mode,
      source,
      target,
    ]),
    '--',
    ...asInit(tools, command),
  ]
  const dirs = ['base', 'root', 'dev', 'dev/shm', 'dev/pts']
  return {
    command: commandOf(argv),
    files: [
      ...dirs.map((name) => ({ kind: 'dir' as const, path: join(scratch, name), mode: 0o755 })),
      ...devices.map((name) => ({ kind: 'file' as const, path: join(dev, name), mode: 0o600 })),
      ...Object.entries(LINKS).map(([name, target]) => ({
        kind: 'link' as const,
        path: join(dev, name),
        target,
      })),
    ],
  }
}
