/**
 * Notes the content of each file right after a tool has read or written it, so that it can be told later whether the
 * tool's result still holds. It follows the events of an attempt. The notes are made in order, one look at a time, and
 * the last look is after the attempt's process has ended; a note that was made before is not replaced.
 */
import { resolve } from 'node:path'
import type { EventOf } from '../../contract/events.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { scanEvents } from '../base/events.ts'
import type { Log } from '../base/log.ts'
import type { ProgressBus } from '../base/progress.ts'
import { hashFile } from './file-hash.ts'

export interface FileNotesDeps {
  store: Pick<Store, 'listEvents' | 'noteToolFiles'>
  bus: Pick<ProgressBus, 'subscribe'>
  log: Log
}

type Attempted = Pick<AttemptRecord, 'id' | 'runId'>

interface Followed {
  seq: number
  started: Map<string, EventOf<'tool-start'>>
  looking: Promise<void>
}

export class FileNotes {
  readonly #deps: FileNotesDeps
  readonly #followed = new Map<string, Followed>()

  constructor(deps: FileNotesDeps) {
    this.#deps = deps
  }

  /** Returns a function that stops following. */
  follow(run: RunRecord, attempt: Attempted): () => void {
    this.#lookAgain(run, attempt)
    return this.#deps.bus.subscribe(run.id, () => this.#lookAgain(run, attempt))
  }

  /** Resolves when all results of the attempt are noted. */
  async finish(run: RunRecord, attempt: Attempted): Promise<void> {
    await this.#lookAgain(run, attempt)
    this.#followed.delete(attempt.id)
  }

  #lookAgain(run: RunRecord, attempt: Attempted): Promise<void> {
    const followed = this.#followed.get(attempt.id) ?? {
      seq: 0,
      started: new Map(),
      looking: Promise.resolve(),
    }
    this.#followed.set(attempt.id, followed)
    followed.looking = followed.looking
      .then(() => this.#look(run, attempt, followed))
      .catch((error: unknown) =>
        this.#deps.log.warn({ run: run.id, error: String(error) }, 'could not note the files of a tool'),
      )
    return followed.looking
  }

  async #look(run: RunRecord, { id: attemptId }: Attempted, followed: Followed): Promise<void> {
    const { store } = this.#deps
    const ended: EventOf<'tool-start'>[] = []
    const query = { attemptId, afterSeq: followed.seq, types: ['tool-start', 'tool-end'] as const }
    await scanEvents(store, run.id, query, ({ seq, body }) => {
      followed.seq = seq
      if (body.type === 'tool-start') followed.started.set(body.toolUseId, body)
      const call =
        body.type === 'tool-end' && !body.isError ? followed.started.get(body.toolUseId) : undefined
      if (call) ended.push(call)
    })
    const files = []
    for (const { toolUseId, kind, paths = [] } of ended) {
      if (kind !== 'read' && kind !== 'write') continue
      for (const given of paths) {
        const path = resolve(run.workDir, given)
        const hash = await hashFile(path)
        if (hash !== undefined) files.push({ runId: run.id, toolUseId, path, hash })
      }
    }
    if (files.length > 0) await store.noteToolFiles(files)
  }
}
