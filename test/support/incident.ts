/** A scripted incident: a fake `docker` that records its arguments, and tiers that look, restart, redeploy. */
import { readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Chain } from '../../src/contract/chain.ts'
import type { CreateRun } from '../../src/contract/create-run.ts'
import type { Signal } from '../../src/contract/escalation.ts'
import type { Run } from '../../src/contract/run.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { until, World } from './world.ts'

export const TASK = 'Is everything fine with web?'

export const bash = (command: string) => ({ tool: 'Bash', input: { command, description: 'x' } })
export const results = { await: 'results' } as const

const SIGNAL: Signal = {
  status: 'down',
  summary: 'web does not answer',
  checks: [{ name: 'web', status: 'problem', finding: 'exited 137' }],
  services: ['web'],
  actions: [],
  escalate: true,
  reason: 'web must be restarted',
}

export const report = (change: Partial<Signal> = {}) => ({
  tool: 'StructuredOutput',
  input: { ...SIGNAL, ...change },
})

/** What the agent does at a tier, then what it reports. */
export const tier = (n: number, commands: readonly string[], signal: Partial<Signal> = {}): RuleInput => ({
  when: { user: `tier ${n} of` },
  reply: [
    ...commands.flatMap((command) => [bash(command), results]),
    report(signal),
    results,
    { text: `tier ${n} is done` },
  ],
})

export const FIXED = { status: 'fixed', escalate: false, reason: 'it works again' } as const

/** Looks, restarts, redeploys. */
export const threeTiers: RuleInput[] = [
  tier(1, ['docker ps -a', 'docker logs web']),
  tier(2, ['docker restart web'], { reason: 'the restart did not help' }),
  tier(3, ['docker compose up -d web'], FIXED),
]

/** Three agents, one after the other, on a machine that may be busy. */
const CHAIN_ENDS_WITHIN_MS = 150_000

const PINNED = /--project-directory \S+ --env-file \/dev\/null /g

export class Incident {
  readonly world: World
  readonly #log: string

  private constructor(world: World) {
    this.world = world
    this.#log = join(world.dir, 'docker.log')
  }

  static async begin(rules: readonly RuleInput[], config: object = {}, base?: string): Promise<Incident> {
    const incident = await Incident.prepare(rules, config, base)
    await incident.world.startDaemon()
    return incident
  }

  /** Everything but the daemon. `base` is where the world is. */
  static async prepare(rules: readonly RuleInput[], config: object = {}, base?: string): Promise<Incident> {
    const world = await World.create({ name: 'incident', rules: [...rules] }, config, base)
    const incident = new Incident(world)
    await incident.install('docker', `echo "$*" >> '${incident.#log}'\necho "docker: $*"`)
    return incident
  }

  /** A program of this world, first on PATH, that runs a shell script. */
  async install(name: string, script: string): Promise<void> {
    const bin = join(this.world.dir, 'bin')
    await mkdir(bin, { recursive: true })
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(bin, name), 0o755)
    const { env } = this.world
    if (!env.PATH?.startsWith(`${bin}:`)) env.PATH = `${bin}:${env.PATH}`
  }

  /** The arguments with which `docker` was really called, without those by which the broker pins the folder of compose. */
  get docker(): string[] {
    try {
      return readFileSync(this.#log, 'utf8').trimEnd().replaceAll(PINNED, '').split('\n')
    } catch {
      return []
    }
  }

  investigate(change: Partial<CreateRun> = {}): Promise<Run> {
    return this.world.createRun({ prompt: TASK, tier: 1, ...change })
  }

  chain(id: string): Promise<Chain> {
    return this.world.api('GET', `/api/runs/${id}/chain`)
  }

  /** Resolves when nothing of the chain is running or queued any more. */
  async rested(id: string): Promise<Chain> {
    return until(
      async () => {
        const chain = await this.chain(id)
        return chain.state === 'running' ? null : chain
      },
      'the chain to end',
      CHAIN_ENDS_WITHIN_MS,
    )
  }

  async play(change: Partial<CreateRun> = {}): Promise<Chain> {
    return this.rested((await this.investigate(change)).id)
  }

  /** The text that was sent in each turn, and to which model. */
  prompts(): { model: string; text: string }[] {
    const said = this.world.simulator.requests().filter((request) => request.userText)
    return [...new Map(said.map((r) => [r.userText, { model: r.model, text: r.userText }])).values()]
  }

  close(): Promise<void> {
    return this.world.close()
  }
}
