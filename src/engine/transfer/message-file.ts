/** The messages of an import, checked and kept in a file until they are stored, so that a long history needs no memory. */
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { BundledMessage, LIMITS } from './bundle.ts'
import { splitLines } from './line-stream.ts'
import { unusable } from './unusable.ts'

export class MessageFile {
  readonly #path: string
  #file: FileHandle | null = null
  #last: Pick<BundledMessage, 'turn' | 'role'> | null = null
  #bytes = 0
  count = 0

  constructor(path: string) {
    this.#path = path
  }

  async add(message: BundledMessage): Promise<void> {
    if (this.count === LIMITS.messages) throw unusable(`it has more than ${LIMITS.messages} messages`)
    if (!follows(message, this.#last)) throw unusable('its messages are not questions and answers in order')
    const line = Buffer.from(`${stringify(message)}\n`)
    this.#bytes += line.length
    if (this.#bytes > LIMITS.bytes) throw unusable(`its messages have more than ${LIMITS.bytes} bytes`)
    this.#file ??= await open(this.#path, 'wx', 0o600)
    await this.#file.writeFile(line)
    this.#last = { turn: message.turn, role: message.role }
    this.count++
  }

  async *read(): AsyncGenerator<BundledMessage> {
    if (this.count === 0) return
    for await (const { line } of splitLines(createReadStream(this.#path))) {
      yield BundledMessage.parse(JSON.parse(line.toString('utf8')))
    }
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = null
  }
}

/** Each turn has a question and perhaps an answer. */
function follows(
  { turn, role }: BundledMessage,
  before: Pick<BundledMessage, 'turn' | 'role'> | null,
): boolean {
  if (before === null || turn > before.turn) return role === 'user'
  return turn === before.turn && before.role === 'user' && role === 'assistant'
}

function stringify(message: BundledMessage): string {
  try {
    return JSON.stringify(message)
  } catch (error) {
    throw unusable('it has a message that is nested too deeply', error)
  }
}
