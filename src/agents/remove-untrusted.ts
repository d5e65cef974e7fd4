/** Removes folders that an agent could write, although it may have taken away the rights that removing them needs. */
import { chmod, lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

export async function removeUntrusted(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    await makeAccessible(path)
    await rm(path, { recursive: true, force: true })
  }
}

/** Gives the owner back all rights on a folder and on the folders in it. Links are not followed. Must not be used while the agent runs. */
export async function makeAccessible(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null)
  if (!found?.isDirectory()) return
  await chmod(path, 0o700)
  for (const name of await readdir(path)) await makeAccessible(join(path, name))
}
