/**
 * The sandbox by bubblewrap (0.8 and later). As root it has one hole: the nodes in its /dev are the host's, mounted writable, so
 * root can change their mode. bubblewrap cannot mount a device read-only, so `detectSandbox` prefers util-linux for root.
 */
import { asInit, commandOf, type InnerTools, ignoringSignals } from './inner-command.ts'
import type { Bind, Layout } from './layout.ts'
import type { SandboxCommand, SandboxInput } from './sandbox.ts'

export interface BubblewrapTools extends InnerTools {
  bwrap: string
  /** null: not installed, or not allowed to create user namespaces, while bubblewrap is. */
  unshare: string | null
}

export function planBubblewrap(
  input: SandboxInput,
  layout: Layout,
  tools: BubblewrapTools,
  command: SandboxCommand,
): SandboxCommand {
  return commandOf([
    ...ignoringSignals(tools),
    ...(tools.unshare === null ? [] : withoutPropagation(tools.unshare)),
    tools.bwrap,
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(input.network === 'none' ? ['--unshare-net'] : []),
    // As root, bubblewrap keeps all capabilities unless told otherwise; inside a further user namespace it could undo mounts.
    ...['--cap-drop', 'ALL', '--disable-userns'],
    ...['--uid', String(input.uid), '--gid', String(input.gid)],
    ...['--die-with-parent', '--as-pid-1'],
    ...['--ro-bind', '/', '/', '--dev', '/dev'],
    // Root needs no capability to write to /proc/sys or /proc/sysrq-trigger.
    ...['--proc', '/proc', '--remount-ro', '/proc'],
    ...layout.binds.flatMap(bindArgs),
    ...['--chdir', layout.workDir, '--'],
    ...asInit(tools, command),
  ])
}

/**
 * bubblewrap receives what is mounted outside later (on machines where mounts are shared, as under systemd), and that is
 * writable inside. So it is started where nothing is received.
 */
const withoutPropagation = (unshare: string) => [
  ...[unshare, '--user', '--map-current-user', '--mount', '--propagation', 'private', '--'],
]

const bindArgs = ({ mode, source, target, optional }: Bind) => [
  `${mode === 'ro' ? '--ro-bind' : '--bind'}${optional ? '-try' : ''}`,
  source,
  target,
]
