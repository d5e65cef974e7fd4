/**
 * Reprise's commands compared with those of the CLI that they stand for, each as a process of its own until it has
 * exited: `reprise run` ÷ `claude -p`, and `reprise chat last -m` ÷ `claude -p -c`. The daemon runs already. Conversations
 * keep their process, as is the default. The bare CLI has a directory of its own, because `-c` continues the newest
 * session of the directory.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { runByHand } from '../../test/support/by-hand.ts'
import { REPRISE, World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { interleave, ratios, timeMs } from '../measure.ts'

const RULES = { name: 'commands', rules: [{ reply: 'Something.' }] }
const TEXT = 'and now?'
const MAX_MS = 90_000

export const commands: Benchmark = {
  name: 'commands',
  about:
    '`reprise run` ÷ `claude -p`, and `reprise chat last -m` ÷ `claude -p -c`, from the start of the process to its end.',
  run: async ({ short }) => {
    const bare = await World.create(RULES)
    const world = await World.create(RULES, { conversations: { keepWarm: '5m' } })
    try {
      await world.startDaemon()
      const reprise = (...args: string[]) => timeMs(() => runReprise(world, args))
      const claude = (...options: string[]) => timeMs(() => runByHand(bare, options, TEXT).answered)
      await claude()
      await runReprise(world, ['chat', '--model', 'haiku', '-m', 'begin'])
      const samples = await interleave(
        {
          bareRun: () => claude(),
          run: () => reprise('run', '--model', 'haiku', TEXT),
          bareChat: () => claude('-c'),
          chat: () => reprise('chat', 'last', '-m', TEXT),
          version: () => reprise('--version'),
        },
        short ? 1 : 15,
        { maxMs: MAX_MS },
      )
      return [
        figure('reprise run ÷ claude -p', '×', ratios(samples.run, samples.bareRun), { most: 1.15 }),
        figure('reprise chat last -m ÷ claude -p -c', '×', ratios(samples.chat, samples.bareChat), {
          most: 1.15,
        }),
        figure('claude -p', 'ms', samples.bareRun),
        figure('claude -p -c', 'ms', samples.bareChat),
        figure('reprise --version', 'ms', samples.version),
      ]
    } finally {
      await world.close()
      await bare.close()
    }
  },
}

async function runReprise(world: World, args: readonly string[]): Promise<void> {
  const options = { cwd: world.workDir, env: world.env }
  const child = spawn(REPRISE, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`reprise ${args.join(' ')} ended with ${code}: ${said}`)
}
