/**
 * Decides about a program start, from its argument list and the rules alone. In this order:
 *
 * 1. what no tier may do, whatever is configured (built-in.ts, hidden files);
 * 2. the never-list and the tier's deny-list, searched for generously;
 * 3. files that the agent could have written;
 * 4. what merely looks is allowed; otherwise the tier's allow-list, if it has one, must certainly name the call;
 * 5. cooldowns: what the call does to which services; whether there is room is decided by whoever counts;
 * 6. in a dry run everything that does not merely look is refused.
 *
 * An error anywhere refuses the call.
 */
import { type Reading, readArguments } from './arguments.ts'
import { builtInRefusal } from './built-in.ts'
import { type Call, type CallDecision, type CallFacts, type Refusal, showCall } from './call.ts'
import { checkCompose } from './compose.ts'
import { type Action, EVERY } from './cooldown.ts'
import { copiedFiles } from './copied-files.ts'
import { fileRefusal, hiddenRefusal } from './files.ts'
import { forbiddenRefusal, innerCommands } from './forbidden.ts'
import { withRepository } from './forge.ts'
import { talksToRemote } from './git-remote.ts'
import { looksOnly } from './looking.ts'
import { canonical, surelyMatches } from './pattern.ts'
import { optionTables } from './program-options.ts'
import type { CompiledRules } from './rules.ts'
import { actionsOf } from './services.ts'

const MOST_BYTES = 1_000_000
const MOST_ARGUMENTS = 20_000

export function judgeCall(call: Call, rules: CompiledRules, facts: CallFacts): CallDecision {
  try {
    const size = call.args.reduce((sum, arg) => sum + arg.length + 1, 0)
    if (size > MOST_BYTES || call.args.length > MOST_ARGUMENTS)
      return denied({
        reason: `The arguments of ${call.program} are too many to be checked. Split the call up.`,
        rule: 'unreadable',
      })
    if ([call.program, ...call.args].some((text) => text.includes('\0')))
      return denied({
        reason: `The arguments of ${call.program} contain a zero byte. Leave it out.`,
        rule: 'unreadable',
      })
    return decide(call, rules, withoutProcesses(facts))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return denied({
      reason: `\`${showCall(call)}\` could not be checked (${why}). Do it in a simpler way.`,
      rule: 'unreadable',
    })
  }
}

/**
 * What /proc says about processes is another thing outside than inside: `/proc/self/environ` would be the environment of the
 * program itself. Its descriptors are those that the caller has given it.
 */
const OF_A_PROCESS = /^\/proc\/(self|thread-self|\d+)\/(?!fd\/)/

const withoutProcesses = (facts: CallFacts): CallFacts => ({
  ...facts,
  isHidden: (path) => OF_A_PROCESS.test(path) || facts.isHidden(path),
})

const denied = (refusal: Refusal): CallDecision => ({ decision: 'deny', ...refusal })

function decide(call: Call, rules: CompiledRules, facts: CallFacts): CallDecision {
  const { program, args } = canonical(call.program, call.args)
  const reading = readArguments(program, args)
  const looks = looksOnly(reading, facts)
  const refusal =
    builtInRefusal(reading, call, facts) ??
    hiddenRefusal(reading, call, facts) ??
    forbiddenRefusal(call, reading, rules, looks) ??
    fileRefusal(reading, call, { restricts: rules.restricts, looks }, facts)
  if (refusal) return denied(refusal)
  const compose = checkCompose(reading, call, { restricts: rules.restricts, looks }, facts)
  if ('refusal' in compose) return denied(compose.refusal)
  const missing = rules.restricts && !looks ? notAllowed(call, reading, rules) : undefined
  if (missing) return denied(missing)
  const found = looks ? { actions: [] } : allActions(call, reading, rules, facts)
  if ('unclear' in found) return denied(found.unclear)
  const forge = withRepository(reading, call, facts)
  if ('refusal' in forge) return denied(forge.refusal)
  if (rules.dryRun && !looks) return rehearsed(call, rules)
  // gh and tea are started elsewhere, with other arguments.
  const started = forge.args === reading.args ? reading : readArguments(program, forge.args)
  // `docker-compose` was read as `docker compose`.
  const added = args.length - call.args.length
  return {
    decision: 'allow',
    looks,
    actions: found.actions,
    args: (program === 'docker' ? compose.args : forge.args).slice(added),
    cwd: forge.cwd,
    copies: [...compose.copies, ...(rules.restricts ? [] : copiedFiles(started, call, facts))].map(
      (copy) => ({
        ...copy,
        index: copy.index - added,
      }),
    ),
  }
}

/** At these tiers an option must be known, because it may name a file or another place. */
function notAllowed(call: Call, reading: Reading, { tier, allowing }: CompiledRules): Refusal | undefined {
  const { program, unknown, options, words } = reading
  const shown = showCall(call)
  const isKnown =
    optionTables(program, []).length > 0 &&
    !(program === 'git' && (words[0] === 'push' || !talksToRemote(reading.args)))
  const patterns = allowing.get(program) ?? []
  const isAllowed = patterns.some((pattern) => surelyMatches(pattern, reading))
  const option =
    options.find(({ name }) => ELSEWHERE.get(program)?.test(name))?.name ??
    unknown.find((one) => isKnown && (isAllowed || one.words === 0))?.text
  if (isAllowed && option === undefined) return undefined
  if (option !== undefined)
    return {
      reason: `\`${shown}\` is not allowed at tier ${tier}: ${option} is not an option that may be given there. Leave it out.`,
      rule: 'options',
    }
  const hint =
    patterns.length > 0 ? ` Of ${program} it may: ${patterns.map(({ source }) => source).join(', ')}.` : ''
  return {
    reason: `\`${shown}\` is not allowed at tier ${tier}: it does not merely look, and no rule allows it.${hint} Recommend escalation if it is needed.`,
    rule: call.program,
  }
}

/** Options that lead to another machine, or open an editor or a browser. */
const ELSEWHERE: ReadonlyMap<string, RegExp> = new Map([
  ['systemctl', /^(-H|--host|-M|--machine|--root|--image|--image-policy)$/],
  ['gh', /^(-w|--web|-e|--editor|--recover)$/],
])

/** What the call itself does to services, and what a command does that it starts elsewhere. */
function allActions(
  call: Call,
  reading: Reading,
  { cooldowns, restricts }: CompiledRules,
  facts: CallFacts,
): { actions: Action[] } | { unclear: Refusal } {
  const actions: Action[] = []
  const inner = innerCommands(reading, cooldowns.byProgram).map(({ program, args }) =>
    readArguments(program, args),
  )
  for (const [at, one] of [reading, ...inner].entries()) {
    const found = actionsOf(at === 0 ? call : { ...call, cwd: '/' }, one, cooldowns, facts)
    if ('unclear' in found) return found
    actions.push(...found.actions)
  }
  const every = restricts ? actions.find(({ service }) => service === EVERY) : undefined
  if (!every) return { actions }
  return {
    unclear: {
      reason: `\`${showCall(call)}\` would do this to every service. Name the services.`,
      rule: `cooldowns.${every.rule}`,
    },
  }
}

function rehearsed(call: Call, { tier }: CompiledRules): CallDecision {
  const where = tier === undefined ? 'the policy' : `tier ${tier}`
  return {
    decision: 'deny',
    reason: `This is a dry run, so nothing may be changed: \`${showCall(call)}\` would have been allowed at ${where}. Do not try it in another way; say in your report that you would have done it, and why.`,
    rule: 'dry-run',
    dryRun: true,
  }
}
