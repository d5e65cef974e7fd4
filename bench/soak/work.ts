/** The work of a round, drawn before it begins, so that the model's script can know all of it. */
import type { PermissionMode } from '../../src/contract/create-run.ts'
import type { World } from '../../test/support/world.ts'
import type { Random } from './random.ts'
import { type Task, tagOf } from './scenario.ts'

export interface RunWork {
  kind: 'run'
  tag: string
  permissions: PermissionMode
  /** Continues in the session of an earlier run. */
  inSession: boolean
  /**
   * How it is requested: by itself, as a turn of a conversation, as a follow-up in the session of an earlier run, or at
   * a tier that calls for the next one.
   */
  as: 'run' | 'turn' | 'follow-up' | 'chain'
  cancelAfterMs: number | null
}

export interface JobWork {
  kind: 'job'
  tag: string
  permissions: PermissionMode
  /** One of the directories that jobs share. */
  dir: number
  priority: number
  maxResumes: number
  timeoutMs: number | null
  /** Used up by the first call, or by the second; a person then raises it. */
  maxBudgetTokens: number | null
  cancelAfterMs: number | null
  /** What a person does with the job after cancelling it. */
  afterCancel: 'leave' | 'resume' | 'fresh'
  /** Requested a second time with the same key. */
  askTwice: boolean
}

export type Work = RunWork | JobWork

export const JOB_DIRS = 4
/** For runs, and for jobs without their own limit. */
export const MAX_RESUMES = 4
export const jobDir = (world: World, dir: number) => `${world.workDir}/${dir}`
/** The files to which tasks write their lines. */
export const notesOf = (world: World) => [
  `${world.workDir}/notes`,
  ...Array.from({ length: JOB_DIRS }, (_, dir) => `${jobDir(world, dir)}/notes`),
]

/** Longer than an undisturbed turn takes, shorter than a tool that never ends. */
const TIMEOUT_MS = 7000

export interface WorkMix {
  jobShare: number
  /** Also turns, follow-ups and chains. */
  mixed: boolean
  faultyModel: boolean
}

export function drawWork(random: Random, count: number, mix: WorkMix): Work[] {
  return Array.from({ length: count }, (_, index) =>
    random.chance(mix.jobShare) ? drawJob(random, index + 1, mix) : drawRun(random, index + 1, mix),
  )
}

function drawRun(random: Random, number: number, { mixed }: WorkMix): RunWork {
  const as = mixed ? random.pick(['run', 'turn', 'turn', 'turn', 'follow-up', 'chain'] as const)! : 'run'
  const task = random.chance(0.35) ? 'say' : 'note'
  return {
    as,
    kind: 'run',
    tag: tagOf(number, as === 'chain' ? 'chain' : task),
    permissions: random.pick(['allow', 'allow', 'ask', 'ask-all'] as const)!,
    inSession: random.chance(0.4),
    cancelAfterMs: random.chance(0.05) ? random.between(0, 1500) : null,
  }
}

const FAULTY_MODEL: readonly Task[] = ['fail', 'cut']

function drawJob(random: Random, number: number, { faultyModel }: WorkMix): JobWork {
  const tasks: readonly Task[] = ['say', 'say', 'note', 'note', 'note', 'note', 'slow', 'limit']
  const task = random.pick(faultyModel ? [...tasks, ...FAULTY_MODEL] : tasks)!
  return {
    kind: 'job',
    tag: tagOf(number, task),
    permissions: random.pick(['allow', 'allow', 'allow', 'ask'] as const)!,
    dir: Math.floor(random.between(0, JOB_DIRS)),
    priority: Math.floor(random.between(-5, 6)),
    maxResumes: random.pick([MAX_RESUMES, 6] as const)!,
    timeoutMs: task === 'slow' ? TIMEOUT_MS : null,
    maxBudgetTokens: random.chance(0.15) ? random.pick([100, 20_000] as const)! : null,
    cancelAfterMs: random.chance(0.12) ? random.between(0, 4000) : null,
    afterCancel: random.pick(['leave', 'resume', 'resume', 'fresh'] as const)!,
    askTwice: random.chance(0.1),
  }
}
