/**
 * The prompt cache in resumed turns, on the real CLI: with hooks, instructions and CLAUDE.md, each request must begin with
 * all blocks of the one before. Runs with the installed version, and with every version that REPRISE_TEST_CLAUDE lists
 * (executables, separated by colons).
 */
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { RunDetail } from '../../src/contract/run.ts'
import type { Stats } from '../../src/contract/stats.ts'
import { Chat } from '../support/chat.ts'
import { REPRISE, World } from '../support/world.ts'

const INSTALLED = resolve(import.meta.dirname, '../../node_modules/.bin/claude')
const COMMANDS = [INSTALLED, ...(process.env.REPRISE_TEST_CLAUDE ?? '').split(':').filter(Boolean)]
const VERSIONS = COMMANDS.map((command) => {
  const version = execFileSync(command, ['--version'], { encoding: 'utf8', env: { PATH: process.env.PATH } })
  return [version.split(' ')[0] ?? '', command] as const
})

let world: World
afterEach(() => world.close())

const configure = (claude: object) => world.configure({ agents: { claude: { model: 'haiku', ...claude } } })
const reprise = (...args: string[]) => execFileSync(REPRISE, args, { env: world.env, encoding: 'utf8' })
const requests = () => world.simulator.requests().filter(({ kind }) => kind === 'main')
const cacheOf = (run: RunDetail) => run.attempts.at(-1)?.cache

/** Each of the requests begins with all of the one before. */
function expectPrefixes(from: number): void {
  const sent = requests().slice(from)
  expect(sent.length).toBeGreaterThan(1)
  for (const [index, { blocks }] of sent.slice(1).entries()) {
    const before = sent[index]?.blocks ?? []
    expect(blocks.slice(0, before.length), `request ${from + index + 2} begins like the one before`).toEqual(
      before,
    )
  }
}

it.each(VERSIONS)(
  'claude %s: consecutive turns begin alike; what is written again is named with cause and price',
  async (_, command) => {
    world = await World.create({
      name: 'cache',
      rules: [
        {
          when: 'look',
          reply: [
            { tool: 'Bash', input: { command: 'echo seen' } },
            { await: 'results' },
            { text: 'Looked.' },
          ],
        },
        { reply: 'Noted.' },
      ],
    })
    const hook = (text: string) => [{ hooks: [{ type: 'command', command: `echo ${text}` }] }]
    await mkdir(join(world.workDir, '.claude'))
    const hooks = { UserPromptSubmit: hook('hooked'), PreToolUse: hook('{}'), SessionStart: hook('started') }
    await writeFile(join(world.workDir, '.claude', 'settings.json'), JSON.stringify({ hooks }))
    await writeFile(join(world.workDir, 'CLAUDE.md'), 'Always answer briefly.\n')
    await configure({ command })
    await world.startDaemon()
    await world.trust()
    const chat = await Chat.create(world, { instructions: 'Be kind.' })
    const turns = []
    for (const text of ['look here', 'and there', 'look again'])
      turns.push(await chat.say(text, { permissions: 'allow' }))
    const [first, ...resumed] = turns
    expectPrefixes(0)
    const heard = JSON.stringify(requests().at(-1)?.messages)
    for (const text of ['hooked', 'started', 'Always answer briefly.', 'Be kind.'])
      expect(heard).toContain(text)
    expect(cacheOf(first!)).toBeNull()
    for (const run of resumed) {
      const cache = cacheOf(run)
      expect(cache).toMatchObject({ rewrittenTokens: 0, cause: null, rewriteUsd: 0 })
      expect(cache!.expectedReadTokens).toBeGreaterThan(5000)
      expect(cache!.readTokens).toBeGreaterThanOrEqual(cache!.expectedReadTokens)
      expect(run.attempts[0]?.costUsd).toBeGreaterThan(0)
    }
    await world.killDaemon('SIGTERM')

    // Fewer tools: the request begins differently, and all of the history is written again.
    await configure({ command, args: ['--disallowedTools=Edit'] })
    await world.startDaemon()
    const fewerTools = await chat.say('with fewer tools')
    const rewritten = cacheOf(fewerTools)
    expect(rewritten).toMatchObject({ cause: 'other-tools', readTokens: 0 })
    expect(rewritten!.rewrittenTokens).toBe(rewritten!.expectedReadTokens)
    expect(rewritten!.rewriteUsd).toBeGreaterThan(0)
    expect(rewritten!.savedUsd).toBeLessThan(0)
    const otherModel = await chat.say('with another model', { model: 'sonnet' })
    expect(cacheOf(otherModel)).toMatchObject({ cause: 'other-model', readTokens: 0 })

    // Two hours pass: the model server has dropped its cache, and the last turn was two hours ago.
    world.simulator.reset()
    world.changeStored(
      `update sessions set cache_state = json_set(cache_state, '$.at',
         strftime('%Y-%m-%dT%H:%M:%fZ', ? / 1000.0 - 7200, 'unixepoch'))`,
    )
    const later = await chat.say('after a long pause', { model: 'sonnet' })
    const expired = cacheOf(later)
    expect(expired).toMatchObject({ cause: 'expired', readTokens: 0 })
    expect(expired!.rewrittenTokens).toBe(expired!.expectedReadTokens)
    expect(expired!.rewriteUsd).toBeGreaterThan(0)
    expect(reprise('runs', 'show', later.id)).toMatch(/cache 1 .* rewritten \(expired, \+\$0\.\d+\)/)

    const { cache } = await world.api<Stats>('GET', '/api/stats')
    expect(cache).toMatchObject({
      resumedTurns: 5,
      rewrites: {
        'other-tools': { turns: 1, tokens: rewritten!.rewrittenTokens },
        'other-model': { turns: 1 },
        expired: { turns: 1, tokens: expired!.rewrittenTokens },
      },
    })
    expect(cache.savedUsd).toBeLessThan(0)
    expect(reprise('stats')).toMatch(
      /rewritten .*other-tools, \+\$0\.\d+.*\nsaved +nothing: resuming cost about \$/,
    )
    expect(reprise('runs', 'show', fewerTools.id)).toMatch(/cache 1 .* rewritten \(other-tools, \+\$0\.\d+\)/)
    const notes = (await world.events(fewerTools.id)).flatMap((event) =>
      event.type === 'note' ? [event.text] : [],
    )
    expect(notes).toContainEqual(expect.stringMatching(/^wrote \d+ of \d+ tokens to the prompt cache again/))
  },
)
