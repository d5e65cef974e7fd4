/** Which changes of files are refused when they are plainly written in a command. */
import type { CallFacts, Refusal } from '../rules/call.ts'
import { changedFiles, redirectedTo } from './changes.ts'
import { onlyLooks } from './looking.ts'
import { isBelow, isDetour, type PathFacts, placesOf } from './paths.ts'
import { type Change, protectedBy } from './protected-paths.ts'
import { type PlainCommand, showCommand } from './reading.ts'
import type { ToolRules } from './tool-rules.ts'
import { shorten } from './words.ts'

/** Where the text runs, and what is known of the files there. */
export interface Place {
  /** The directory in which the text starts, symbolic links resolved. */
  cwd: string
  facts: CallFacts
}

/** A change of something protected. Where it is not certain in which directory a command runs, every one counts. */
export function protectedChange(
  command: PlainCommand,
  { protectedPaths, enforcement }: ToolRules,
  place: Place,
): Refusal | undefined {
  const { exists } = place.facts
  for (const change of changesOf(command)) {
    if (isDetour(change.path)) return detour(command, change.path)
    // With a sandbox the kernel refuses the rest, so only what is certain is refused here.
    if (change.tree && enforcement === 'kernel') continue
    const written = placesOf(change.path, command.cwds, place.cwd, place.facts)
    if (change.inside !== undefined && !isDirectory(change.inside, command, place)) continue
    const places = change.tree ? written.flatMap((path) => treeOf(path, exists)) : written
    const found = places.map((path) => ({
      path,
      pattern: protectedBy({ path, deep: change.deep }, protectedPaths, exists),
    }))
    if (enforcement === 'kernel' && command.cwds.length > 1 && found.some(({ pattern }) => !pattern)) continue
    const touched = found.find(({ pattern }) => pattern !== undefined)
    if (touched)
      return {
        reason: `\`${showCommand(command)}\` would change ${shorten(touched.path)}, which is protected (${touched.pattern}). Leave it as it is, or ask a person.`,
        rule: touched.pattern ?? '',
      }
  }
  return undefined
}

const isDirectory = (path: string, { cwds }: PlainCommand, { cwd, facts }: Place) =>
  /(^|\/)\.{0,2}$/.test(path) || placesOf(path, cwds, cwd, facts).some((place) => facts.exists(`${place}/.`))

/** The directory and those it is in, up to where the repository begins. */
function treeOf(path: string, exists: PathFacts['exists']): string[] {
  const dirs = [path]
  for (let dir = path; dir !== ''; dir = dir.slice(0, dir.lastIndexOf('/'))) {
    dirs.push(dir)
    if (exists(`${dir}/.git`)) return dirs
  }
  return [path]
}

const changesOf = (command: PlainCommand): Change[] => [
  ...redirectedTo(command),
  ...(onlyLooks(command) ? [] : (changedFiles(command)?.changes ?? [])),
]

/** A program of which nothing is known may write to every file that it is given, also as the value of an option. */
export function protectedWord(
  command: PlainCommand,
  { protectedPaths }: ToolRules,
  { cwd, facts }: Place,
): Refusal | undefined {
  if (onlyLooks(command) || changedFiles(command)) return undefined
  for (const word of command.argv.slice(1)) {
    for (const path of new Set([word, word.replace(/^[^=]*=/, ''), word.replace(/^-\w/, '')])) {
      if (path.startsWith('-') || path === '') continue
      for (const place of placesOf(path, command.cwds, cwd, facts)) {
        const pattern = protectedBy({ path: place, deep: false }, protectedPaths, facts.exists)
        if (pattern !== undefined)
          return {
            reason: `\`${showCommand(command)}\` may change ${shorten(place)}, which is protected (${pattern}). Leave it as it is, or ask a person.`,
            rule: pattern,
          }
      }
    }
  }
  return undefined
}

function detour(command: PlainCommand, path: string): Refusal {
  return {
    reason: `\`${showCommand(command)}\` writes to ${shorten(path)}, which may lead anywhere. Write the path out.`,
    rule: 'detour',
  }
}

const SCRATCH = /^\/(tmp|var\/tmp|dev\/shm)\/./

/**
 * Changes are allowed below /tmp, and in the work directory of the run where the tier may write files. The agent may be
 * in another directory by now.
 */
export function changeElsewhere(
  command: PlainCommand,
  { tier, mayWrite }: Pick<ToolRules, 'tier' | 'mayWrite'>,
  { cwd, facts }: Place,
): Refusal | undefined {
  const isOpen = (path: string) =>
    mayWrite ? facts.agentCanWrite(path) : SCRATCH.test(path) && !isBelow(path, cwd)
  for (const { path, tree } of changesOf(command)) {
    if (tree) continue
    const places = placesOf(path, command.cwds, cwd, facts)
    if (places.every(isOpen)) continue
    return {
      reason: mayWrite
        ? `\`${showCommand(command)}\` changes ${shorten(path)}, and tier ${tier} may write files only in the work directory and below /tmp. Recommend escalation if it is needed.`
        : `\`${showCommand(command)}\` writes to ${shorten(path)}, and tier ${tier} may not write files. Leave it out, or write below /tmp.`,
      rule: 'write',
    }
  }
  return undefined
}
