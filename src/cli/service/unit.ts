/**
 * The systemd unit of the daemon. KillMode=process: systemd ends only the daemon itself. The agents and their keepers
 * continue when it is stopped or restarted, and the next daemon takes them over. Restart=on-failure: `reprise down` ends
 * the daemon successfully, so it stays down.
 */
export interface UnitFacts {
  /** bin/reprise of this installation. */
  program: string
  home: string
  /** Agents are looked for there too. */
  path: string
  /** The user of a system unit; null for a unit of the user's own systemd. */
  user: string | null
}

export function composeUnit({ program, home, path, user }: UnitFacts): string {
  const lines = [
    '# Written by `reprise service install`, which replaces it.',
    '[Unit]',
    'Description=Reprise',
    ...(user === null ? [] : ['Wants=network-online.target', 'After=network-online.target']),
    '',
    '[Service]',
    ...(user === null ? [] : [`User=${user}`]),
    `Environment=${quote(`REPRISE_HOME=${home}`)}`,
    `Environment=${quote(`PATH=${path}`)}`,
    `ExecStart=${quote(program).replaceAll('$', '$$$$')} up --foreground`,
    'Restart=on-failure',
    'RestartSec=2',
    '# Agents continue when the daemon is restarted, and the next daemon takes them over.',
    'KillMode=process',
    'UMask=0077',
    '',
    '[Install]',
    `WantedBy=${user === null ? 'default.target' : 'multi-user.target'}`,
  ]
  return `${lines.join('\n')}\n`
}

/** As systemd reads it: `%` introduces a specifier. */
const quote = (text: string) =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`
