/** The CLI's session files in a test's world. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until, type World } from './world.ts'

/** The CLI writes its transcript some time after its output: resolves when the session's file contains the text. */
export async function transcriptHas(world: World, runId: string, text: string): Promise<string> {
  const { sessionId } = await world.getRun(runId)
  return until(
    () => {
      try {
        const path = transcriptOf(world.configDir, sessionId ?? '')
        return readFileSync(path, 'utf8').includes(text) ? path : null
      } catch {
        return null
      }
    },
    `${JSON.stringify(text)} in the transcript`,
  )
}

export function transcriptOf(configDir: string, sessionId: string): string {
  const projects = join(configDir, 'projects')
  const paths = readdirSync(projects).map((slug) => join(projects, slug, `${sessionId}.jsonl`))
  const path = paths.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile())
  if (!path) throw new Error(`no transcript of ${sessionId}`)
  return path
}

/**
 * Makes a complete file that the CLI cannot resume: all of it belongs to a sub-agent. Only the CLI itself detects that.
 */
export function makeUnusable(path: string): void {
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll('"isSidechain":false', '"isSidechain":true'))
}
