/**
 * A day of a small team, for the pictures: real agents on the simulator do what is scripted here, in a real repository.
 * What a picture cannot wait for (a month of history, prices of long sessions) is written into the database afterwards.
 */
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { report, results } from '../../test/support/incident.ts'
import { Watching } from '../../test/support/watching.ts'
import { until, type World } from '../../test/support/world.ts'

const SESSION_TS = `import { store } from './store.ts'

/** How long a session lasts, in seconds. */
const MAX_AGE = 60 * 60

export interface Session {
  user: string
  expiresAt: number
}

export function createSession(user: string, now = Date.now()): Session {
  return { user, expiresAt: now + MAX_AGE * 1000 }
}

export function isValid(session: Session, now = Date.now()): boolean {
  return session.expiresAt > now
}
`

const EXPLANATION = `Found it. \`MAX_AGE\` is **one hour**, and the setting \`session.maxAge\` is never read:

\`\`\`ts
/** How long a session lasts, in seconds. */
const MAX_AGE = 60 * 60
\`\`\`

| setting | documented | in force |
|---|---|---|
| \`session.maxAge\` | 1 day | 1 hour |
| \`session.renew\` | on use | never |

Two things to decide before I change it:

1. Read the setting, with a day as its default.
2. Renew a session when it is used, so that active users are not logged out.
`

const EDIT = {
  tool: 'Edit',
  input: {
    file_path: 'src/auth/session.ts',
    old_string: '/** How long a session lasts, in seconds. */\nconst MAX_AGE = 60 * 60\n',
    new_string:
      "import { settings } from '../settings.ts'\n\n/** How long a session lasts, in seconds; a day unless it is configured. */\nconst MAX_AGE = settings.session.maxAge ?? 24 * 60 * 60\n",
  },
}

const bash = (command: string, description = 'Run it') => ({ tool: 'Bash', input: { command, description } })

const tierRule = (n: number, user: string, commands: readonly string[], signal: object): RuleInput => ({
  // Higher tiers continue the session and are told only what is new.
  when: { user: n > 1 ? `tier ${n} of` : new RegExp(`tier 1 of[\\s\\S]*${user}|${user}[\\s\\S]*tier 1 of`) },
  reply: [
    ...commands.flatMap((command) => [bash(command), results]),
    report(signal),
    results,
    { text: 'Done.' },
  ],
})

const JELLYFIN = 'jellyfin'
const HEALTHY = {
  status: 'healthy',
  escalate: false,
  services: [],
  actions: [],
  reason: 'all is well',
} as const

