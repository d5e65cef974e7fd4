/** Creates what a plan needs on disk, and removes what it left in the user's folders. Both can be repeated. */
import { chmodSync, lstatSync, mkdirSync, rmdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import type { PlannedFile, SandboxPlan } from './sandbox.ts'

export function prepareSandbox({ files }: Pick<SandboxPlan, 'files'>): void {
  for (const file of files) create(file)
}

function create(file: PlannedFile): void {
  try {
    if (file.kind === 'link') symlinkSync(file.target, file.path)
    else if (file.kind === 'dir') mkdirSync(file.path)
    // Created only if it is missing, and without following a link that has been put there.
    else writeFileSync(file.path, '', { flag: 'wx' })
    // Not left to the umask.
    if (file.kind !== 'link') chmodSync(file.path, file.mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Placeholders are empty, or have a line. A file that somebody outside has filled stays. */
const SMALL = 2

/**
 * A folder that somebody outside has filled in the meantime stays. Must not be called while another sandbox uses the
 * same folder: removing a mount point outside removes the mount inside.
 */
export function removePlaceholders({ placeholders }: Pick<SandboxPlan, 'placeholders'>): void {
  for (const path of placeholders.toReversed()) {
    try {
      const found = lstatSync(path)
      if (found.isDirectory()) rmdirSync(path)
      else if (found.isFile() && found.size <= SMALL) unlinkSync(path)
    } catch {
      // Gone already, or not empty.
    }
  }
}
