/** Whether a program that is really being started may be, whoever starts it. Only what is forbidden is refused here. */
import type { CallFacts, Refusal } from '../rules/call.ts'
import type { Action } from '../rules/cooldown.ts'
import { forbidden } from './advisory.ts'
import { readingLooks } from './inner-looks.ts'
import { judgeCommand } from './judge-command.ts'
import { onlyLooks } from './looking.ts'
import type { Policy } from './policy.ts'
import { readArguments } from './read.ts'
import { rootRefusal } from './roots.ts'

export type StartDecision =
  | ({ decision: 'deny' } & Refusal)
  | { decision: 'allow'; looks: boolean; actions: Action[] }

/** `cwd`: where it starts, symbolic links resolved. */
export function checkStart(
  argv: readonly string[],
  cwd: string,
  policy: Policy,
  facts: CallFacts,
): StartDecision {
  const reading = readArguments(argv)
  const refusals = reading.commands.map(
    (command) => rootRefusal(command, cwd, facts) ?? forbidden(command, policy, cwd, facts),
  )
  const refusal = refusals.find((found) => found !== undefined)
  if (refusal) return { decision: 'deny', ...refusal }
  const judged = reading.commands.map((command) =>
    onlyLooks(command) ? { looks: true, actions: [] } : judgeCommand(command, policy.forbidding, cwd, facts),
  )
  return {
    decision: 'allow',
    looks: readingLooks(reading) || (reading.unclear.length === 0 && judged.every(({ looks }) => looks)),
    actions: judged.flatMap(({ actions }) => actions),
  }
}

/** Programs that some rule is about, by the names under which they are called. */
export function policedPrograms({ forbidding: { forbidding, cooldowns } }: Policy): string[] {
  const all = new Set([...forbidding.keys(), ...cooldowns.byProgram.keys(), 'rm'])
  // Called under another name, it is the same.
  if (all.has('docker'))
    for (const alias of ['docker-compose', 'podman', 'podman-compose', 'podman-remote', 'nerdctl'])
      all.add(alias)
  return [...all].filter((program) => /^\w[\w.+-]*$/.test(program)).sort()
}