export const rules: RuleInput[] = [
  {
    when: 'Sessions expire after an hour',
    reply: [
      {
        thinking:
          'The age is probably a constant. I look at where sessions are made, and whether the setting is read.',
      },
      { text: 'I look at how sessions are made.' },
      { tool: 'Read', input: { file_path: '${dir}/src/auth/session.ts' } },
      { tool: 'Grep', input: { pattern: 'maxAge', path: '.' } },
      results,
      { text: EXPLANATION },
    ],
  },
  {
    when: 'Do both',
    reply: [
      { text: 'I read the setting first.' },
      EDIT,
      results,
      bash('node --test'),
      results,
      {
        text: 'The setting is read now, a day is its default, and a session is renewed when it is used. The three tests of `test/session.test.ts` cover both; the suite passes.',
      },
    ],
  },
  {
    when: 'roll this out',
    reply: [
      {
        tool: 'AskUserQuestion',
        input: {
          questions: [
            {
              question: 'What should happen to the sessions that exist already?',
              header: 'Migration',
              multiSelect: false,
              options: [
                { label: 'Keep them', description: 'They expire after their hour, as they were made.' },
                {
                  label: 'Extend them',
                  description: 'A migration sets their end to a day after their last use.',
                },
                { label: 'End them all', description: 'Everybody logs in again once.' },
              ],
            },
          ],
        },
      },
      results,
      { text: 'Then I write the migration.' },
    ],
  },
  {
    when: 'Upgrade the HTTP client',
    reply: [
      { text: 'I look at what is used of it.' },
      bash('grep -rn "http-client" src | head; printf "export const client = 5\\n" > src/http.ts'),
      results,
      { text: 'Now the calls that have changed.' },
      bash('printf "// renamed in version 5\\nexport const fetchJson = 1\\n" >> src/http.ts'),
      results,
      { hold: 'upgrade' },
      { text: 'never' },
    ],
  },
  {
    when: 'You were interrupted',
    reply: [
      { text: 'The last change is there. I run the tests.' },
      bash('node --test'),
      results,
      {
        text: 'Upgraded to version 5.\n\n- `get` became `fetchJson`, in 14 places\n- timeouts are in milliseconds now\n- the suite passes; two tests needed new fixtures',
      },
    ],
  },
  {
    when: 'Find the memory leak',
    reply: [
      { text: 'I take two heap snapshots under load and compare them.' },
      bash('node --version'),
      results,
      { text: 'The second snapshot is 40 MB larger; almost all of it are listeners of `Socket`.' },
      bash('grep -rn "addListener\\|\\.on(" src | wc -l'),
      results,
      { hold: 'leak' },
      { text: 'done' },
    ],
  },
  {
    when: 'Import the users',
    reply: [{ error: { status: 400, message: 'messages.3.content: image exceeds 5 MB', times: 99 } }],
  },
  { when: 'nightly audit', reply: [{ rateLimit: { resetsIn: '23m', times: 99 } }] },
  {
    when: 'Deploy the fix',
    reply: [
      { text: 'The image is built. I restart the service.' },
      bash('docker compose down web && docker compose up -d web', 'Restart the service with the new image'),
      results,
      { text: 'Deployed.' },
    ],
  },
  {
    when: 'Summarise yesterday',
    reply: [{ text: 'Eleven merges, two reverts, and the release went out at 16:40.' }],
  },
  tierRule(1, JELLYFIN, ['docker ps -a', 'docker logs jellyfin', 'docker restart jellyfin'], {
    status: 'down',
    summary: 'jellyfin is down: its container exits with 137',
    checks: [
      { name: 'http://127.0.0.1:8096', status: 'problem', finding: 'connection refused' },
      { name: 'container', status: 'problem', finding: 'exited 137 six minutes ago' },
    ],
    escalate: true,
    reason: 'it must be restarted',
  }),
  tierRule(2, JELLYFIN, ['docker restart jellyfin'], {
    status: 'down',
    summary: 'restarted, and killed again after 20 s: out of memory',
    checks: [{ name: 'container', status: 'problem', finding: 'killed by the kernel, out of memory' }],
    actions: [{ action: 'docker restart jellyfin', outcome: 'done' }],
    escalate: true,
    reason: 'the restart did not help; its memory limit must be raised',
  }),
  tierRule(3, JELLYFIN, ['docker compose up -d jellyfin'], {
    status: 'fixed',
    summary: 'jellyfin runs with 2 GB and answers again',
    checks: [{ name: 'http://127.0.0.1:8096', status: 'ok', finding: '200 in 40 ms' }],
    actions: [
      { action: 'raised mem_limit of jellyfin to 2g', outcome: 'done' },
      { action: 'docker compose up -d jellyfin', outcome: 'done' },
    ],
    escalate: false,
    reason: 'it works again',
  }),
  tierRule(1, 'backups', ['ls'], { ...HEALTHY, summary: 'last night’s backup is there, 14 GB', checks: [] }),
  { reply: 'Fine.' },
]

async function makeRepository(world: World): Promise<void> {
  const { workDir } = world
  await mkdir(join(workDir, 'src', 'auth'), { recursive: true })
  await mkdir(join(workDir, 'test'))
  await writeFile(join(workDir, 'src', 'auth', 'session.ts'), SESSION_TS)
  await writeFile(join(workDir, 'src', 'http.ts'), 'export const client = 4\n')
  await writeFile(
    join(workDir, 'test', 'session.test.ts'),
    "import test from 'node:test'\ntest('lasts', () => {})\n",
  )
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args], { cwd: workDir })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'start')
}

export interface Story {
  conversation: string
  job: string
  run: string
  cycle: string
  session: string
}

export function begin(): Promise<Watching> {
  return Watching.begin(rules, {
    agents: {
      claude: { model: 'sonnet' },
      night: {
        adapter: 'claude',
        command: 'claude',
        model: 'haiku',
        env: { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'made-up' },
      },
    },
    tiers: { 3: { approval: true } },
    run: { concurrency: 8 },
    jobs: { perWorkDir: 8 },
  })
}

