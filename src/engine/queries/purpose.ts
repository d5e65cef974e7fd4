/**
 * A query of a program that embeds Reprise. Its history is the one that the caller gave: a session that cannot be
 * resumed is replaced by a new one that gets this history. It runs until its turn has ended, because the caller waits.
 */
import type { AgentRegistry } from '../../agents/registry.ts'
import { pastTurnsOf } from '../../core/query/past-turns.ts'
import type { Store } from '../../store/store.ts'
import type { RunPurpose } from '../base/purpose.ts'
import { FileNotes, type FileNotesDeps } from './file-notes.ts'
import { queryOf } from './request.ts'

export interface QueryPurposeDeps extends FileNotesDeps {
  store: FileNotesDeps['store'] & Pick<Store, 'getHistory' | 'listAttempts' | 'effects'>
  agents: Pick<AgentRegistry, 'find'>
}

export function createQueryPurpose(deps: QueryPurposeDeps, plain: RunPurpose): RunPurpose {
  const { store } = deps
  const notes = new FileNotes(deps)
  return {
    ...plain,
    name: 'query',
    claims: (run) => queryOf(run) !== null,
    // Nobody would continue a paused query: its caller waits for an answer.
    afterLongWait: 'settle',
    agentOptions: (run) => queryOf(run)?.options ?? null,

    readContext: async (run) => {
      const context = await plain.readContext(run)
      const turns = pastTurnsOf(await store.getHistory(run.id))
      return { ...context, turns, readWhole: async () => ({ turns, catchUp: [] }) }
    },

    duringAttempt: async (run, attempt) => notes.follow(run, attempt),
    afterAttempt: async (run, { attempt }) => {
      await notes.finish(run, attempt)
      return []
    },

    readEnding: async (ending) => {
      const effects = await plain.readEnding(ending)
      if (ending.settled === null) return effects
      const attempts = await store.listAttempts(ending.run.id)
      const startedSession = attempts.some(({ resumed, kind }) => !resumed && kind === 'turn')
      return startedSession ? effects : [...effects, store.effects.forgetHistory()]
    },

    keepsProcess: () => false,
  }
}
