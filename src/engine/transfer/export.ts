/**
 * Exports a session: its files, what Reprise knows of it, and the messages of the conversation that uses it. A session in
 * use can be exported too: the transcript is taken up to its last complete record.
 */
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { RepriseError } from '../../contract/errors.ts'
import type { ExportSession } from '../../contract/session-transfer.ts'
import type { Clock } from '../../core/clock.ts'
import { Redactor } from '../../core/redact/redactor.ts'
import type { ConversationRecord, MessageRecord, PinRecord } from '../../store/conversations/records.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import { requireSession } from '../sessions/require-session.ts'
import { type BundledMessage, FORMAT, type Header } from './bundle.ts'
import { findSource, type SourceDeps } from './source.ts'
import { writeBundle } from './write-bundle.ts'

export type ExportDeps = SourceDeps & {
  store: Pick<
    Store,
    'getSession' | 'findSession' | 'findConversationOf' | 'getConversation' | 'getPin' | 'listMessages'
  >
  clock: Clock
  redactor: Redactor
}

/** Everything that can be refused is refused before the stream begins. */
export async function exportSession(
  deps: ExportDeps,
  id: string,
  { redact = false }: ExportSession,
): Promise<Readable> {
  const session = await requireSession(deps.store, id)
  const { adapter, files } = await findSource(deps, session)
  const part = await adapter.copies?.readPart(files.transcript, null)
  if (part === null) {
    throw new RepriseError('session-unusable', `the transcript of session ${session.id} has no message`)
  }
  const used = await readConversation(deps.store, session)
  return writeBundle({
    header: describe(session, {
      createdAt: deps.clock.now(),
      adapter: adapter.name,
      redacted: redact,
      costUsd: part?.costUsd ?? session.costUsd,
      turns: part?.questions.length ?? session.turns,
      conversation: used && describeConversation(used),
    }),
    files,
    transcriptBytes: part?.bytes ?? (await stat(files.transcript)).size,
    messages: used?.messages.map(describeMessage) ?? [],
    redaction: redact ? { redactor: strict(deps.redactor), copies: adapter.copies } : null,
  })
}

/** Secrets are removed if asked for, also where nothing is redacted otherwise. */
const strict = (redactor: Redactor) =>
  redactor.options.builtIn ? redactor : new Redactor({ ...redactor.options, builtIn: true })

interface Used {
  conversation: ConversationRecord
  pin: PinRecord
  messages: readonly MessageRecord[]
}

/** null: the session belongs to no conversation, or no longer holds its history. */
async function readConversation(
  store: ExportDeps['store'],
  { id, agent }: SessionRecord,
): Promise<Used | null> {
  const conversationId = await store.findConversationOf(id)
  const conversation = conversationId && (await store.getConversation(conversationId))
  const pin = conversation && (await store.getPin(conversation.id, agent))
  if (!pin || pin.sessionId !== id || pin.epoch !== pin.sessionEpoch) return null
  return { conversation, pin, messages: await store.listMessages(conversation.id) }
}

type Facts = Pick<Header, 'adapter' | 'redacted' | 'conversation'> &
  Pick<Header['session'], 'costUsd' | 'turns'> & { createdAt: Date }

function describe(session: SessionRecord, { createdAt, costUsd, turns, ...facts }: Facts): Header {
  return {
    reprise: 'session',
    format: FORMAT,
    createdAt: createdAt.toISOString(),
    ...facts,
    session: {
      agentSessionId: session.agentSessionId,
      agent: session.agent,
      workDir: session.workDir,
      version: session.runtime?.version ?? null,
      can: [...(session.runtime?.can ?? [])],
      told: session.told,
      compacted: session.compacted,
      turns,
      contextTokens: session.contextTokens,
      contextWindow: session.contextWindow,
      costUsd,
      createdAt: session.createdAt.toISOString(),
      lastUsedAt: session.lastUsedAt.toISOString(),
    },
  }
}

const describeConversation = ({ conversation, pin }: Used): Header['conversation'] => ({
  title: conversation.title,
  instructions: conversation.instructions,
  historyScope: conversation.historyScope,
  sinceTurn: pin.sinceTurn ?? 1,
  seenTurn: pin.seenTurn ?? 1,
})

const describeMessage = (message: MessageRecord): BundledMessage => ({
  turn: message.turn,
  role: message.role,
  agent: message.agent,
  blocks: message.blocks,
  state: message.state,
  origin: message.origin,
  createdAt: message.createdAt.toISOString(),
})
