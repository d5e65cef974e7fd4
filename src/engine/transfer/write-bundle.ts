/** Writes an exported session as a stream, in the format of bundle.ts. */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { SessionCopies } from '../../agents/session-copies.ts'
import type { SessionFiles } from '../../agents/session-files.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import { type BundledMessage, type Header, type Line, PIECE_BYTES, TRANSCRIPT } from './bundle.ts'
import { listFiles, readUpTo } from './files.ts'
import { mapLines, splitLines } from './line-stream.ts'

export interface BundleContent {
  header: Header
  files: SessionFiles
  /** The part of the transcript that is exported. */
  transcriptBytes: number
  messages: Iterable<BundledMessage>
  /** Removes secrets from files and messages; null: nothing is removed. */
  redaction: { redactor: Redactor; copies: SessionCopies | null } | null
}

/** The compressed bytes. An error while reading ends the stream with that error. */
export function writeBundle(content: BundleContent): Readable {
  const gzip = createGzip()
  // Errors are passed on by destroying the result.
  pipeline(Readable.from(linesOf(content)), gzip, () => {})
  return gzip
}

async function* linesOf(content: BundleContent): AsyncGenerator<string> {
  const { header, messages, redaction } = content
  const whole = createHash('sha256')
  const encode = (line: Line | { header: Header }) => {
    const text = `${JSON.stringify(line)}\n`
    whole.update(text)
    return text
  }
  yield encode({ header: redaction ? redactJson(redaction.redactor, header) : header })
  let files = 0
  for await (const file of listFiles(content.files)) {
    const { name, path } = file
    const bytes = await readUpTo(file, name === TRANSCRIPT ? content.transcriptBytes : null)
    if (bytes === null) continue
    files++
    yield encode({ file: name })
    const checksum = createHash('sha256')
    let size = 0
    for await (const piece of toPieces(redaction ? redacted(bytes, path, redaction) : bytes)) {
      checksum.update(piece)
      size += piece.length
      yield encode(isUtf8(piece) ? { text: piece.toString('utf8') } : { base64: piece.toString('base64') })
    }
    yield encode({ end: { bytes: size, sha256: checksum.digest('hex') } })
  }
  let count = 0
  for (const message of messages) {
    count++
    yield encode({ message: redaction ? redactJson(redaction.redactor, message) : message })
  }
  const sha256 = whole.digest('hex')
  yield `${JSON.stringify({ complete: { files, messages: count, sha256 } } satisfies Line)}\n`
}

/**
 * Pieces of at most `PIECE_BYTES` that end between two characters, so that text stays text. A byte that continues a
 * character begins with the bits 10.
 */
async function* toPieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (rest.length >= PIECE_BYTES) {
      let end = PIECE_BYTES
      while (end > PIECE_BYTES - 4 && ((rest[end] ?? 0) & 0xc0) === 0x80) end--
      yield rest.subarray(0, end)
      rest = rest.subarray(end)
    }
  }
  if (rest.length > 0) yield rest
}

/** Secrets are removed from lines of JSON and from text. What is neither is left out, because it cannot be searched. */
async function* redacted(
  bytes: AsyncIterable<Buffer>,
  path: string,
  { redactor, copies }: NonNullable<BundleContent['redaction']>,
): AsyncGenerator<Buffer> {
  if (copies?.hasRecords(path)) {
    yield* mapLines(bytes, (line) => redactor.json(line, copies.structure))
    return
  }
  let block = ''
  for await (const { line, complete } of splitLines(bytes)) {
    block += `${isUtf8(line) ? line.toString('utf8') : NOT_TEXT}${complete ? '\n' : ''}`
    if (block.length < BLOCK_CHARS || (block.length < MAX_BLOCK_CHARS && isInsideKey(block))) continue
    yield Buffer.from(redactor.text(block))
    block = ''
  }
  yield Buffer.from(redactor.text(block))
}

const NOT_TEXT = '[redacted: not text]'
const BLOCK_CHARS = 1 << 20
const MAX_BLOCK_CHARS = 4 << 20

/** A private key has several lines, which must be seen together. */
const isInsideKey = (block: string) => block.lastIndexOf('-----BEGIN') > block.lastIndexOf('-----END')

const KEPT: ReadonlySet<string> = new Set(['createdAt', 'reprise', 'adapter'])

const redactJson = <T>(redactor: Redactor, value: T): T =>
  JSON.parse(redactor.json(JSON.stringify(value), KEPT)) as T
