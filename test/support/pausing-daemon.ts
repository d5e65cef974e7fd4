/**
 * A daemon without a server that stops dead at a named point of the store, so that it can be killed exactly there.
 * Usage: pausing-daemon.ts before|after METHOD. Reads from stdin what to do: `{run: CreateRun}`, or `{turn:
 * {conversationId, request: CreateTurn}}`; `answerAll` allows whatever is asked. Prints "paused" when it is there.
 */
import { text } from 'node:stream/consumers'
import { AgentRegistry } from '../../src/agents/registry.ts'
import { loadConfig } from '../../src/config/load.ts'
import { RunId } from '../../src/contract/ids.ts'
import { bundledCommands, configureAgents } from '../../src/daemon/agents.ts'
import { systemClock } from '../../src/daemon/clock.ts'
import { lockHome } from '../../src/daemon/lock.ts'
import { engineSettings } from '../../src/daemon/settings.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { ProgressBus } from '../../src/engine/progress.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'

const [when, method] = process.argv.slice(2) as ['before' | 'after', keyof Store]
const home = process.env.REPRISE_HOME ?? ''
const { config } = loadConfig({ home, cwd: home, env: process.env })
lockHome(home)
const store = await openSqliteStore(`${home}/reprise.db`, systemClock.now())
const original = store[method] as (...args: unknown[]) => Promise<unknown>

const paused: Store = {
  ...store,
  [method]: async (...args: unknown[]) => {
    if (when === 'after') await original(...args)
    process.stdout.write('paused\n')
    return new Promise(() => {})
  },
}

const engine = createEngine({
  store: paused,
  agents: new AgentRegistry(
    configureAgents(config, process.env),
    { get: store.getFact, put: store.putFact },
    bundledCommands(),
  ),
  clock: systemClock,
  bus: new ProgressBus(),
  random: Math.random,
  log: { info: () => {}, warn: console.error, error: console.error },
  spool: `${home}/spool`,
  damaged: `${home}/damaged`,
  settings: engineSettings(config),
})
await engine.open()
const { run, turn, answerAll } = JSON.parse(await text(process.stdin))
const admitted = turn
  ? await engine.createTurn(turn.conversationId, turn.request, null)
  : await engine.admit(run, null)
process.stdout.write(`${admitted.run.id}\n`)
if (answerAll) {
  const id = admitted.run.id
  if (!RunId.is(id)) throw new Error(id)
  engine.onProgress(id, async () => {
    const { pending } = await engine.getRun(id)
    for (const { toolUseId } of pending)
      await engine.answer(id, { toolUseId, decision: 'allow' }).catch(() => {})
  })
}
setInterval(() => {}, 1000)
