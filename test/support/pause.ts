import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { until, type World } from './world.ts'

/** Runs a daemon up to that point and kills it there. */
export async function pauseAt(world: World, when: string, method: string, input: object): Promise<string> {
  const node = resolve(import.meta.dirname, '../../node_modules/.bin/node')
  const script = resolve(import.meta.dirname, 'pausing-daemon.ts')
  const child = spawn(node, [script, when, method], { env: world.env, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(input))
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  // If it stops before it could confirm the admission, it has no id to print.
  const isThere = () => said.includes('paused') && (method === 'admitJob' || said.includes('run_'))
  await until(isThere, 'the pause')
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
  return /run_\w+/.exec(said)?.[0] ?? ''
}
