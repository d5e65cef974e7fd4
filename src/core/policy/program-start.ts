/**
 * Whether a program that is really being started may be. Asked by its guard, for whoever started it: what cannot be seen
 * in a text is seen here. What is allowed at all was decided when the tool was called; here only what is forbidden is
 * looked for.
 */
import { actionsOf } from './actions.ts'
import { withinBudget } from './budget.ts'
import { examineCommand, observes } from './check.ts'
import type { Surroundings } from './command.ts'
import type { Policy } from './policy.ts'
import type { ToolDecision } from './tools.ts'

export type StartDecision = ToolDecision & {
  /** It merely looks: not worth a record. */
  looks: boolean
}

export function checkStart(
  argv: readonly string[],
  policy: Policy,
  surroundings: Surroundings,
): StartDecision {
  return withinBudget(() => decideStart(argv, policy, surroundings))
}

function decideStart(argv: readonly string[], policy: Policy, surroundings: Surroundings): StartDecision {
  const text = argv.map(quoted).join(' ')
  const { decision, found } = examineCommand(text, { ...policy, restricts: false }, surroundings)
  const { opaque: _, ...answer } = decision
  if (answer.decision === 'deny' || !found) return { ...answer, actions: [], looks: false }
  const { actions, unclear } = actionsOf(found, policy.cooldowns, surroundings)
  if (unclear) {
    return {
      ...answer,
      ...unclear,
      decision: 'deny',
      rule: `cooldowns.${unclear.rule}`,
      actions: [],
      looks: false,
    }
  }
  return { ...answer, actions, looks: observes(found, surroundings) }
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`

/** Programs that some rule is about, by the names under which they are called. */
export function policedPrograms({ forbiddingBy, cooldowns }: Policy): string[] {
  const all = new Set([...forbiddingBy.keys(), ...cooldowns.byProgram.keys(), 'rm'])
  // Called under another name, it is the same.
  if (all.has('docker'))
    for (const alias of ['docker-compose', 'podman', 'podman-compose', 'podman-remote', 'nerdctl'])
      all.add(alias)
  return [...all].filter((program) => /^\w[\w.+-]*$/.test(program)).sort()
}
