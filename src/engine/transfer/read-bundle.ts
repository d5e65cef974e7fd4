/**
 * Reads an exported session into a folder of its own and verifies it. The content may come from anybody: nothing is
 * written outside the folder, only regular files are created, none is overwritten, and every size is limited. The result
 * is returned only if the whole file was read and all checksums are right; otherwise this throws, and the caller removes the
 * folder.
 */
import { createHash, type Hash } from 'node:crypto'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { RepriseError } from '../../contract/errors.ts'
import { AnyHeader, type BundledMessage, FORMAT, Header, LIMITS, Line, TRANSCRIPT } from './bundle.ts'
import { LineTooLong, splitLines } from './line-stream.ts'
import { MessageFile } from './message-file.ts'
import { unusable } from './unusable.ts'

export interface ReadBundle {
  header: Header
  transcript: string
  /** The folder with the other files of the session; null: there are none. */
  folder: string | null
  /** Read from the disk, one at a time. */
  messages: () => AsyncGenerator<BundledMessage>
}

/** `dir` must be an empty folder that nobody else writes to. */
export async function readBundle(compressed: Readable, dir: string): Promise<ReadBundle> {
  const reader = new BundleReader(dir)
  const gunzip = createGunzip()
  pipeline(compressed, gunzip, () => {})
  try {
    for await (const { line, complete } of splitLines(gunzip, LIMITS.lineChars)) {
      if (!complete) throw unusable('it is cut off in the middle of a line')
      await reader.read(line)
    }
    return await reader.result()
  } catch (error) {
    throw explain(error)
  } finally {
    await reader.close()
  }
}

class BundleReader {
  readonly #dir: string
  readonly #whole = createHash('sha256')
  readonly #messages: MessageFile
  readonly #names = new Set<string>()
  #header: Header | null = null
  #open: { name: string; file: FileHandle; hash: Hash; bytes: number; lineBytes: number } | null = null
  #bytes = 0
  #complete = false

  constructor(dir: string) {
    this.#dir = dir
    this.#messages = new MessageFile(join(dir, 'messages.jsonl'))
  }

