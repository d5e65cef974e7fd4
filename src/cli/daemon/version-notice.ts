/** Says that the daemon is of another version than this command, once per command, and what to do about it. */
import { RepriseError } from '../../contract/errors.ts'
import { compareVersions } from '../../contract/version.ts'
import { type CliContext, notify } from '../base/context.ts'
import { styleFor } from '../terminal/terminal.ts'
import type { DaemonLink } from './link.ts'

/** The versions of daemons that differ from that of the command. */
const noticed = new WeakMap<CliContext, string>()

/** On stderr, also with --json. */
export function noticeVersion(context: CliContext, { version }: Pick<DaemonLink, 'version'>): void {
  if (version === context.version || noticed.get(context) === version) return
  noticed.set(context, version)
  notify(context, styleFor(context.stderr, context.env).yellow(describe(version, context.version)))
}

/** Explains the error of a daemon that does not know an operation or a field. Other errors are returned unchanged. */
export function explainVersions(error: RepriseError, context: CliContext): RepriseError {
  const version = noticed.get(context)
  if (version === undefined || !isUnknownToDaemon(error)) return error
  return new RepriseError(
    error.code,
    `the daemon (Reprise ${version}) does not know what this command (Reprise ${context.version}) asks for: ${error.message}`,
    { hint: remedy(version, context.version), details: error.details, cause: error },
  )
}

export const describe = (daemon: string, own: string) =>
  `The daemon is Reprise ${daemon}, this command is Reprise ${own}. ${remedy(daemon, own)}`

function remedy(daemon: string, own: string): string {
  return (compareVersions(own, daemon) ?? 0) < 0
    ? 'Use the newer version of the command.'
    : 'Restart the daemon with: reprise up; running agents continue.'
}

/** An operation or a method that does not exist, or a field that the daemon does not expect. */
const isUnknownToDaemon = ({ code, message }: RepriseError) =>
  (code === 'not-found' && /^\/api\/\S+ does not exist$/.test(message)) ||
  (code === 'bad-request' && /: unknown field\b|^\/api\/\S+ does not support /.test(message))