export async function play(watching: Watching): Promise<Story> {
  const { world } = watching
  await makeRepository(world)
  const api = <T>(path: string, body?: object) => world.api<T>('POST', path, body)
  const workDir = world.workDir

  // Short conversations, and one of two turns.
  for (const text of [
    'Why is the build on CI twice as slow as here?',
    'Write the release notes of 2.4 from the merged changes.',
    'Which of our endpoints are not covered by a test?',
  ]) {
    const { id } = await api<{ id: string }>('/api/conversations', { workDir })
    const turn = await api<{ run: { id: string } }>(`/api/conversations/${id}/turns`, { text })
    await world.settled(turn.run.id)
  }
  const { id: conversation } = await api<{ id: string }>('/api/conversations', { workDir })
  const say = async (text: string) =>
    (
      await api<{ run: { id: string } }>(`/api/conversations/${conversation}/turns`, {
        text,
        permissions: 'allow',
      })
    ).run.id
  const first = await say('Sessions expire after an hour although `session.maxAge` is a day. Find out why.')
  await world.settled(first)
  const second = await say('Do both, and add tests.')
  await world.settled(second)

  // A job that is killed in the middle and resumed.
  const { id: job, runId } = await api<{ id: string; runId: string }>('/api/jobs', {
    prompt: 'Upgrade the HTTP client to version 5 and make the tests pass.',
    workDir,
    permissions: 'allow',
    maxBudgetUsd: 5,
    checkpoints: true,
    priority: 5,
  })
  await world.waitForEvent(runId, (event) => event.type === 'tool-end' && !event.isError)
  await until(
    async () => (await world.events(runId)).filter(({ type }) => type === 'tool-end').length >= 2,
    'two tools',
  )
  const agent = world
    .processes()
    .find(({ command }) => /claude/.test(command) && !/keeper/.test(command) && /output-format/.test(command))
  if (agent) process.kill(agent.pid, 'SIGKILL')
  await world.waitForEvent(runId, (event) => event.type === 'attempt-start' && event.number === 2)
  world.simulator.release('upgrade')
  await world.settled(runId)

  // A job that fails, and small ones that do not.
  await api('/api/jobs', { prompt: 'Import the users of the old shop.', workDir, permissions: 'allow' })
  for (const prompt of [
    'Summarise yesterday.',
    'Summarise yesterday, for the team.',
    'Check the licences of new dependencies.',
  ]) {
    const { runId: id } = await api<{ runId: string }>('/api/jobs', { prompt, workDir, permissions: 'allow' })
    await world.settled(id)
  }

  // Watches: one that is well, and one with an incident through three tiers.
  await watching.add({ name: 'backups', every: '6h', prompt: 'Check the backups.', maxTier: 1, paused: true })
  for (let n = 0; n < 4; n++) await watching.ended(await watching.trigger('backups'))
  await watching.add({ name: 'media', every: '30m', prompt: 'Check jellyfin at http://127.0.0.1:8096.' })
  const payload = {
    version: '4',
    status: 'firing',
    alerts: [
      {
        status: 'firing',
        labels: { alertname: 'JellyfinDown', instance: 'nas:8096', severity: 'page' },
        startsAt: new Date().toISOString(),
        fingerprint: 'a1',
      },
    ],
  }
  const { cycleId: cycle } = await api<{ cycleId: string }>('/api/hooks/media', payload)
  const approve = await until(
    async () => (await world.api<{ items: { runId: string }[] }>('GET', '/api/approvals')).items[0],
    'an approval',
  )
  await api(`/api/runs/${approve.runId}/approval`, { decision: 'approve' })
  await watching.ended(cycle)
  await world.killDaemon('SIGTERM')
  addHistory(join(world.home, 'reprise.db'))
  await world.startDaemon()
  await world.api('POST', '/api/watches/backups/resume')

  // What is open now.
  const { session } = await world.getRun(runId)
  await api('/api/jobs', {
    prompt: 'nightly audit of the dependencies',
    workDir,
    agent: 'night',
    permissions: 'allow',
  })
  const { runId: leak } = await api<{ runId: string }>('/api/jobs', {
    prompt: 'Find the memory leak in the websocket server and fix it.',
    workDir,
    permissions: 'allow',
    model: 'opus',
  })
  await until(
    async () => (await world.events(leak)).filter(({ type }) => type === 'tool-end').length >= 2,
    'two tools',
  )
  const { runId: deploy } = await api<{ runId: string }>('/api/jobs', {
    prompt: 'Deploy the fix of the login page to staging.',
    workDir,
    permissions: 'ask-all',
  })
  const question = await say('Good. Now roll this out to staging.')
  await world.waitForEvent(question, (event) => event.type === 'question-ask')
  await world.waitForEvent(deploy, (event) => event.type === 'permission-ask')
  await api('/api/followups', {
    runId: second,
    inMs: 6 * 60_000,
    prompt: 'Are there still complaints about short sessions?',
  })
  await watching.trigger('media')
  await until(
    async () => (await world.api<{ items: unknown[] }>('GET', '/api/approvals')).items.length > 0,
    'an approval',
  )
  await until(async () => {
    const { parked } = await world.api<{ parked: { kind: string }[] }>('GET', '/api/overview')
    return parked.some(({ kind }) => kind === 'limit')
  }, 'a limit')
  return { conversation, job, run: runId, cycle, session: session ?? '' }
}

