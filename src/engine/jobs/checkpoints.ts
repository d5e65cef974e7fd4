/**
 * The checkpoints of a job. One is taken before the agent begins, some while it works, one at the end of each attempt,
 * and one of the files that a restore is about to overwrite.
 *
 * Before a later attempt starts, the work tree is compared with the newest checkpoint of the agent's own work; all
 * differences were made by others. An attempt that never accepted its prompt leaves no such checkpoint: its agent was
 * not told about the differences, so the next attempt must be.
 *
 * A failure of git does not fail the job: it is noted in the run's events, and the job continues without the
 * checkpoint.
 */
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { CheckpointDiff, CheckpointKind } from '../../contract/checkpoint.ts'
import type { AttemptId, JobId, RunId } from '../../contract/ids.ts'
import { decideWorkTree } from '../../core/checkpoint/decide.ts'
import type { Clock } from '../../core/clock.ts'
import { captureTree } from '../../process/git/capture.ts'
import { type Checkpoint, commitCheckpoint, deleteCheckpoints } from '../../process/git/checkpoints.ts'
import { diff } from '../../process/git/diff.ts'
import { GitError } from '../../process/git/error.ts'
import { inspect } from '../../process/git/inspect.ts'
import { restore } from '../../process/git/restore.ts'
import type { Git } from '../../process/git/run.ts'
import { findWorkTree, readHead, type WorkTree } from '../../process/git/work-tree.ts'
import type { CheckpointRecord, JobRecord, SessionPosition } from '../../store/jobs/records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { KeyedLock } from '../base/keyed-lock.ts'
import type { Log } from '../base/log.ts'
import { NOTHING_FOUND, type Outset } from '../base/purpose.ts'
import { explained, pick } from './checkpoint-errors.ts'
import { type PositionDeps, readPosition } from './position.ts'

interface Parts {
  store: Store
  agents: PositionDeps['agents']
  clock: Clock
  log: Log
  git: Git
}

export class Checkpoints {
  readonly #parts: Parts
  /** Keyed by work tree, so that captures and restores of one work tree do not overlap. */
  readonly #lock = new KeyedLock()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Called before an attempt. Returns what the agent must know about the work tree, or why the job must not continue.
   */
  async beforeAttempt(run: RunRecord): Promise<Outset> {
    const job = await this.#jobOf(run)
    if (!job?.options.checkpoints) return NOTHING_FOUND
    const { onChange } = job.options.checkpoints
    return this.#within(job, async (workTree): Promise<Outset> => {
      const base = await this.#agentsLast(job.id)
      if (base === null) {
        await this.#take(job, workTree, 'start', null)
        return NOTHING_FOUND
      }
      const runs = await this.#parts.store.listRunsOfJobs([job.id])
      const begun = await Promise.all(runs.map(({ id }) => this.#tookPrompt(id)))
      if (!begun.includes(true)) return NOTHING_FOUND
      const findings = await inspect(workTree, base)
      // A later run of a job was requested by a person, who is assumed to know the work tree. This applies until an
      // agent has accepted that run's prompt.
      const byPerson = runs[0]?.id !== run.id && !begun[runs.findIndex(({ id }) => id === run.id)]
      const unsure = (await this.#parts.store.listCheckpoints(job.id)).some(
        ({ kind, number }) => kind === 'found' && number > base.number,
      )
      const decision = decideWorkTree(onChange, findings, { byPerson, unsure })
      if (decision.kind === 'stop') return stop(decision.why)
      if (decision.kind === 'go') return { ...decision, said: decision.note && 'the work tree has changed' }
      const { saved } = await restore(workTree, {
        commit: base.commit,
        saveAs: { jobId: job.id, message: `before checkpoint ${base.number} was restored` },
        onSaved: (made) => this.#record(job.id, made, 'saved', null),
      })
      const where = saved ? `; its previous state is checkpoint ${saved.number}` : ''
      return {
        kind: 'go',
        note: decision.note,
        said: `the work tree was restored to checkpoint ${base.number}${where}`,
      }
    }).catch((error: unknown): Outset => {
      const why = this.#trouble(job, error)
      return onChange === 'continue' ? { kind: 'go', note: null, said: why } : stop(why)
    })
  }

