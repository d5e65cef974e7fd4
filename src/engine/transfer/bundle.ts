/**
 * The format of an exported session: gzip'd lines of JSON, each an object with one field that says what it is.
 *
 *     header · (file · (text | base64)* · end)* · message* · complete
 *
 * `header` names format and session. A file is its path, its content in pieces, and its size and checksum. The first
 * file is the transcript; the others are in the folder of the session. Messages are those of the conversation that uses the
 * session. `complete` is the last line: it has the checksum of all lines before it, so that a cut-off file is noticed.
 *
 * There are no links, owners or modes in it, so an import can create nothing but regular files. Everything is known only
 * after it was read once, which is why sizes and checksums come last: writing needs one pass and little memory.
 */
import { z } from 'zod'
import { ContentBlock, HistoryScope, MessageOrigin } from '../../contract/conversation.ts'

export const FORMAT = 1
export const TRANSCRIPT = 'transcript.jsonl'

/** Limits of what an import reads. An export writes no longer lines than half of this, except for messages. */
export const LIMITS = {
  lineChars: 64 << 20,
  bytes: 4 * 1024 ** 3,
  files: 20_000,
  messages: 200_000,
}
/** The content of one line. */
export const PIECE_BYTES = 1 << 16

const text = (max: number) => z.string().max(max)
const instant = z.iso.datetime()
const amount = z.number().nonnegative().nullable()

/** Read before anything else, so that a newer format is recognised whatever else it has. */
export const AnyHeader = z.object({
  header: z.object({ reprise: z.literal('session'), format: z.number().int().min(1) }),
})

export const Header = z.object({
  reprise: z.literal('session'),
  format: z.literal(FORMAT),
  createdAt: instant,
  redacted: z.boolean(),
  /** The adapter, which knows the format of the files. */
  adapter: text(64),
  session: z.object({
    agentSessionId: text(256).min(1),
    agent: text(64),
    workDir: text(4096),
    version: text(256).nullable(),
    can: z.array(text(64)).max(100),
    told: text(256).nullable(),
    compacted: z.boolean(),
    turns: z.number().int().min(0).max(1_000_000_000),
    contextTokens: amount,
    contextWindow: amount,
    costUsd: z.number().nonnegative(),
    createdAt: instant,
    lastUsedAt: instant,
  }),
  conversation: z
    .object({
      title: text(1000),
      instructions: text(1_000_000).nullable(),
      historyScope: HistoryScope,
      sinceTurn: z.number().int().min(1),
      seenTurn: z.number().int().min(1),
    })
    .nullable(),
})
export type Header = z.infer<typeof Header>

export const BundledMessage = z.object({
  turn: z.number().int().min(1).max(1_000_000_000),
  role: z.enum(['user', 'assistant']),
  agent: text(64),
  blocks: z.array(ContentBlock).max(100_000),
  state: z.enum(['complete', 'cancelled', 'failed']),
  origin: MessageOrigin,
  createdAt: instant,
})
export type BundledMessage = z.infer<typeof BundledMessage>

const Checksum = z.string().regex(/^[0-9a-f]{64}$/)
const Size = z.number().int().nonnegative()

/** A line after the header. */
export const Line = z.union([
  z.strictObject({ file: text(4096) }),
  z.strictObject({ text: z.string() }),
  z.strictObject({ base64: z.base64() }),
  z.strictObject({ end: z.strictObject({ bytes: Size, sha256: Checksum }) }),
  z.strictObject({ message: BundledMessage }),
  z.strictObject({ complete: z.strictObject({ files: Size, messages: Size, sha256: Checksum }) }),
])
export type Line = z.infer<typeof Line>
