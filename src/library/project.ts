/** Reprise's own settings in a work directory, as content that a person may trust. */

import { hashOf } from '../agents/directory-content.ts'
import { explainProject, findProjectFile } from '../config/project.ts'
import type { ProjectFile } from '../engine/trust/project.ts'

export function readProject(workDir: string): ProjectFile | null {
  const found = findProjectFile(workDir)
  if (found === null) return null
  const { path, bytes, limits, settings } = found
  const mistakes = explainProject(found)
  const grant = (text: string) => ({ kind: 'reprise' as const, file: path, text })
  return {
    path,
    limits,
    mistakes,
    files: bytes === null ? [] : [{ path, hash: hashOf(bytes) }],
    grants: bytes === null ? [] : (mistakes.length > 0 ? mistakes : settings).map(grant),
    problems: bytes === null ? mistakes : [],
  }
}
