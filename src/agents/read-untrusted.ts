/**
 * Reads a file in a folder that an agent can write: no link is followed, a FIFO is not waited for, and a large file is not read. null: there is
 * no such file.
 */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

export async function readUntrusted(path: string, maxBytes: number): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => null,
  )
  if (file === null) return null
  try {
    const found = await file.stat()
    if (!found.isFile() || found.size > maxBytes) return null
    return await file.readFile('utf8')
  } catch {
    return null
  } finally {
    await file.close()
  }
}
