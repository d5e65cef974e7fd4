import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'

/** The hash of a file's content. null: there is no such file. undefined: it is no regular file, or cannot be read. */
export async function hashFile(path: string): Promise<string | null | undefined> {
  try {
    if (!(await stat(path)).isFile()) return undefined
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
    return hash.digest('hex')
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '') ? null : undefined
  }
}
