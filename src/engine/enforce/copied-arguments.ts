/** Gives a brokered program private copies of files that its caller could exchange before they are read. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { CopiedFile } from '../../core/rules/call.ts'
import { readChecked } from './checked-file.ts'

export interface CopyInput {
  args: readonly string[]
  copies: readonly CopiedFile[]
  cwd: string
  /** A folder for the copies of this call, which the agent cannot see. */
  folder: string
  isHidden: (path: string) => boolean
}

const LARGEST_BYTES = 64 * 1_048_576

export function copyArguments({
  args,
  copies,
  cwd,
  folder,
  isHidden,
}: CopyInput): { ok: true; args: string[] } | { ok: false; problem: string } {
  const result = [...args]
  for (const copy of copies) {
    // Some programs use the name of the file.
    const name = 'text' in copy ? 'compose.yaml' : basename(copy.path)
    const target = join(folder, String(copy.index), name)
    const keep = (content: string | Buffer) => {
      mkdirSync(join(folder, String(copy.index)), { recursive: true, mode: 0o700 })
      writeFileSync(target, content, { mode: 0o600 })
      result[copy.index] = copy.before + target
    }
    if ('text' in copy) {
      keep(copy.text)
      continue
    }
    const found = readChecked(resolve(cwd, copy.path), isHidden, LARGEST_BYTES)
    if (found.kind === 'file') keep(found.content)
    else if (found.kind === 'unusable') return { ok: false, problem: `${copy.path} ${found.why}` }
    else if (copy.mustBeFile) return { ok: false, problem: `${copy.path} is a folder` }
  }
  return { ok: true, args: result }
}
