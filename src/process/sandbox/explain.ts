/** Why a sandbox could not be started, and what can be done about it: from what the attempt printed and facts about the machine. */

/** null: the machine does not have the setting. */
export interface MachineFacts {
  isRoot: boolean
  /** /proc/sys/user/max_user_namespaces */
  maxUserNamespaces: number | null
  /** /proc/sys/kernel/unprivileged_userns_clone (Debian) */
  unprivilegedClone: number | null
  /** /proc/sys/kernel/apparmor_restrict_unprivileged_userns (Ubuntu) */
  appArmorRestricts: number | null
  /** Whether a seccomp filter applies to this process. */
  hasSeccompFilter: boolean
  isContainer: boolean
}

export type RefusalReason =
  | 'not-installed'
  | 'too-old'
  | 'namespaces-disabled'
  | 'apparmor'
  | 'container'
  | 'seccomp'
  | 'unknown'

export interface Refusal {
  reason: RefusalReason
  /** What happened, for people. */
  message: string
  /** What to do about it. */
  advice: string
}

const INSTALL = 'Install bubblewrap (for example `apt install bubblewrap` or `dnf install bubblewrap`).'

export const notInstalled = (programs: readonly string[]): Refusal => ({
  reason: 'not-installed',
  message: `${programs.join(', ')} ${programs.length > 1 ? 'are' : 'is'} not installed.`,
  advice: INSTALL,
})

/** `printed` is what the failed attempt wrote to its standard error. */
export function explainRefusal(printed: string, facts: MachineFacts): Refusal {
  const said = printed.trim().split('\n').at(-1)?.trim() ?? ''
  const refuse = (reason: RefusalReason, why: string, advice: string): Refusal => ({
    reason,
    message: said ? `${why} It said: ${said}` : why,
    advice,
  })
  if (/unrecognized option|unknown option|invalid option/i.test(printed))
    return refuse(
      'too-old',
      'An installed program lacks an option that the sandbox needs.',
      'Needed: bubblewrap 0.8 or util-linux 2.38, and GNU coreutils 8.31.',
    )
  const isDenied = /not permitted|permission denied|no space left|read-only|invalid argument/i.test(printed)
  if (!isDenied) return refuse('unknown', 'The sandbox could not be started.', INSTALL)
  if (facts.maxUserNamespaces === 0)
    return refuse(
      'namespaces-disabled',
      'User namespaces are disabled on this machine.',
      'As root: `sysctl user.max_user_namespaces=10000`.',
    )
  if (facts.unprivilegedClone === 0 && !facts.isRoot)
    return refuse(
      'namespaces-disabled',
      'Only root may create user namespaces on this machine.',
      'As root: `sysctl kernel.unprivileged_userns_clone=1`.',
    )
  // The usual filters of containers come before AppArmor: inside one, settings of the host cannot be changed.
  if (facts.isContainer)
    return refuse(
      'container',
      'This is a container, whose own restrictions do not allow a sandbox inside.',
      'Start it with `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined`, ' +
        'or let the container be the sandbox.',
    )
  if (facts.appArmorRestricts === 1 && !facts.isRoot)
    return refuse(
      'apparmor',
      'AppArmor does not let unprivileged programs use user namespaces.',
      'Add an AppArmor profile with `userns,` for bwrap (see /etc/apparmor.d/bwrap-userns-restrict), or, as root: ' +
        '`sysctl kernel.apparmor_restrict_unprivileged_userns=0`.',
    )
  if (facts.hasSeccompFilter)
    return refuse(
      'seccomp',
      'A seccomp filter of the surrounding service or container refuses namespaces.',
      'Start Reprise without that filter (systemd: `RestrictNamespaces=no`).',
    )
  return refuse('unknown', 'The kernel refused the sandbox.', INSTALL)
}
