/**
 * Decides what to do when an agent is about to continue in a work tree that has changed since the agent left it.
 *
 * - `continue`: the agent continues and is given a note that lists the changes.
 * - `restore`: changed files are restored first. With an unfinished git operation nothing can be restored, so the job
 *   stops. If only HEAD moved, or there are conflicts but no changes, there is nothing to restore: the agent continues
 *   and is given the note.
 * - `stop`: a person has to look at the work tree.
 *
 * `unsure`: some of the changes may be the agent's own, made after the last checkpoint. They cannot be distinguished
 * from those of others, so nothing is restored.
 *
 * A retry that a person asked for always continues with the note, because that person has seen the work tree.
 *
 * Paths are data from the disk. In a note they are quoted, so that no file name can pass for text of Reprise.
 */
import type { ChangedPath, Findings } from './findings.ts'

export type WorkTreePolicy = 'continue' | 'restore' | 'stop'

export type WorkTreeDecision =
  | { kind: 'go'; note: string | null }
  | { kind: 'restore'; note: string }
  | { kind: 'stop'; why: string }

export function decideWorkTree(
  policy: WorkTreePolicy,
  findings: Findings,
  { byPerson, unsure = false }: { byPerson: boolean; unsure?: boolean },
): WorkTreeDecision {
  if (isEmpty(findings)) return { kind: 'go', note: null }
  if (policy === 'continue' || byPerson) return { kind: 'go', note: describeFor(findings, unsure) }
  if (unsure)
    return { kind: 'stop', why: `${summarize(findings)}; some of these changes may be the agent's own` }
  if (policy === 'stop') return { kind: 'stop', why: summarize(findings) }
  if (findings.unfinished !== null) {
    return {
      kind: 'stop',
      why: `${summarize(findings)}; files cannot be restored while ${operation(findings)} is unfinished`,
    }
  }
  if (findings.changedTotal === 0) return { kind: 'go', note: describeFor(findings, unsure) }
  return { kind: 'restore', note: describeRestored(findings) }
}

const isEmpty = ({ unfinished, conflicted, changedTotal, headMoved }: Findings) =>
  unfinished === null && conflicted.length === 0 && changedTotal === 0 && headMoved === null

const MAX_LINES = 100

/** The note for the agent. */
function describeFor(findings: Findings, unsure: boolean): string {
  if (unsure) {
    return [
      'While you were interrupted somebody may have changed the work tree. These are all changes since the last checkpoint, by you or by others:',
      ...stateOf(findings),
      ...conflictsOf(findings),
      ...changesOf(findings, 'Changed since then'),
      'Look at what is not as you left it before you go on, and do not undo it.',
    ].join('\n')
  }
  return [
    'The work tree has changed since you last worked in it.',
    ...stateOf(findings),
    ...conflictsOf(findings),
    ...changesOf(findings, 'Changed since then'),
    'These changes were not made by you. Look at them before you go on, and do not undo them.',
  ].join('\n')
}

function describeRestored(findings: Findings): string {
  return [
    'The files in the work tree had been changed since you last worked in it, by somebody else. They have been put back to what you left; what they were is saved.',
    ...changesOf(findings, 'Put back'),
    ...stateOf(findings),
  ].join('\n')
}

function stateOf({ unfinished, headMoved }: Findings): string[] {
  return [
    ...(unfinished === null ? [] : [`A git ${unfinished} is unfinished.`]),
    ...(headMoved === null
      ? []
      : [`HEAD has moved from ${commit(headMoved.from)} to ${commit(headMoved.to)}.`]),
  ]
}

const conflictsOf = ({ conflicted }: Findings) =>
  conflicted.length === 0
    ? []
    : ['Files with conflicts:', ...capped(conflicted.map(quoted), conflicted.length)]

const changesOf = ({ changed, changedTotal }: Findings, heading: string) =>
  changedTotal === 0 ? [] : [`${heading}:`, ...capped(changed.map(line), changedTotal)]

const line = ({ status, path }: ChangedPath) => `${status} ${quoted(path)}`

function capped(lines: readonly string[], total: number): string[] {
  const shown = lines.slice(0, MAX_LINES)
  return [
    ...shown.map((text) => `- ${text}`),
    ...(total > shown.length ? [`- and ${total - shown.length} more`] : []),
  ]
}

const commit = (id: string | null) => id ?? 'no commit'

/** The result contains no line break and no tag, whatever the file is called. */
function quoted(path: string): string {
  return JSON.stringify(path).replace(/[<>\u007f-\u009f\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** One line for people. */
function summarize(findings: Findings): string {
  const { conflicted, changed, changedTotal, headMoved, unfinished } = findings
  const parts = [
    ...(unfinished === null ? [] : [`${operation(findings)} is unfinished`]),
    ...(conflicted.length === 0 ? [] : [`there are conflicts in ${named(conflicted, conflicted.length)}`]),
    ...(changedTotal === 0
      ? []
      : [
          `changed: ${named(
            changed.map(({ path }) => path),
            changedTotal,
          )}`,
        ]),
    ...(headMoved === null ? [] : [`HEAD moved from ${commit(headMoved.from)} to ${commit(headMoved.to)}`]),
  ]
  return `the work tree is not as the agent left it: ${parts.join('; ')}`
}

const MAX_NAMED = 5

function named(paths: readonly string[], total: number): string {
  const shown = paths.slice(0, MAX_NAMED)
  const more = total > shown.length ? ` and ${total - shown.length} more` : ''
  return shown.map(quoted).join(', ') + more
}

const operation = ({ unfinished }: Findings) =>
  unfinished === null ? 'nothing' : `${unfinished === 'am' ? 'an' : 'a'} ${unfinished}`
