/** Which of the actions that have a cooldown a shell text would do, and to which services. */
import { type Extraction, type SimpleCommand, type Surroundings, showCommand } from './command.ts'
import type { Action, Cooldowns, CountedPattern } from './cooldown.ts'
import { onlyLooks } from './observe.ts'
import { type Subject, speaksOf } from './pattern.ts'
import { matchServices } from './service-match.ts'
import { nameServices } from './service-name.ts'
import { innerSubjectsOf, subjectsOf } from './subject.ts'

/** Something that may be such an action, and cannot be counted as it is written. */
export interface Unclear {
  rule: string
  /** For the agent. */
  reason: string
}

export interface FoundActions {
  actions: Action[]
  unclear?: Unclear
}

/** Generous: what may be such an action is one, or unclear. */
export function actionsOf(
  { commands, opaque }: Pick<Extraction, 'commands' | 'opaque'>,
  cooldowns: Cooldowns,
  surroundings: Surroundings,
): FoundActions {
  const search = new Search(cooldowns)
  const direct = commands.flatMap((command) => search.look(command, subjectsOf(command, surroundings)))
  const inner = commands.flatMap((command) => {
    const subjects = innerSubjectsOf(command, cooldowns.byProgram)
    return subjects.length > 0 && !onlyLooks(command) ? search.look(command, subjects) : []
  })
  // What a known wrapper starts is a command of its own too, but done once.
  const more = inner.filter((action) => !direct.some((other) => isSame(action, other)))
  for (const { text, why } of opaque) search.lookInText(text, why)
  return { actions: [...direct, ...more], ...(search.unclear && { unclear: search.unclear }) }
}

const isSame = (one: Action, other: Action) => one.rule === other.rule && one.service === other.service

/** In a loop that runs more often than this, it does not matter how often. */
const MOST_TIMES = 100

class Search {
  unclear: Unclear | undefined
  private readonly seen = new Set<CountedPattern>()
  private readonly cooldowns: Cooldowns

  constructor(cooldowns: Cooldowns) {
    this.cooldowns = cooldowns
  }

  look(command: SimpleCommand, subjects: readonly Subject[]): Action[] {
    const found = new Map<string, Action>()
    for (const subject of subjects) {
      for (const counted of this.patternsFor(subject)) {
        for (const action of this.match(counted, subject, command))
          found.set(`${action.rule} ${action.service}`, action)
      }
    }
    const actions = [...found.values()]
    const [first] = actions
    if (!first || command.times === 1) return actions
    if (command.times <= MOST_TIMES)
      return actions.flatMap((action) => Array.from({ length: command.times }, () => action))
    this.unclear ??= {
      rule: first.rule,
      reason: `How often \`${first.command}\` would run is not known, for it is repeated, and it has a cooldown ("${first.rule}"). Run it once, look whether it helped, and only then run it again.`,
    }
    return actions
  }

  /** A program text cannot be followed, so what it speaks of would not be counted. */
  lookInText(text: string, why: string): void {
    for (const counted of this.cooldowns.patterns) {
      const { source } = counted.pattern
      if (this.seen.has(counted) || !speaksOf(text, counted.spoken)) continue
      this.unclear ??= {
        rule: counted.rule,
        reason: `This ${why} and speaks of \`${source}\`, which the cooldown "${counted.rule}" counts. Run that directly, as a command of its own.`,
      }
    }
  }

  private patternsFor({ program, anyProgram }: Subject): readonly CountedPattern[] {
    if (!anyProgram) return this.cooldowns.byProgram.get(program) ?? []
    return this.cooldowns.patterns.filter(({ pattern }) => pattern.operands.length > 1)
  }

  private match(counted: CountedPattern, subject: Subject, command: SimpleCommand): Action[] {
    const match = matchServices(counted, subject)
    if (!match) return []
    this.seen.add(counted)
    const { rule, pattern } = counted
    const services = match === 'unknown' ? undefined : nameServices(counted, match, subject.args, command)
    if (services) {
      const shown = showCommand(command)
      return services.names.map((service) => ({ rule, service, scope: services.scope, command: shown }))
    }
    const [what, advice] =
      match === 'unknown'
        ? ['what it does', "Write the command out, with the service's name."]
        : ['which service it is about', "Write out the service's name."]
    this.unclear ??= {
      rule,
      reason: `\`${showCommand(command)}\` may be what the cooldown "${rule}" counts (${pattern.source}), and ${what} cannot be known. ${advice}`,
    }
    return []
  }
}