/** Copies settled runs into the last month, and gives all of them the prices of longer sessions. */
function addHistory(path: string): void {
  const db = new DatabaseSync(path)
  const columns = db
    .prepare("select name from pragma_table_info('runs')")
    .all()
    .map(({ name }) => String(name))
  const settled = db.prepare("select * from runs where state = 'settled' order by id").all() as Record<
    string,
    unknown
  >[]
  db.exec('begin')
  db.exec(
    'update runs set cost_usd = cost_usd * 14, cache_read_tokens = cache_read_tokens * 70, cache_write_tokens = cache_write_tokens * 6, input_tokens = input_tokens * 3, output_tokens = output_tokens * 40 where cost_usd is not null',
  )
  db.exec('update attempts set cost_usd = cost_usd * 14 where cost_usd is not null')
  db.exec(
    'update sessions set cost_usd = cost_usd * 14, context_tokens = context_tokens * (9 + abs(random()) % 40)',
  )
  db.exec('update runs set context_tokens = context_tokens * 21')
  db.exec(
    "update attempts set cache_use = json_set(cache_use, '$.savedUsd', abs(coalesce(json_extract(cache_use, '$.savedUsd'), 0)) * 20 + 0.6) where cache_use is not null",
  )
  const insert = db.prepare(
    `insert into runs (${columns.map((name) => `"${name}"`).join(', ')}) values (${columns.map(() => '?').join(', ')})`,
  )
  let seed = 7
  const random = () => {
    seed = (seed * 16_807) % 2_147_483_647
    return seed / 2_147_483_647
  }
  let n = 0
  const today = new Date()
  today.setHours(0, 0, 0, 0)
  for (let day = 0; day < 30; day++) {
    const weekday = new Date(today.getTime() - day * 86_400_000).getDay()
    const amount = Math.floor((weekday === 0 || weekday === 6 ? 4 : 14) * (0.5 + random()))
    for (let k = 0; k < amount; k++) {
      const row = settled[Math.floor(random() * settled.length)]
      if (!row) continue
      const hours = day === 0 ? new Date().getHours() : 24
      const at = today.getTime() - day * 86_400_000 + Math.floor(random() ** 0.7 * hours * 3_600_000)
      if (day === 0 && at > Date.now()) continue
      const id = `run_00${String(n++).padStart(24, '0')}`
      const price = random() * 2 + 0.2
      const values = columns.map((name) => {
        if (name === 'id') return id
        if (name === 'prompt_id') return `copy-${n}`
        // Of something that does not exist, so that only the sums contain the copy.
        if (name === 'job_id' || name === 'conversation_id' || name === 'cycle_id') {
          return typeof row[name] === 'string' ? `${row[name].slice(0, 4)}${id.slice(4)}` : null
        }
        if (name === 'parent_run_id' || name === 'follow_up_id' || name === 'session_id' || name === 'lane')
          return null
        if (name === 'created_at' || name === 'started_at') return at - 60_000
        if (name === 'ended_at') return at
        if (name === 'cost_usd') return typeof row[name] === 'number' ? row[name] * 14 * price : null
        if (name.endsWith('_tokens') && name !== 'context_tokens') return Number(row[name] ?? 0) * 40
        return row[name]
      })
      insert.run(...(values as (string | number | null)[]))
    }
  }
  db.exec('commit')
  db.close()
}
