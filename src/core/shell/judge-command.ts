/** Asks the judge of argument lists about a plain command. */
import type { CallDecision, CallFacts, Refusal } from '../rules/call.ts'
import type { Action } from '../rules/cooldown.ts'
import { judgeCall } from '../rules/judge.ts'
import type { CompiledRules } from '../rules/rules.ts'
import { innerLooks } from './inner-looks.ts'
import { absolute, normalize } from './paths.ts'
import { baseName, type PlainCommand } from './reading.ts'

export interface Judgement {
  /** One for each directory in which the command may run. */
  decisions: readonly CallDecision[]
  /** Refused in each of them. */
  refusedEverywhere: Refusal | undefined
  /** Refused in at least one of them. */
  refused: Refusal | undefined
  looks: boolean
  actions: readonly Action[]
}

export function judgeCommand(
  { argv, cwds }: PlainCommand,
  rules: CompiledRules,
  start: string,
  facts: CallFacts,
): Judgement {
  const [program = '', ...args] = argv
  const asked = { ...facts, innerLooks }
  const decisions = cwds.map((cwd) => {
    const dir = cwd === null ? start : facts.realPath(normalize(absolute(cwd, start, facts.home)))
    return judgeCall({ program: baseName(program), args, cwd: dir }, rules, asked)
  })
  const denied = decisions.filter((decision) => decision.decision === 'deny')
  const [refused] = denied
  const allowed = decisions.filter((decision) => decision.decision === 'allow')
  return {
    decisions,
    refused,
    refusedEverywhere: denied.length === decisions.length ? refused : undefined,
    looks: denied.length === 0 && allowed.every(({ looks }) => looks),
    actions: allowed.at(-1)?.actions ?? [],
  }
}
