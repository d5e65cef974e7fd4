/** The story of the demo: a chat that resumes, a job that is killed and continued, an incident through three tiers. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client/client.ts'
import { type CliContext, notify, printJson } from '../base/context.ts'
import { followJob } from '../jobs/follow.ts'
import { reportLines } from '../run/chain-text.ts'
import { followToEnd } from '../run/follow.ts'
import { summarizeTurn } from '../run/summary.ts'
import { formatTokens } from '../terminal/amounts.ts'
import { styleFor } from '../terminal/terminal.ts'
import { formatTime } from '../terminal/time.ts'
import { INTERRUPTED_STEP } from './scenario.ts'

interface Stage {
  client: Client
  workDir: string
  context: CliContext
}

export async function tell(
  { context }: Pick<Stage, 'context'>,
  heading: string,
  ...lines: string[]
): Promise<void> {
  if (context.json) return printJson(context, { type: 'demo', heading, text: lines.join(' ') })
  const { bold, dim } = styleFor(context.stderr, context.env)
  notify(context, `\n${bold(heading)}`)
  for (const line of lines) notify(context, dim(line))
}

export async function playChat(stage: Stage): Promise<void> {
  const { client, workDir, context } = stage
  await tell(
    stage,
    '1. A chat that resumes',
    'Two messages. The second one is sent alone: the agent resumes its own session.',
  )
  const { id } = await client.createConversation({ workDir, title: 'Demo: a chat' })
  for (const text of ['Remember the number 7.', 'Which number?']) {
    const run = await client.createTurn(id, { text })
    if (!context.json) notify(context, `you: ${text}`)
    const { settled } = await follow(stage, run.id)
    const style = styleFor(context.stderr, context.env)
    if (!context.json) for (const line of summarizeTurn(settled, style)) notify(context, line)
  }
}

export async function playJob(stage: Stage): Promise<void> {
  const { client, workDir, context } = stage
  await tell(
    stage,
    '2. A job, killed and continued',
    'An agent writes a report. In the middle its process is killed with signal 9.',
  )
  const job = await client.createJob({ prompt: 'Write a report.', workDir, permissions: 'allow' })
  const killing = killWhenAt(stage, job.id, job.runId)
  await followJob(client, job, context)
  await killing
  context.exitCode = 0
}

/** Kills the agent as soon as it works on the second half. */
async function killWhenAt(stage: Stage, jobId: string, runId: string): Promise<void> {
  for await (const event of stage.client.events(runId)) {
    if (event.type !== 'tool-start' || !JSON.stringify(event.input).includes('while')) continue
    await sleep(300)
    const { attempts } = await stage.client.getJob(jobId)
    const keeper = attempts.at(-1)?.pid ?? null
    for (const pid of keeper === null ? [] : childrenOf(keeper)) process.kill(pid, 'SIGKILL')
    if (!stage.context.json) {
      notify(stage.context, `(${INTERRUPTED_STEP.split('.')[0]}; now the agent's process is killed)`)
    }
    return
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const [, ppid] = /\) \S (\d+)/.exec(readFileSync(`/proc/${Number(name)}/stat`, 'latin1')) ?? []
      return Number(ppid) === parent ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

export async function playIncident(stage: Stage): Promise<void> {
  const { client, workDir, context } = stage
  await tell(
    stage,
    '3. An incident through three tiers, with a follow-up',
    'A cheap model looks and changes nothing; the next tier may write here; the third may do more, and plans a check.',
  )
  await client.createWatch({ name: 'web', prompt: 'Is web up? Its state is in web.state.', workDir })
  const { cycleId } = await client.triggerWatch('web', { reason: 'an alert says that web is down' })
  const seen = new Set<string>()
  for (;;) {
    const cycle = cycleId === null ? null : await client.getCycle(cycleId)
    const run = cycle?.chain?.runs.find(({ id }) => !seen.has(id))
    if (run) {
      seen.add(run.id)
      if (!context.json) notify(context, `→ tier ${run.tier}`)
      await follow(stage, run.id)
      const signal = (await client.getRun(run.id)).escalation?.recommendation.signal
      if (signal && !context.json) notify(context, `reported: ${reportLines(signal).join('; ')}`)
      continue
    }
    const planned = cycle?.followUps.find(({ state }) => state === 'planned')
    if (planned) {
      await tell(
        stage,
        'The third tier has fixed it and planned a check.',
        `It comes at ${formatTime(planned.dueAt)}, in the same session: ${planned.prompt}`,
      )
      return
    }
    if (!cycle || cycle.state === 'ended') return
    await sleep(200)
  }
}

export async function tellSavings(stage: Stage): Promise<void> {
  const { usage } = await stage.client.stats()
  await tell(
    stage,
    'That was real: real processes, a real database, the real agent.',
    `Only the model is scripted. ${formatTokens(usage.cacheReadTokens)} tokens were read from the prompt cache, because sessions were resumed.`,
  )
}

/** To its end; a run that keeps its process for a follow-up is not waited for. */
async function follow({ client, context }: Stage, runId: string): ReturnType<typeof followToEnd> {
  const done = new AbortController()
  const followed = {
    runId,
    noun: 'run',
    cancel: () => client.cancelRun(runId),
    command: `reprise attach ${runId}`,
  } as const
  try {
    return await followToEnd(client, followed, context, {
      announceResume: false,
      signal: done.signal,
      leave: () => process.exit(130),
      see: (event) => {
        if (event.type === 'note' && event.text.startsWith('the process is kept')) done.abort()
      },
    })
  } catch (error) {
    if (!done.signal.aborted) throw error
    return { settled: await client.getRun(runId), interrupted: false, left: false }
  }
}
