/** The public description of a chain: its runs, the decisions after them, refused calls, and the total cost. */
import { createHash } from 'node:crypto'
import type { Chain, ChainRun } from '../../contract/chain.ts'
import type { Escalation, Refusal } from '../../contract/escalation.ts'
import type { RunId } from '../../contract/ids.ts'
import { NO_USAGE } from '../../contract/outcome.ts'
import type { Run } from '../../contract/run.ts'
import { sumCosts } from '../../core/cost/usage.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { EscalationRecord } from '../../store/tiers/records.ts'

const SHOWN_REFUSALS = 50

export interface ChainDeps {
  store: Pick<Store, 'listChain' | 'listEscalations' | 'listPlannedFollowUps' | 'listEvents'>
}

export async function readChain(
  { store }: ChainDeps,
  id: RunId,
  describe: (run: RunRecord) => Promise<Run>,
): Promise<Chain | null> {
  const records = await store.listChain(id)
  const [root] = records
  if (!root) return null
  const escalations = new Map(
    (await store.listEscalations(records.map((run) => run.id))).map((e) => [e.runId, e]),
  )
  const runs = await Promise.all(
    records.map(async (record): Promise<ChainRun> => {
      const escalation = escalations.get(record.id)
      return {
        ...(await describe(record)),
        escalation: escalation ? describeEscalation(escalation) : null,
        refused: await readRefusals(store, record.id),
      }
    }),
  )
  const planned = await store.listPlannedFollowUps({ rootRunId: root.id, sessionId: null })
  return { rootRunId: root.id, state: stateOf(runs, planned.length), runs, totals: totalsOf(runs) }
}

export function describeEscalation(escalation: EscalationRecord): Escalation {
  return {
    ...escalation,
    decidedAt: escalation.decidedAt.toISOString(),
    expiresAt: escalation.expiresAt?.toISOString() ?? null,
    askHash: hashOfAsk(escalation),
  }
}

/** Returns null if the run does not wait for approval. */
export function hashOfAsk({
  decision,
  runId,
  toTier,
  message,
  recommendation,
}: EscalationRecord): string | null {
  if (decision !== 'ask') return null
  return createHash('sha256')
    .update(JSON.stringify([runId, toTier, message, recommendation]))
    .digest('hex')
}

async function readRefusals(store: ChainDeps['store'], id: RunId): Promise<Refusal[]> {
  const events = await store.listEvents(id, { types: ['refusal'] })
  return events.slice(-SHOWN_REFUSALS).flatMap(({ body }) =>
    body.type === 'refusal'
      ? [
          {
            tool: body.tool,
            what: body.what,
            rule: body.rule ?? null,
            reason: body.reason,
            dryRun: body.dryRun ?? false,
          },
        ]
      : [],
  )
}

function stateOf(runs: readonly ChainRun[], planned: number): Chain['state'] {
  if (runs.some((run) => run.state !== 'settled')) return 'running'
  if (runs.some((run) => run.escalation?.decision === 'ask')) return 'waiting-for-approval'
  return planned > 0 ? 'waiting-for-follow-up' : 'ended'
}

function totalsOf(runs: readonly ChainRun[]): Chain['totals'] {
  const usage = { ...NO_USAGE }
  for (const run of runs) {
    for (const key of Object.keys(usage) as (keyof typeof usage)[]) usage[key] += run.usage[key]
  }
  return {
    runs: runs.length,
    usage,
    costUsd: sumCosts(runs),
    costEstimated: runs.some((run) => run.costEstimated),
    durationMs: runs.reduce((ms, run) => ms + (run.durationMs ?? 0), 0),
    refusals: runs.reduce((n, run) => n + run.refusals, 0),
  }
}
