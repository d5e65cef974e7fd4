/**
 * Asks a person, on a terminal, whether the settings of a directory may apply, and shows everything that they would allow or start. Text
 * from the directory is made fully visible first.
 */
import { createInterface } from 'node:readline/promises'
import { RepriseError } from '../../contract/errors.ts'
import type { DirectoryTrust, Grant } from '../../contract/trust.ts'
import { visible } from '../../contract/visible-text.ts'
import { type CliContext, notify } from '../base/context.ts'
import type { AskDaemon } from '../daemon/connect.ts'
import { pagesOf, showPages } from '../terminal/pages.ts'

export const canAsk = ({ stdin, stderr, json }: CliContext) =>
  stdin.isTTY === true && stderr.isTTY === true && !json

/** Before a run: asks if nobody has decided about the present content. Elsewhere than on a terminal, the run goes without it and says so. */
export async function offerTrust(ask: AskDaemon, dir: string, context: CliContext): Promise<void> {
  if (!canAsk(context)) return
  const found = await ask((client) => client.inspectTrust(dir)).catch(() => null)
  // A directory that cannot be used is reported by the run itself.
  if (found?.state === 'untrusted' || found?.state === 'changed') await decide(ask, found, context)
}

/** Returns the directory after the decision; as it was, if nothing was decided. */
export async function decide(
  ask: AskDaemon,
  found: DirectoryTrust,
  context: CliContext,
): Promise<DirectoryTrust> {
  const lines = createInterface({ input: context.stdin, output: context.stderr as NodeJS.WritableStream })
  lines.on('SIGINT', () => context.interrupt())
  const closed = new AbortController()
  lines.on('close', () => closed.abort())
  const question = (text: string) => lines.question(text, { signal: closed.signal })
  try {
    const pages = pagesOf(describeTrust(found).join('\n'), context.stderr)
    const isRead = await showPages(pages, (page) => notify(context, page), question)
    const reply = isRead ? await question('Trust this directory? y: yes, n: no, Enter: not now: ') : 'n'
    const decision = /^y(es)?$/i.test(reply.trim()) ? 'trust' : /^no?$/i.test(reply.trim()) ? 'decline' : null
    if (decision === null) return found
    const { dir, digest } = found
    return await ask((client) => client.decideTrust({ dir, digest, decision }))
  } catch (error) {
    // Ctrl-D: the person does not want to decide now.
    if (closed.signal.aborted && !(error instanceof RepriseError)) return found
    throw error
  } finally {
    lines.close()
  }
}

const HEADINGS: Readonly<Record<DirectoryTrust['state'], string>> = {
  nothing: 'has nothing that needs trust.',
  untrusted: 'has settings that nobody has trusted. They do not apply.',
  declined: 'has settings that you decided to go without. They do not apply.',
  changed: 'was trusted, but its settings have changed. They do not apply.',
  trusted: 'is trusted. Its settings apply.',
  unusable: 'cannot be trusted. Its settings do not apply.',
}

const TITLES: Readonly<Record<Grant['kind'], string>> = {
  hook: 'programs that the agent starts by itself',
  'mcp-server': 'servers that the agent starts',
  permission: 'permission rules',
  setting: 'other settings of the agent',
  command: 'commands',
  agent: 'agents',
  skill: 'skills',
  reprise: 'settings of Reprise for runs in this directory',
  file: 'other files that the agent may obey',
}

export function describeTrust({ dir, state, grants, problems }: DirectoryTrust): string[] {
  const kinds = Object.keys(TITLES) as Grant['kind'][]
  return [
    `${visible(dir)} ${HEADINGS[state]}`,
    ...problems.map((problem) => `  ${visible(problem)}`),
    ...kinds.flatMap((kind) => {
      const own = grants.filter((grant) => grant.kind === kind)
      return own.length === 0 ? [] : [`${TITLES[kind]}:`, ...own.map((grant) => grantLine(grant, dir))]
    }),
  ]
}

/** Continuation lines are marked, so that no text can look like another entry. */
const grantLine = ({ text, file }: Grant, dir: string) =>
  `  ${visible(text).replaceAll('\n', '\n  | ')}  (${visible(file.startsWith(`${dir}/`) ? file.slice(dir.length + 1) : file)})`
