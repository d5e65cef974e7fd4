/** The real CLI as a person would start it: in the world's directory, without Reprise. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { World } from './world.ts'

const CLAUDE = resolve(import.meta.dirname, '../../node_modules/.bin/claude')

/** `claude -p --resume <id> [options] <text>`; resolves when it has answered. */
export async function sayByHand(
  world: World,
  sessionId: string,
  text: string,
  options: readonly string[] = [],
): Promise<void> {
  await runByHand(world, ['--resume', sessionId, ...options], text).answered
}

/** `claude -p [options] <text>`. */
export function runByHand(
  world: Pick<World, 'workDir' | 'env'>,
  options: readonly string[],
  text: string,
): { pid: number; answered: Promise<void> } {
  const args = ['-p', '--model', 'haiku', ...options, text]
  const child = spawn(CLAUDE, args, { cwd: world.workDir, env: world.env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  const answered = once(child, 'exit').then(([code]) => {
    if (code !== 0) throw new Error(`claude ended with ${code}: ${said}`)
  })
  return { pid: child.pid ?? 0, answered }
}
