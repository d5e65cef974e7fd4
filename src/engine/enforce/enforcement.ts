/** Holds an attempt to its rules on both lines: at its tools, and where programs are really started. */
import { join } from 'node:path'
import type { Env } from '../../agents/adapter.ts'
import type { ConfiguredAgent } from '../../agents/registry.ts'
import type { EventBody } from '../../contract/events.ts'
import type { AttemptDir } from '../../process/attempt-dir.ts'
import { GuardDesk } from '../../process/guard-desk.ts'
import { installGuards, withGuards } from '../../process/guards.ts'
import { type AttemptRecord, OwnershipLost, type RunRecord } from '../../store/base/records.ts'
import { Detached, persist } from '../base/persist.ts'
import type { EngineParts } from '../parts.ts'
import { Gate, isGated, type ProgramStart } from './gate.ts'

/** null: the run is free to do what its permissions say. */
export function openGate(
  parts: EngineParts,
  run: RunRecord,
  attempt: AttemptRecord,
  { adapter, env }: Pick<ConfiguredAgent, 'adapter' | 'env'>,
): Gate | null {
  return isGated(parts, run) ? new Gate(parts, { run, attempt, env, files: adapter.ownFiles(env) }) : null
}

const guardsOf = (dir: AttemptDir) => join(dir.path, 'guards')

/** A repository's own settings may name programs that git starts by itself; whoever can write them could start anything. */
const GIT_TAMED = {
  GIT_CONFIG_COUNT: '3',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_CONFIG_KEY_1: 'core.hooksPath',
  GIT_CONFIG_VALUE_1: '/dev/null',
  GIT_CONFIG_KEY_2: 'safe.bareRepository',
  GIT_CONFIG_VALUE_2: 'explicit',
}

/** Closing, or no longer the owner: the guard waits for whoever comes next. */
const leaveOpen = (signal: AbortSignal) => (error: unknown) => {
  if (!(error instanceof Detached) && !(error instanceof OwnershipLost)) throw error
  return new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(error), { once: true })
  })
}

/** What an agent that is held to rules finds in its environment. */
export function guarded(parts: EngineParts, run: RunRecord, dir: AttemptDir, gate: Gate, env: Env): Env {
  const { tier } = run.links
  const known = {
    ...env,
    ...GIT_TAMED,
    REPRISE_STATE_DIR: parts.stateDir,
    REPRISE_DRY_RUN: String(run.request.dryRun === true || parts.settings.dryRun),
    ...(tier === null ? {} : { REPRISE_TIER: String(tier) }),
  }
  if (tier === null) return known
  return withGuards(known, installGuards({ dir: guardsOf(dir), programs: gate.programs }))
}

/** Answers the guards for as long as the attempt is watched. */
export function openDesk(
  parts: EngineParts,
  { run, attempt, dir }: { run: RunRecord; attempt: AttemptRecord; dir: AttemptDir },
  gate: Gate,
): GuardDesk | null {
  if (run.links.tier === null) return null
  const note = (event: EventBody) =>
    persist(parts, () => parts.store.addEvents(attempt, [event], parts.clock.now()))
      .then(() => parts.bus.publish(run.id))
      .catch((error) => parts.log.error({ run: run.id, error: String(error) }, 'a start was not recorded'))
  const decideNoted = (start: ProgramStart) =>
    parts.handling.during(run.id, 'guard', start.id, () => gate.decideStart(start))
  /** What is to be recorded once the guard has its answer. */
  const records = new Map<string, EventBody>()
  return new GuardDesk({
    dir: guardsOf(dir),
    decide: async ({ id, program, args, cwd }, signal) => {
      const start = { id, program, args, workDir: cwd }
      const { refusal, looks } = await decideNoted(start).catch(leaveOpen(signal))
      const what = [program, ...args].join(' ')
      if (refusal) records.set(id, refusal)
      else if (!looks) records.set(id, { type: 'program-start', program, what, workDir: cwd })
      return refusal ? { decision: 'deny', reason: refusal.reason } : { decision: 'allow', reason: '' }
    },
    onDelivered: ({ id }) => {
      const record = records.get(id)
      records.delete(id)
      if (record) void note(record)
    },
  })
}
