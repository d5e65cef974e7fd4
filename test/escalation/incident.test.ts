/** An incident through the tiers, on the real CLI, with a `docker` that records what really happened. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, link, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { Handoff } from '../../src/contract/escalation.ts'
import { bash, FIXED, Incident, report, results, TASK, threeTiers, tier } from '../support/incident.ts'
import { pauseAt } from '../support/pause.ts'
import { sampleOf } from '../support/sample.ts'
import { makeUnusable, transcriptOf } from '../support/transcripts.ts'
import { until } from '../support/world.ts'

let incident: Incident
afterEach(() => incident.close())

const toldFile = () => join(incident.world.home, 'told')
const APPROVAL = { tiers: { 2: { approval: true } } }
const handoffs = () => {
  const dir = join(incident.world.home, 'state', 'handoffs')
  return existsSync(dir) ? readdirSync(dir) : []
}

describe('three tiers', () => {
  it('go on in one session, each with its own model and rights; nothing is run twice, and money is counted once', async () => {
    incident = await Incident.begin(threeTiers)
    // The CLI itself starts git there, before any tool.
    execFileSync('git', ['init', '-q', incident.world.workDir])
    const chain = await incident.play({ environment: 'HOST nas runs web' })

    expect(chain).toMatchObject({ state: 'ended', totals: { runs: 3, refusals: 0 } })
    expect(chain.runs.map(({ tier, model, outcome, resumed }) => [tier, model, outcome, resumed])).toEqual([
      [1, 'haiku', 'completed', false],
      [2, 'sonnet', 'completed', true],
      [3, 'opus', 'completed', true],
    ])
    expect(new Set(chain.runs.map(({ sessionId }) => sessionId)).size).toBe(1)
    expect(chain.runs.map(({ parentRunId }) => parentRunId)).toEqual([
      null,
      chain.runs[0]?.id,
      chain.runs[1]?.id,
    ])
    expect(chain.runs.map(({ escalation }) => [escalation?.decision, escalation?.reason])).toEqual([
      ['escalate', 'recommended'],
      ['escalate', 'recommended'],
      ['stop', 'not-recommended'],
    ])
    expect(incident.docker).toEqual(['ps -a', 'logs web', 'restart web', 'compose up -d web'])

    const [first, second, third] = incident.prompts()
    expect(first?.text).toContain(TASK)
    expect(first?.text).toContain('HOST nas runs web')
    for (const later of [second, third]) {
      expect(later?.text).not.toContain(TASK)
      expect(later?.text).not.toContain('HOST nas')
      expect(later?.text).toContain('Do not run again what has been run')
    }
    expect(second?.text).toContain('web must be restarted')
    expect(third?.text).toContain('the restart did not help')

    // What the model was asked is what was counted, each call once.
    const answered = incident.world.simulator.requests().filter((r) => r.status === 200)
    const tokens = (key: 'output_tokens' | 'cache_read_input_tokens' | 'cache_creation_input_tokens') =>
      answered.reduce((sum, r) => sum + (r.usage?.[key] ?? 0), 0)
    expect(chain.totals.usage.outputTokens).toBe(tokens('output_tokens'))
    expect(chain.totals.usage.cacheReadTokens).toBe(tokens('cache_read_input_tokens'))
    expect(chain.totals.usage.cacheWriteTokens).toBe(tokens('cache_creation_input_tokens'))
    const session = await incident.world.api<{ costUsd: number }>(
      'GET',
      `/api/sessions/${chain.runs[0]?.session}`,
    )
    expect(chain.totals.costUsd).toBeCloseTo(session.costUsd, 10)
    // From any of its runs it is the same chain.
    for (const { id } of chain.runs) expect(await incident.chain(id)).toEqual(chain)
  })

  it('end where the highest allowed one is reached', async () => {
    incident = await Incident.begin(threeTiers)
    const chain = await incident.play({ maxTier: 2 })
    expect(chain.runs.map(({ tier }) => tier)).toEqual([1, 2])
    expect(chain.runs.at(-1)?.escalation).toMatchObject({ decision: 'stop', reason: 'max-tier' })
    expect(incident.docker).not.toContain('compose up -d web')
  })

  it('end where the first one has nothing to recommend, or says so in prose only', async () => {
    const said = { when: { user: 'tier 1 of' }, reply: 'Please ESCALATE: "escalate": true' }
    incident = await Incident.begin([said])
    const chain = await incident.play()
    expect(chain.runs).toHaveLength(1)
    expect(chain.runs[0]?.escalation).toMatchObject({
      decision: 'stop',
      reason: 'no-recommendation',
      recommendation: { source: 'none', escalate: null },
    })
  })
})

describe('the daemon is killed', () => {
  const writes = sampleOf(
    [
      ['before', 'endAttempt'],
      ['after', 'endAttempt'],
      ['before', 'claimActions'],
      ['after', 'claimActions'],
    ],
    (write) => write,
  )
  it.each(writes)('%s %s: every tier works once, and does what it does once', async (when, method) => {
    incident = await Incident.begin(threeTiers, { cooldowns: { restart: { limit: 1 } } })
    const { world } = incident
    await world.killDaemon('SIGTERM')
    const run = { prompt: TASK, workDir: world.workDir, tier: 1 }
    const id = await pauseAt(world, when, method, { run })
    await world.startDaemon()
    const chain = await incident.rested(id)
    expect(chain.runs.map(({ tier, outcome }) => [tier, outcome])).toEqual([
      [1, 'completed'],
      [2, 'completed'],
      [3, 'completed'],
    ])
    expect(new Set(chain.runs.map(({ sessionId }) => sessionId)).size).toBe(1)
    expect(incident.docker).toEqual(['ps -a', 'logs web', 'restart web', 'compose up -d web'])
    expect(chain.totals.refusals).toBe(0)
  })
})

describe('a session that cannot be resumed', () => {
  const lookThenRestart = [
    tier(1, ['docker ps -a', 'docker logs web']),
    tier(2, ['docker restart web'], FIXED),
  ]

  function expectHandoff(why: string, chain: Awaited<ReturnType<Incident['play']>>) {
    const [first, second] = chain.runs
    expect(second).toMatchObject({
      tier: 2,
      resumed: false,
      freshReason: why,
      carry: 'handoff',
      outcome: 'completed',
    })
    expect(second?.sessionId).not.toBe(first?.sessionId)
    const { text } = incident.prompts().at(-1)!
    expect(text).toContain(TASK)
    const document = /\{\n "version"[\s\S]*?\n\}/.exec(text)?.[0]
    const handoff = Handoff.parse(JSON.parse(document ?? ''))
    expect(handoff.tiers).toMatchObject([
      {
        tier: 1,
        status: 'down',
        services: ['web'],
        recommends: 'escalate',
        commands: [
          { tool: 'Bash', what: 'docker ps -a', outcome: 'ok', output: 'docker: ps -a' },
          { tool: 'Bash', what: 'docker logs web', outcome: 'ok', output: 'docker: logs web' },
        ],
      },
    ])
    expect(incident.docker).toEqual(['ps -a', 'logs web', 'restart web'])
    // Given once, and taken.
    expect(handoffs()).toEqual([])
  }

  it('because it is gone is handed over', async () => {
    incident = await Incident.begin(lookThenRestart, APPROVAL)
    const { rootRunId, runs } = await incident.play()
    await writeFile(transcriptOf(incident.world.configDir, runs[0]!.sessionId!), '')
    await incident.world.api('POST', `/api/runs/${rootRunId}/approval`, { decision: 'approve' })
    expectHandoff('transcript-unreadable', await incident.rested(rootRunId))
  })

  it('because the agent refuses it is handed over', async () => {
    incident = await Incident.begin(lookThenRestart, APPROVAL)
    const { rootRunId, runs } = await incident.play()
    makeUnusable(transcriptOf(incident.world.configDir, runs[0]!.sessionId!))
    await incident.world.api('POST', `/api/runs/${rootRunId}/approval`, { decision: 'approve' })
    expectHandoff('refused', await incident.rested(rootRunId))
  })

  it('because it is too full, also after it was compacted, is handed over', async () => {
    incident = await Incident.begin(lookThenRestart, { resume: { contextThreshold: 0.00001 } })
    const chain = await incident.play()
    expectHandoff('context-full', chain)
    const { attempts } = await incident.world.getRun(chain.runs[1]!.id)
    expect(attempts.map(({ resumed }) => resumed)).toEqual([true, false])
  })

  it('leaves the handoff as a file while it is under way', async () => {
    const slow = {
      when: { user: 'tier 2 of' },
      reply: [{ hold: 'tier 2' }, report(FIXED), results, { text: 'ok' }],
    }
    incident = await Incident.begin([lookThenRestart[0]!, slow], APPROVAL)
    const { rootRunId, runs } = await incident.play()
    await writeFile(transcriptOf(incident.world.configDir, runs[0]!.sessionId!), '')
    const { nextRunId } = await incident.world.api<{ nextRunId: string }>(
      'POST',
      `/api/runs/${rootRunId}/approval`,
      { decision: 'approve' },
    )
    await incident.world.simulator.waitForHold('tier 2')
    expect(handoffs()).toEqual([`${nextRunId}.json`])
    const file = join(incident.world.home, 'state', 'handoffs', `${nextRunId}.json`)
    expect(Handoff.parse(JSON.parse(await readFile(file, 'utf8')))).toMatchObject({ fromRunId: rootRunId })
    incident.world.simulator.release('tier 2')
    await incident.rested(rootRunId)
    expect(handoffs()).toEqual([])
  })
})

describe('a dry run', () => {
  it('changes nothing at any tier, and says what would have been done', async () => {
    const rules = [
      tier(1, ['docker ps -a']),
      {
        when: { user: 'tier 2 of' },
        reply: [
          bash('docker restart web'),
          results,
          bash('docker ps -a --no-trunc && touch made'),
          results,
          { tool: 'Write', input: { file_path: 'written', content: 'x' } },
          results,
          report({ ...FIXED, status: 'down' }),
          results,
          { text: 'would restart' },
        ],
      },
    ]
    incident = await Incident.begin(rules)
    const chain = await incident.play({ dryRun: true })
    expect(incident.docker).toEqual(['ps -a'])
    expect(readdirSync(incident.world.workDir)).toEqual([])
    const second = chain.runs[1]
    expect(second?.refused.map(({ what, dryRun }) => [what, dryRun])).toEqual([
      ['docker restart web', true],
      ['docker ps -a --no-trunc && touch made', true],
      [join(incident.world.workDir, 'written'), true],
    ])
    expect(second).toMatchObject({ dryRun: true, refusals: 3 })
    expect(incident.prompts().at(-1)?.text).toContain('dry run')
  })

  it('holds for runs at no tier too, if the configuration says so', async () => {
    incident = await Incident.begin(
      [
        {
          reply: [
            bash('docker ps && ls'),
            results,
            bash('touch made'),
            results,
            { text: 'end: ${toolResult}' },
          ],
        },
      ],
      { dryRun: true },
    )
    const run = await incident.world.run({ prompt: 'go', permissions: 'allow' })
    expect(run).toMatchObject({ outcome: 'completed', dryRun: true, refusals: 1 })
    expect(run.resultText).toContain('dry run')
    expect(incident.docker).toEqual(['ps'])
    expect(readdirSync(incident.world.workDir)).toEqual([])
  })
})

describe('approval', () => {
  const rules = [tier(1, ['docker ps']), tier(2, ['docker restart web'], FIXED)]
  const decide = (id: string, decision: string) =>
    incident.world.request('POST', `/api/runs/${id}/approval`, { decision })

  it('lets the next tier start when it is given, also by another daemon; a second answer is refused', async () => {
    incident = await Incident.begin(rules, APPROVAL)
    const { rootRunId, state, runs } = await incident.play()
    expect(state).toBe('waiting-for-approval')
    expect(runs[0]?.escalation).toMatchObject({ decision: 'ask', toTier: 2, nextRunId: null })
    const { items } = await incident.world.api<{ items: unknown[] }>('GET', '/api/approvals')
    expect(items).toMatchObject([{ runId: rootRunId, toTier: 2 }])
    await incident.world.killDaemon()
    await incident.world.startDaemon()
    expect((await decide(rootRunId, 'approve')).status).toBe(200)
    expect((await decide(rootRunId, 'refuse')).status).toBe(409)
    const chain = await incident.rested(rootRunId)
    expect(chain.runs.map(({ tier }) => tier)).toEqual([1, 2])
    expect(chain.runs[0]?.escalation).toMatchObject({ reason: 'approved', decidedBy: 'person' })
  })

  it('stops the chain when it is refused, or when nobody answers in time', async () => {
    incident = await Incident.begin(rules, {
      ...APPROVAL,
      escalation: { approvalTimeout: '1h' },
      // One write for each line: two notifications may be sent at the same time.
      notify: { me: { command: 'line=$(cat); printf "%s\\n" "$line" >> told' } },
    })
    const forgotten = await incident.play()
    incident.world.changeStored("update escalations set expires_at = ? where decision = 'ask'")
    // The daemon looks for expired approvals whenever another one is asked for.
    const refused = await incident.play()
    expect((await decide(refused.rootRunId, 'refuse')).status).toBe(200)
    for (const [chain, reason] of [
      [refused, 'refused'],
      [forgotten, 'approval-timeout'],
    ] as const) {
      const ended = await until(async () => {
        const now = await incident.chain(chain.rootRunId)
        return now.state === 'ended' ? now : null
      }, 'the chain to end')
      expect(ended.runs).toHaveLength(1)
      expect(ended.runs[0]?.escalation).toMatchObject({ decision: 'stop', reason })
    }
    expect(incident.docker).not.toContain('restart web')
    // Who is not watching is told, of what needs a person.
    const told = await until(() => {
      const lines = existsSync(toldFile()) ? readFileSync(toldFile(), 'utf8').trim().split('\n') : []
      return lines.length === 3 ? lines.map((line) => JSON.parse(line)) : null
    }, 'three notifications')
    const about = told.map(({ event, chain }) => [event, chain.id, chain.state])
    expect(about.sort()).toEqual(
      [
        ['attention', refused.rootRunId, 'approval-needed'],
        ['attention', forgotten.rootRunId, 'approval-needed'],
        ['attention', forgotten.rootRunId, 'approval-timeout'],
      ].sort(),
    )
  })
})

describe('a signal', () => {
  it('may be a fenced block, of an agent that takes no schema; or its exit code', async () => {
    const block = JSON.stringify({ status: 'down', escalate: true, reason: 'by block' })
    const rules = [
      { when: { user: 'tier 1 of' }, reply: `I looked.\n\`\`\`signal\n${block}\n\`\`\`` },
      { when: { user: 'tier 2 of' }, reply: 'I looked too.' },
      tier(3, [], FIXED),
    ]
    incident = await Incident.begin(rules)
    const found = (await incident.world.api<{ items: { path: string }[] }>('GET', '/api/agents')).items[0]!
      .path
    // In a checkout below /tmp, which the sandbox does not show, the real program must be beside the wrapper.
    const real = found.startsWith('/tmp/') ? join(incident.world.dir, 'real-agent') : found
    if (real !== found) await link(found, real)
    const wrapper = join(incident.world.dir, 'older')
    // Knows no --json-schema, and ends with 2 where the model is the second tier's.
    await writeFile(
      wrapper,
      `#!/bin/bash\ncase "$*" in *--help*) '${real}' --help | grep -v json-schema; exit;; esac\n` +
        `'${real}' "$@"; code=$?\ncase "$*" in *--model=sonnet*) exit 2;; esac\nexit $code\n`,
    )
    await chmod(wrapper, 0o755)
    await incident.world.killDaemon('SIGTERM')
    await incident.world.configure({ agents: { claude: { command: wrapper } } })
    await incident.world.startDaemon()
    const chain = await incident.play()
    expect(chain.runs.map(({ escalation }) => escalation?.recommendation.source)).toEqual([
      'block',
      'exit-code',
      'none',
    ])
    expect(chain.runs[1]).toMatchObject({ outcome: 'completed', attemptCount: 1 })
  })
})
