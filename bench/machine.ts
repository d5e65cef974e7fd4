/** The machine on which the figures were measured. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')

/** The CLI in the node_modules of this checkout. */
export const claudePath = () => join(ROOT, 'node_modules', '.bin', 'claude')

export function describeMachine(): string[] {
  const [cpu] = cpus()
  return [
    `${cpus().length} cores (${cpu?.model.trim() || 'unknown'})`,
    `${Math.round(totalmem() / 2 ** 30)} GiB memory`,
    `Linux ${release()}`,
    `Node ${process.versions.node}, SQLite ${process.versions.sqlite}`,
    `Claude Code ${readVersion('node_modules/@anthropic-ai/claude-code/package.json')}`,
    `Reprise ${readVersion('package.json')} at ${commit()}`,
  ]
}

function readVersion(manifest: string): string {
  return (JSON.parse(readFileSync(join(ROOT, manifest), 'utf8')) as { version: string }).version
}

function commit(): string {
  try {
    const args = ['rev-parse', '--short', 'HEAD']
    return execFileSync('git', args, {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return 'an unknown commit'
  }
}
