import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A home and a working directory of one test, with the given settings files in them. */
export function temporaryDirs(files: { home?: string; project?: string } = {}) {
  const root = mkdtempSync(join(tmpdir(), 'reprise-config-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const home = join(root, 'home')
  const cwd = join(root, 'project')
  mkdirSync(home, { mode: 0o700 })
  mkdirSync(cwd)
  const homeFile = join(home, 'config.yaml')
  const projectFile = join(cwd, 'reprise.yaml')
  if (files.home !== undefined) writeFileSync(homeFile, files.home)
  if (files.project !== undefined) writeFileSync(projectFile, files.project)
  return { root, home, cwd, homeFile, projectFile }
}
