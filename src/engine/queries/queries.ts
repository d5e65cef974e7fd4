/** Implements the public interface of queries. */
import type { AgentRegistry } from '../../agents/registry.ts'
import { RepriseError } from '../../contract/errors.ts'
import { type RunId, SessionId } from '../../contract/ids.ts'
import type { QuerySession } from '../../contract/query.ts'
import type { Run } from '../../contract/run.ts'
import type { Clock } from '../../core/clock.ts'
import { limitHistory } from '../../core/query/limit.ts'
import { dropStale } from '../../core/query/stale.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { GONE, type Processes } from '../base/processes.ts'
import { type NewRunDeps, newRun } from '../path/admit.ts'
import { type CheckDeps, checkRequest } from '../path/check-request.ts'
import { type QueryEngine, type QueryStep, STEPS } from './api.ts'
import { hashFile } from './file-hash.ts'
import { findMadeElsewhere } from './made-elsewhere.ts'
import { QueryOutput } from './output.ts'
import { markQuery, queryOf } from './request.ts'
import { metadataOf, readTranscript, type TranscriptDeps } from './transcript.ts'

export type QueriesDeps = CheckDeps &
  NewRunDeps &
  TranscriptDeps & {
    store: CheckDeps['store'] & Store
    agents: CheckDeps['agents'] & Pick<AgentRegistry, 'find' | 'get' | 'setVariables'>
    processes: Pick<Processes, 'folderOf' | 'follow'>
    clock: Clock
    redactor: Redactor
  }

export interface QueriesHooks {
  wakeDispatcher: () => void
  describe: (run: RunRecord) => Promise<Run>
}

export function createQueries(deps: QueriesDeps, { wakeDispatcher, describe }: QueriesHooks): QueryEngine {
  const { store, agents, clock, processes } = deps
  const findSession = (id: string) => (SessionId.is(id) ? store.getSession(id) : store.findSession(id))
  return {
    admitQuery: async ({ request, history, options, variables }) => {
      const { sessionId } = request
      const isKnown = sessionId === undefined || (await findSession(sessionId)) !== null
      const checked = await checkRequest(deps, isKnown ? request : { ...request, sessionId: undefined })
      requireReader(agents, checked.agent)
      const run = newRun(deps, request, checked)
      const forget = agents.setVariables(run.id, variables)
      try {
        const agent = agents.get(checked.agent, run.id)
        const elsewhere = isKnown
          ? null
          : await findMadeElsewhere(agents, agent, {
              agentSessionId: sessionId,
              workDir: request.workDir,
              now: clock.now(),
            })
        if (!isKnown && !elsewhere) throw unknownSession(sessionId)
        const query = {
          ...run,
          sessionId: elsewhere?.id ?? run.sessionId,
          request: { ...run.request, purpose: markQuery({ options }) },
        }
        const admitted = await store.admitQuery(query, limitHistory(history), elsewhere)
        wakeDispatcher()
        return { run: await describe(admitted), forget }
      } catch (error) {
        forget()
        throw error
      }
    },

    listSteps: async (runId, afterSeq) => {
      const events = await store.listEvents(runId, { afterSeq, types: STEPS })
      return events.map(({ seq, attemptId, body }) => ({ seq, attemptId, body: body as QueryStep['body'] }))
    },

    openOutput: async (runId, attemptId) => {
      const attempt = (await store.listAttempts(runId)).find(({ id }) => id === attemptId)
      const run = await store.getRun(runId)
      if (!attempt || !run)
        throw new RepriseError('not-found', `there is no attempt ${attemptId} of ${runId}`)
      const output = processes.follow(processes.folderOf(attempt.spool), GONE, attempt.spoolFrom)
      return new QueryOutput(output, requireReader(agents, run.agent), attempt.spoolFrom)
    },

    listOpenQueries: async () => {
      const open: RunId[] = []
      for (const state of ['queued', 'running'] as const) {
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const page = await store.listRuns({ limit: 200, state, ...(cursor ? { cursor } : {}) })
          open.push(...page.items.filter((run) => queryOf(run) !== null).map(({ id }) => id))
          cursor = page.nextCursor
        }
      }
      return open
    },

    readQuerySession: async (id) => {
      const session = await findSession(id)
      if (!session) return null
      const transcript = await readTranscript(deps, session)
      const whole = { metadata: metadataOf(deps, session, transcript), messages: transcript.messages }
      return JSON.parse(deps.redactor.json(JSON.stringify(whole))) as QuerySession
    },

    reconstructContext: async (id, { maxAgeMs }) => {
      const session = await findSession(id)
      if (!session) return null
      const { messages, runs } = await readTranscript(deps, session)
      const files = await store.listToolFiles(runs.map((run) => run.id))
      const present = new Map<string, string | null>()
      for (const { path } of files) {
        if (!present.has(path)) present.set(path, (await hashFile(path)) ?? null)
      }
      const filesOf = (toolUseId: string) =>
        files.flatMap((file) =>
          file.toolUseId === toolUseId
            ? [{ path: file.path, before: file.hash, now: present.get(file.path) ?? null }]
            : [],
        )
      return dropStale(messages, { filesOf, now: clock.now(), maxAgeMs })
    },

    transcripts: store,
  }
}

const unknownSession = (id: string) =>
  new RepriseError('not-found', `there is no session ${JSON.stringify(id)}`, {
    hint: '`reprise sessions` lists them.',
  })

function requireReader(agents: Pick<AgentRegistry, 'get'>, name: string) {
  const { adapter } = agents.get(name)
  if (adapter.readMessage) return adapter.readMessage
  throw new RepriseError('agent-unavailable', `${name} cannot be used by the provider`, {
    hint: 'Its output does not have the form of the Agent SDK. Use another agent, or openReprise.',
  })
}