  async read(line: Buffer): Promise<void> {
    if (this.#complete) throw unusable('there is something after its end')
    const value = parseLine(line)
    if (this.#header === null) this.#header = readHeader(value)
    else await this.#readLine(value, line)
    this.#whole.update(line).update('\n')
  }

  async #readLine(value: unknown, line: Buffer): Promise<void> {
    const result = Line.safeParse(value)
    if (!result.success) throw unusable(`it has a line that is not known: ${line.toString('utf8', 0, 80)}`)
    const read = result.data
    if ('text' in read) return this.#write(Buffer.from(read.text))
    if ('base64' in read) return this.#write(Buffer.from(read.base64, 'base64'))
    if ('end' in read) return this.#endFile(read.end)
    if (this.#open) throw unusable(`the file ${JSON.stringify(this.#open.name)} in it does not end`)
    if ('file' in read) return this.#beginFile(read.file)
    if ('message' in read) await this.#messages.add(read.message)
    else this.#end(read.complete)
  }

  async #beginFile(name: string): Promise<void> {
    const isFirst = this.#names.size === 0
    if (isFirst !== (name === TRANSCRIPT))
      throw unusable(`${TRANSCRIPT} must be its first file, and only that`)
    if (!isFirst && !isSafeName(name)) {
      throw unusable(`it has a file whose path is not allowed: ${JSON.stringify(name).slice(0, 200)}`)
    }
    if (this.#names.has(name)) throw unusable(`it has two files named ${JSON.stringify(name)}`)
    if (this.#names.size === LIMITS.files) throw unusable(`it has more than ${LIMITS.files} files`)
    this.#names.add(name)
    const path = join(this.#dir, name)
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    this.#open = {
      name,
      file: await open(path, 'wx', 0o600),
      hash: createHash('sha256'),
      bytes: 0,
      lineBytes: 0,
    }
  }

  async #write(bytes: Buffer): Promise<void> {
    if (!this.#open) throw unusable('it has content that belongs to no file')
    // An export never writes empty pieces; a file of nothing else would be read for ever.
    if (bytes.length === 0) throw unusable('it has an empty piece of a file')
    this.#bytes += bytes.length
    if (this.#bytes > LIMITS.bytes) throw unusable(`its files have more than ${LIMITS.bytes} bytes`)
    this.#open.bytes += bytes.length
    const newline = bytes.lastIndexOf('\n')
    this.#open.lineBytes = newline === -1 ? this.#open.lineBytes + bytes.length : bytes.length - newline - 1
    // Lines of records are read as a whole, here and by the agent.
    if (this.#open.lineBytes > LIMITS.lineChars && this.#open.name.endsWith('.jsonl'))
      throw unusable(`the file ${JSON.stringify(this.#open.name)} in it has a line that is too long`)
    this.#open.hash.update(bytes)
    await this.#open.file.writeFile(bytes)
  }

  async #endFile({ bytes, sha256 }: { bytes: number; sha256: string }): Promise<void> {
    const ended = this.#open
    if (!ended) throw unusable('it ends a file that was not begun')
    this.#open = null
    await ended.file.sync()
    await ended.file.close()
    if (ended.bytes !== bytes || ended.hash.digest('hex') !== sha256) {
      throw unusable(`the checksum of ${JSON.stringify(ended.name)} in it is wrong`)
    }
  }

  #end({ files, messages, sha256 }: { files: number; messages: number; sha256: string }): void {
    const isWhole = files === this.#names.size && messages === this.#messages.count
    if (!isWhole || this.#whole.copy().digest('hex') !== sha256) throw unusable('its checksum is wrong')
    this.#complete = true
  }

  async result(): Promise<ReadBundle> {
    if (!this.#header || !this.#complete) throw unusable('it is cut off: its last line is missing')
    if (this.#names.size === 0) throw unusable('it has no transcript')
    return {
      header: this.#header,
      transcript: join(this.#dir, TRANSCRIPT),
      folder: this.#names.size > 1 ? join(this.#dir, FOLDER) : null,
      messages: () => this.#messages.read(),
    }
  }

  async close(): Promise<void> {
    await this.#open?.file.close()
    await this.#messages.close()
  }
}

const FOLDER = 'files'
const MAX_DEPTH = 16
const MAX_NAME_BYTES = 255

/** `files/a/b`: each part is an ordinary name. Hidden names are allowed, `.` and `..` are not. */
function isSafeName(name: string): boolean {
  const [folder, ...parts] = name.split('/')
  return (
    folder === FOLDER &&
    parts.length > 0 &&
    parts.length <= MAX_DEPTH &&
    parts.every(
      (part) =>
        part !== '' &&
        part !== '.' &&
        part !== '..' &&
        !/[\p{Cc}\\]/u.test(part) &&
        Buffer.byteLength(part) <= MAX_NAME_BYTES,
    )
  )
}

function parseLine(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    throw unusable('it has a line that is not JSON')
  }
}

function readHeader(value: unknown): Header {
  const known = AnyHeader.safeParse(value)
  if (!known.success) throw unusable('it does not begin like one')
  const { format } = known.data.header
  if (format > FORMAT) {
    throw new RepriseError(
      'bad-request',
      `the export has format ${format}; this Reprise knows formats up to ${FORMAT}`,
      { hint: 'It was written by a newer Reprise. Upgrade this one, then import it.' },
    )
  }
  const header = Header.safeParse((value as { header: unknown }).header)
  if (header.success) return header.data
  const [issue] = header.error.issues
  throw unusable(`its header is wrong (${issue?.path.map(String).join('.')}: ${issue?.message})`)
}

/** Errors of the compression, and names that are files and folders at the same time, are faults of the content. */
function explain(error: unknown): unknown {
  if (error instanceof RepriseError) return error
  if (error instanceof LineTooLong) return unusable('it has a line that is too long', error)
  const code = (error as NodeJS.ErrnoException).code ?? ''
  if (code === 'Z_BUF_ERROR') return unusable('it is cut off', error)
  if (code.startsWith('Z_')) return unusable('its compression is damaged', error)
  if (['EEXIST', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG'].includes(code)) {
    return unusable('a path in it is a file and a folder', error)
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new RepriseError('home-unusable', 'there is no room on the disk to import the session', {
      hint: 'Nothing was imported. Free some space and try again.',
      cause: error,
    })
  }
  return error
}
