/** Whether a call may be something that the never-list or the tier's deny-list forbids. In doubt it is. */
import type { Reading } from './arguments.ts'
import { type Call, type Refusal, showCall } from './call.ts'
import { canonical, mayMatch } from './pattern.ts'
import type { CompiledRules, ForbiddingPattern } from './rules.ts'

/** `looks`: the call only looks, so what it mentions is not started. */
export function forbiddenRefusal(
  call: Call,
  reading: Reading,
  rules: CompiledRules,
  looks: boolean,
): Refusal | undefined {
  const { forbidding, tier } = rules
  let found: ForbiddingPattern | undefined
  const look = (program: string, args: readonly string[]) => {
    const match = forbidding.get(program)?.find(({ pattern }) => mayMatch(pattern, args))
    if (match && (!found || match.rule === 'never')) found = match
  }
  look(reading.program, reading.args)
  if (!looks) for (const { program, args } of innerCommands(reading, forbidding)) look(program, args)
  if (!found) return undefined
  const { pattern, rule } = found
  const shown = showCall(call)
  return {
    rule: pattern.source,
    reason:
      rule === 'never'
        ? `\`${shown}\` may never run, at no tier (rule: ${pattern.source}). Do without it, or ask a person.`
        : `\`${shown}\` may not run at tier ${tier} (rule: ${pattern.source}). Recommend escalation if it is needed.`,
  }
}

/** More mentions of programs than this in one command are not followed. */
const MOST_STARTS = 16

/** Programs that give a text to a shell elsewhere. */
const GIVES_TEXT = new Set(['ssh', 'ansible', 'ansible-playbook'])
/** Programs whose words are texts for people, or names. */
const TAKES_TEXT = new Set([
  'gh',
  'tea',
  'apprise',
  'git',
  'docker',
  'kubectl',
  'helm',
  'echo',
  'printf',
  'grep',
])

/** A path, or a name under which `canonical` knows a program. */
const OTHER_NAME = /[/-]|^(podman|nerdctl)/

interface InnerCommand {
  program: string
  args: readonly string[]
}

/**
 * Commands that the arguments may start elsewhere (`ssh host docker …`, `docker exec web sh -c '…'`): from every word that
 * is one of the names to the end of that command. Texts are taken apart without being understood.
 */
export function innerCommands(reading: Reading, names: ReadonlyMap<string, unknown>): InnerCommand[] {
  const found: InnerCommand[] = []
  for (const segment of segmentsOf(reading)) {
    let starts = 0
    for (const [at, word] of segment.entries()) {
      if (!names.has(word) && !OTHER_NAME.test(word)) continue
      const { program, args } = canonical(word, [])
      if (!names.has(program)) continue
      if (++starts > MOST_STARTS) throw new Error('it names too many programs')
      found.push({ program, args: [...args, ...segment.slice(at + 1)] })
    }
  }
  return found
}

function segmentsOf(reading: Reading): string[][] {
  const { program, inner, unknown, args, options } = reading
  const entry = options.filter(({ name }) => name === '--entrypoint').map(({ value = '' }) => value)
  if (GIVES_TEXT.has(program)) return commandsIn(args)
  if (inner) return commandsIn([...entry, ...(unknown.length > 0 ? args : inner)])
  return TAKES_TEXT.has(program) ? [] : [args.filter((arg) => !/\s/.test(arg))]
}

/** The words of each command in a shell text; quotes and backslashes are dropped. */
function commandsIn(args: readonly string[]): string[][] {
  return args
    .join(' ')
    .replaceAll(/['"\\]/g, '')
    .split(/[;&|\n()`{}<>]/)
    .map((part) => part.split(/\s+/).filter(Boolean))
    .filter((part) => part.length > 0)
}
