import { createHash } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import { openUntrusted } from '../../files/untrusted.ts'

/** The hash of a file's content. null: there is no such file. undefined: it is no regular file, or cannot be read. */
export async function hashFile(path: string): Promise<string | null | undefined> {
  try {
    const file = await openUntrusted(path, { followLink: true })
    if (file === null) return (await isThere(path)) ? undefined : null
    const hash = createHash('sha256')
    for await (const chunk of file.createReadStream()) hash.update(chunk as Buffer)
    return hash.digest('hex')
  } catch {
    return undefined
  }
}

const isThere = (path: string) =>
  lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  )
