/** Resolves what people type for an id: a part of it, `last`, or the id of something that it belongs to. */
import { RepriseError } from '../../contract/errors.ts'
import type { ConversationId, CycleId, FollowUpId, JobId, RunId, SessionId } from '../../contract/ids.ts'
import { LEAST_CHARS, parseReference, REFERABLE, type Referable, shortId } from '../../contract/reference.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { ReferenceEngine, Referred } from './api.ts'

type ReferenceStore = Pick<
  Store,
  'findIds' | 'getRun' | 'getJob' | 'getCycle' | 'getFollowUp' | 'listRuns' | 'listCycles' | 'getSession'
>

/** How many are named in the error about a reference that fits several. */
const NAMED = 5

export function createReferences({ store }: { store: ReferenceStore }): ReferenceEngine {
  return {
    resolve: async (text, kind) => {
      const reference = parseReference(text)
      if (!reference) {
        throw new RepriseError('bad-request', `${JSON.stringify(text)} is not an id`, {
          hint: `Expected an id, at least ${LEAST_CHARS} characters of its beginning or end, or last.`,
        })
      }
      if (reference.body === '') return newest(store, kind)
      const found = await candidates(store, reference, kind)
      const [only] = found
      if (!only) throw notFound(text, reference.kind ?? kind)
      if (found.length > 1) throw ambiguous(text, found)
      return kind === null || only.kind === kind ? only : belongingTo(store, only, kind)
    },
  }
}

async function candidates(
  store: ReferenceStore,
  { kind: named, body }: { kind: Referable | null; body: string },
  kind: Referable | null,
): Promise<Referred[]> {
  const search = async (kinds: readonly Referable[]) => {
    const found = await Promise.all(
      kinds.map(async (each) =>
        (await store.findIds(each, body, NAMED + 1)).map((id) => ({ kind: each, id })),
      ),
    )
    return found.flat()
  }
  if (named !== null) return search([named])
  const expected = kind === null ? [] : await search([kind])
  return expected.length > 0 ? expected : search(REFERABLE)
}

/** Without a kind: what the newest run is for. */
async function newest(store: ReferenceStore, kind: Referable | null): Promise<Referred> {
  const [id] = await store.findIds(kind ?? 'run', '', 1)
  if (id === undefined) {
    throw new RepriseError('not-found', `there is no ${kind ?? 'run'} yet`, {
      hint: 'Start one with: reprise run "…", or: reprise chat',
    })
  }
  if (kind !== null) return { kind, id }
  const run = await store.getRun(id as RunId)
  return (run && subjectOf(run)) ?? { kind: 'run', id }
}

function subjectOf({ links: { jobId, conversationId, cycleId } }: RunRecord): Referred | null {
  if (jobId !== null) return { kind: 'job', id: jobId }
  if (conversationId !== null) return { kind: 'conversation', id: conversationId }
  return cycleId === null ? null : { kind: 'cycle', id: cycleId }
}

async function belongingTo(store: ReferenceStore, found: Referred, kind: Referable): Promise<Referred> {
  const run = await runOf(store, found)
  const id = kind === 'run' ? run?.id : run && idIn(run, kind)
  if (id != null) return { kind, id }
  throw new RepriseError(
    'bad-request',
    `${found.id} is the id of a ${found.kind}, not of a ${kind}${run && kind !== 'run' ? `, and its run belongs to no ${kind}` : ''}`,
    { hint: `See it with: reprise attach ${found.id}` },
  )
}

function idIn(run: RunRecord, kind: Exclude<Referable, 'run'>): string | null {
  const { jobId, conversationId, cycleId, followUpId } = run.links
  switch (kind) {
    case 'job':
      return jobId
    case 'conversation':
      return conversationId
    case 'cycle':
      return cycleId
    case 'follow-up':
      return followUpId
    case 'session':
      return run.sessionId
    case 'watch':
      return null
  }
}

/** The run that stands for something: the current or newest one. */
async function runOf(store: ReferenceStore, { kind, id }: Referred): Promise<RunRecord | null> {
  const newestOf = async (query: { conversationId: ConversationId } | { sessionId: SessionId }) =>
    (await store.listRuns({ ...query, limit: 1 })).items[0] ?? null
  const byId = (runId: RunId | null | undefined) => (runId ? store.getRun(runId) : null)
  switch (kind) {
    case 'run':
      return store.getRun(id as RunId)
    case 'job':
      return byId((await store.getJob(id as JobId))?.runId)
    case 'conversation':
      return newestOf({ conversationId: id as ConversationId })
    case 'session':
      return newestOf({ sessionId: id as SessionId })
    case 'cycle':
      return byId((await store.getCycle(id as CycleId))?.rootRunId)
    case 'follow-up': {
      const followUp = await store.getFollowUp(id as FollowUpId)
      return byId(followUp?.firedRunId ?? followUp?.runId)
    }
    case 'watch': {
      const [cycle] = (await store.listCycles({ watchId: id as never, limit: 1 })).items
      return byId(cycle?.rootRunId)
    }
  }
}

function notFound(text: string, kind: Referable | null): RepriseError {
  return new RepriseError('not-found', `there is no ${kind ?? 'run, job, conversation or cycle'} ${text}`, {
    hint: 'List them with: reprise jobs, reprise runs, reprise conversations or reprise watch.',
  })
}

function ambiguous(text: string, found: readonly Referred[]): RepriseError {
  const ids = found.map(({ id }) => id)
  const shorts = new Set(ids.map(shortId)).size === ids.length ? ids.map(shortId) : ids
  const more = found.length > NAMED ? ', …' : ''
  return new RepriseError('bad-request', `${text} fits several ids`, {
    hint: `Give more characters: ${shorts.slice(0, NAMED).join(', ')}${more}`,
  })
}
