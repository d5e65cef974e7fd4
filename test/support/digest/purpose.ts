/**
 * A purpose made for tests: a run that writes a digest. It changes the context (a brief, and the digest before as its past),
 * the budget (a number of tokens of its own) and the ending (a notice, and a run that publishes the digest, stored together
 * with the end). Nothing of the path knows of it.
 */
import type { RunPurpose } from '../../../src/engine/base/purpose.ts'
import { buildRun } from '../../../src/engine/path/build-run.ts'
import type { FurtherPurposes } from '../../../src/engine/purposes.ts'
import type { RunEffect } from '../../../src/store/base/transaction.ts'
import { admitRun } from '../../../src/store/runs/admit-run.ts'
import type { RunRecord } from '../../../src/store/runs/records.ts'

export interface DigestRequest {
  topic: string
  /** The digest before. */
  before: string
  maxTokens: number
  /** Who is told. */
  webhook: string
}

export const markDigest = (data: DigestRequest) => ({ name: 'digest', data })

/** What a run was marked with, if it is a digest. */
function digestOf({ request: { purpose } }: RunRecord): DigestRequest | null {
  if (purpose?.name !== 'digest' || typeof purpose.data !== 'object' || purpose.data === null) return null
  const { data } = purpose
  return {
    topic: 'topic' in data ? String(data.topic) : '',
    before: 'before' in data ? String(data.before) : '',
    maxTokens: 'maxTokens' in data ? Number(data.maxTokens) : 0,
    webhook: 'webhook' in data ? String(data.webhook) : '',
  }
}

function requireDigest(run: RunRecord): DigestRequest {
  const digest = digestOf(run)
  if (!digest) throw new Error(`run ${run.id} is no digest`)
  return digest
}

export const createDigestPurpose: FurtherPurposes = (plain, { store, clock, notifications }) => {
  const publish = (run: RunRecord, text: string): RunEffect => {
    const { agent, model, workDir, sessionId } = run
    const next = buildRun({
      agent,
      model,
      workDir,
      prompt: `Publish this: ${text}`,
      request: { permissions: run.request.permissions },
      sessionId,
      createdAt: clock.now(),
    })
    return async (tx) => {
      await admitRun(tx, next)
    }
  }

  const digest: RunPurpose = {
    ...plain,
    name: 'digest',
    claims: (run) => digestOf(run) !== null,
    unattended: true,

    readContext: async (run) => {
      const { topic, before } = requireDigest(run)
      const context = await plain.readContext(run)
      const past = [
        { turn: 1, prompt: `The ${topic} before?`, answer: [{ kind: 'text' as const, text: before }] },
      ]
      return {
        ...context,
        turns: [...past, ...context.turns],
        readWhole: async () => ({ turns: past, catchUp: [] }),
        readBrief: async (facts) => {
          const { texts } = await context.readBrief(facts)
          const brief = `<reprise>\nYou write the digest of ${topic}.\n</reprise>`
          return { texts: { ...texts, brief: [brief, ...texts.brief] } }
        },
      }
    },

    readAllowance: async (run) => ({
      budget: { usd: null, tokens: requireDigest(run).maxTokens },
      before: { usd: 0, tokens: run.spend.usage.inputTokens + run.spend.usage.outputTokens },
    }),

    readEnding: async ({ run, settled }) => {
      if (!settled) return []
      const { topic, webhook } = requireDigest(run)
      const notice = {
        event: settled.name === 'completed' ? 'done' : 'failed',
        subject: { kind: 'chain', id: run.id },
        occurrence: run.id,
        payload: { state: settled.name, message: `the digest of ${topic}: ${run.resultText ?? ''}` },
      } as const
      const told = store.effects.notify(notifications.plan(notice, webhook))
      return settled.name === 'completed' ? [told, publish(run, run.resultText ?? '')] : [told]
    },
    afterSettled: async () => notifications.wake(),
  }
  return [digest]
}