  /**
   * Takes a checkpoint of the agent's work. Returns a message if that failed. `goneSince` is set if the process ended
   * before this daemon adopted it; changes after that time are not the agent's work.
   */
  async keepWork(
    run: RunRecord,
    attemptId: AttemptId,
    goneSince: Date | null = null,
  ): Promise<string | null> {
    const job = await this.#jobOf(run)
    if (!job?.options.checkpoints) return null
    try {
      await this.#within(job, async (workTree) => {
        const unsure = goneSince !== null && (await this.#changedSince(job, workTree, goneSince))
        // Read before the files: an agent may do again what it has forgotten, but must not believe what was undone.
        const position = await readPosition(this.#parts, run, attemptId)
        await this.#take(job, workTree, unsure ? 'found' : 'agent', attemptId, position)
      })
      return null
    } catch (error) {
      return this.#trouble(job, error)
    }
  }

  /** Turns any error into a message, because an attempt that has ended must settle even if the disk is full. */
  #trouble(job: JobRecord, error: unknown): string {
    this.#parts.log.warn({ job: job.id, error: String(error) }, 'could not take a checkpoint')
    return error instanceof GitError
      ? error.message
      : `could not take a checkpoint: ${(error as Error).message}`
  }

  /** Takes periodic checkpoints while the attempt runs. Returns a function that stops it. */
  async every(run: RunRecord, attemptId: AttemptId): Promise<() => void> {
    const everyMs = (await this.#jobOf(run))?.options.checkpoints?.everyMs
    if (everyMs === undefined) return () => {}
    // The next one is scheduled when the last one is done, so that they do not pile up if git is slow.
    let timer: NodeJS.Timeout
    const report = (error: unknown) =>
      this.#parts.log.error(
        { run: run.id, error: String(error) },
        'periodic checkpoints of this attempt stopped',
      )
    const arm = () => {
      timer = setTimeout(() => void this.keepWork(run, attemptId).then(() => over || arm(), report), everyMs)
      timer.unref()
    }
    let over = false
    arm()
    return () => {
      over = true
      clearTimeout(timer)
    }
  }

  async diff(
    job: JobRecord,
    range: { from?: number | undefined; to?: number | undefined },
  ): Promise<CheckpointDiff> {
    const known = await this.#parts.store.listCheckpoints(job.id)
    const from = pick(job, known, range.from ?? known[0]?.number)
    const to = range.to === undefined ? null : pick(job, known, range.to)
    return explained(() =>
      this.#within(job, async (workTree) => {
        const { files, patch, truncated } = await diff(workTree, from.commit, to?.commit ?? 'work-tree')
        return {
          from: from.number,
          to: to?.number ?? null,
          files: files.map(({ status, path }) => ({ status, path })),
          patch,
          truncated,
        }
      }),
    )
  }

  /**
   * With `goOnFrom`, the restored state becomes the newest of the agent's own: its session was put back to that
   * position.
   */
  async restore(
    job: JobRecord,
    number: number,
    goOnFrom?: { position: SessionPosition | null },
  ): Promise<{ restored: number; saved: number | null }> {
    const target = pick(job, await this.#parts.store.listCheckpoints(job.id), number)
    return explained(() =>
      this.#within(job, async (workTree) => {
        const { saved } = await restore(workTree, {
          commit: target.commit,
          saveAs: { jobId: job.id, message: `before checkpoint ${number} was restored` },
          onSaved: (made) => this.#record(job.id, made, 'saved', null),
        })
        if (goOnFrom) {
          const { tree, commit: previous, attemptId } = target
          const message = `rewound to checkpoint ${number}`
          const made = await commitCheckpoint(workTree, { jobId: job.id, tree, message, previous })
          await this.#record(job.id, made, 'agent', attemptId, goOnFrom.position)
        }
        return { restored: number, saved: saved?.number ?? null }
      }),
    )
  }

  /** Deletes the checkpoints of jobs that ended before the given time. */
  async sweep(before: Date): Promise<void> {
    const { store, log } = this.#parts
    for (const job of await store.listJobsWithOldCheckpoints(before, SWEEP_LIMIT)) {
      try {
        await this.#within(job, (workTree) => deleteCheckpoints(workTree, job.id))
      } catch (error) {
        log.info({ job: job.id, error: String(error) }, 'old checkpoints could not be deleted')
        // If the repository is gone, so are its checkpoints, and their rows can be deleted. Other errors are retried
        // later.
        if (!(error instanceof GitError) || error.kind !== 'failed') continue
      }
      await store.deleteCheckpoints(job.id)
    }
  }

  async #jobOf(run: RunRecord): Promise<JobRecord | null> {
    return run.links.jobId === null ? null : this.#parts.store.getJob(run.links.jobId)
  }

  /** Whether an agent accepted the run's prompt. */
  async #tookPrompt(runId: RunId): Promise<boolean> {
    const { store } = this.#parts
    return (
      (await store.countEvents(runId, 'prompt-accept')) + (await store.countEvents(runId, 'model-call')) > 0
    )
  }

  /**
   * Whether a file that differs from the agent's last checkpoint was changed after `moment`. Deleted files count as
   * changed.
   */
  async #changedSince(job: JobRecord, workTree: WorkTree, moment: Date): Promise<boolean> {
    const base = await this.#agentsLast(job.id)
    const { changed } = await inspect(workTree, base)
    const late = await Promise.all(
      changed.map(({ path }) =>
        lstat(join(workTree.top, path)).then(
          ({ ctimeMs }) => ctimeMs > moment.getTime() + CLOCK_MARGIN_MS,
          () => true,
        ),
      ),
    )
    return late.includes(true)
  }

  /** The newest checkpoint of the agent's own work; before its first attempt, the one taken at the start. */
  async #agentsLast(jobId: JobId): Promise<CheckpointRecord | null> {
    const known = await this.#parts.store.listCheckpoints(jobId)
    return (
      known.findLast(({ kind }) => kind === 'agent') ?? known.find(({ kind }) => kind === 'start') ?? null
    )
  }

  async #take(
    job: JobRecord,
    workTree: WorkTree,
    kind: CheckpointKind,
    attemptId: AttemptId | null,
    position: SessionPosition | null = null,
  ): Promise<void> {
    const last = await this.#agentsLast(job.id)
    const tree = await captureTree(workTree)
    // HEAD is compared too, because a commit does not change the files.
    if (last?.tree === tree && last.head === (await readHead(workTree))) {
      const isAgents = last.kind === 'agent' && position !== null
      if (isAgents) await this.#parts.store.placeCheckpoint(job.id, last.number, position)
      return
    }
    const made = await commitCheckpoint(workTree, {
      jobId: job.id,
      tree,
      message: kind === 'start' ? 'before the agent began' : `by ${attemptId}`,
      previous: last?.commit ?? null,
    })
    await this.#record(job.id, made, kind, attemptId, position)
  }

  #record(
    jobId: JobId,
    made: Checkpoint,
    kind: CheckpointKind,
    attemptId: AttemptId | null,
    position: SessionPosition | null = null,
  ): Promise<void> {
    const { number, ref, commit, tree, head } = made
    const createdAt = this.#parts.clock.now()
    return this.#parts.store.addCheckpoint({
      jobId,
      number,
      kind,
      ref,
      commit,
      tree,
      head,
      attemptId,
      position,
      createdAt,
    })
  }

  #within<T>(job: JobRecord, work: (workTree: WorkTree) => Promise<T>): Promise<T> {
    const top = job.options.workTree ?? ''
    return this.#lock.run(top, async () => {
      const found = await findWorkTree(this.#parts.git, top)
      if (found.kind === 'work-tree') return work(found.workTree)
      throw new GitError('failed', `${top} is not a git work tree any more`)
    })
  }
}

const stop = (why: string): Outset => ({ kind: 'stop', outcome: { name: 'work-dir-changed', message: why } })

const SWEEP_LIMIT = 1000
/** Tolerance for the coarse timestamps of file systems. */
const CLOCK_MARGIN_MS = 50
