/**
 * Any sequence of turns, edits, truncations, retries and agent switches leaves every agent with exactly the history it
 * should have been given. The real store, view, decision and prompt; in place of the CLI, sessions that only remember
 * what they were sent.
 */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { HistoryScope } from '../../src/contract/conversation.ts'
import { AttemptId, ConversationId, MessageId, RunId, SessionId } from '../../src/contract/ids.ts'
import { composePrompt } from '../../src/core/prompt/compose.ts'
import { decideResume } from '../../src/core/resume/decide.ts'
import { readContext } from '../../src/engine/context.ts'
import type { NewRun, RunRecord } from '../../src/store/records.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'

const AGENTS = ['claude', 'other', 'third'] as const
type Step = { do: 'say'; agent: number } | { do: 'edit' | 'drop' | 'retry'; at: number; agent: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.record({ do: fc.constant('say' as const), agent: fc.nat(2) }), weight: 3 },
  {
    arbitrary: fc.record({
      do: fc.constantFrom('edit' as const, 'drop' as const, 'retry' as const),
      at: fc.nat(20),
      agent: fc.nat(2),
    }),
    weight: 2,
  },
)

let dir: string
let store: Store
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'history-'))
  store = await openSqliteStore(join(dir, 'test.db'), new Date(), { commitWindowMs: 0 })
})
afterEach(async () => {
  await store.close()
  await rm(dir, { recursive: true })
})

/** Words that say where they come from: w7 is the seventh thing anybody said or changed. */
class Play {
  readonly #scope: HistoryScope
  readonly #sessions = new Map<string, string>()
  readonly id = ConversationId.create(new Date())
  #words = 0

  constructor(scope: HistoryScope) {
    this.#scope = scope
  }

  #word = () => `w${++this.#words}.`

  async begin(): Promise<void> {
    await store.createConversation({
      id: this.id,
      title: 't',
      agent: 'claude',
      workDir: '/w',
      instructions: null,
      historyScope: this.#scope,
      createdAt: new Date(),
    })
  }

  async step(s: Step): Promise<void> {
    const agent = AGENTS[s.agent]!
    if (s.do === 'say') {
      const { run } = await store.admitTurn({
        messageId: MessageId.create(new Date()),
        conversationId: this.id,
        run: this.#run(agent, this.#word()),
      })
      return this.#answer(run)
    }
    const messages = await store.listMessages(this.id)
    const message = messages[s.at % Math.max(1, messages.length)]
    if (!message) return
    if (s.do === 'edit') await store.editMessage(this.id, message.id, this.#word(), new Date())
    else if (s.do === 'drop') await store.truncate(this.id, message.id, new Date())
    else {
      const { run } = await store.retryFrom(this.id, message.id, (question) => {
        const [block] = question.blocks
        return this.#run(agent, block?.type === 'text' ? block.text : '')
      })
      await this.#answer(run)
    }
  }

  #run(agent: string, prompt: string): NewRun {
    const request = {
      permissions: 'edits',
      forceFreshSession: false,
      maxDurationMs: null,
      maxResumes: null,
      maxTurns: null,
      maxBudgetUsd: null,
    } as const
    const now = new Date()
    return {
      id: RunId.create(now),
      idempotencyKey: null,
      agent,
      model: null,
      workDir: '/w',
      prompt,
      promptId: randomUUID(),
      request,
      sessionId: null,
      createdAt: now,
    }
  }

  /** What the engine does, with a session that only remembers. */
  async #answer(run: RunRecord): Promise<void> {
    const now = new Date()
    const context = await readContext(store, run)
    const { session, chat, turns } = context
    const decision = decideResume(
      {
        agent: run.agent,
        runtimeId: 'r',
        workDir: '/w',
        canResume: true,
        forceFresh: false,
        epoch: context.epoch,
        resumesUsed: 0,
        pin: session && {
          ...session,
          epoch: context.sessionEpoch,
          full: false,
          transcript: 'present',
          holder: null,
        },
        limits: { maxAgeMs: 1e9, maxResumes: 5, contextThreshold: 0.8 },
        past: { turns: turns.length > 0, unfinishedWork: false },
      },
      now,
    )
    const sent = composePrompt({ decision, prompt: run.prompt, turns, interruption: null, chat })
    const used = decision.kind === 'resume' && session ? session : this.#newSession(run.agent, now)
    const heard = decision.kind === 'resume' ? `${this.#sessions.get(used.id)}\n${sent}` : sent
    await this.#check(run, heard)

    const said = this.#word()
    this.#sessions.set(used.id, `${heard}\n${said}`)
    const attempt = await store.startAttempt({
      attempt: {
        id: AttemptId.create(now),
        runId: run.id,
        sessionId: used.id,
        agentSessionId: used.agentSessionId,
        resumed: decision.kind === 'resume',
        freshReason: decision.kind === 'fresh' ? decision.reason : null,
        carry: decision.carry,
        promptId: run.promptId,
        epoch: context.epoch,
        instructionsHash: null,
        startedAt: now,
      },
      newSession: decision.kind === 'resume' ? null : used,
      events: () => [],
    })
    await store.endAttempt({
      attempt: attempt!,
      outcome: { name: 'completed', message: '' },
      exitCode: 0,
      costUsd: 0,
      session: {
        agentSessionId: null,
        turns: 1,
        poison: null,
        contextTokens: null,
        contextWindow: null,
        costUsd: 0,
      },
      spend: run.spend,
      resultText: said,
      strikes: 0,
      done: { modelCalls: 0, toolCalls: 0 },
      next: { kind: 'settle', outcome: { name: 'completed', message: '' } },
      events: [],
      turn: {
        conversationId: this.id,
        turn: run.links.turn!,
        agent: run.agent,
        runId: run.id,
        goesOn: false,
        answer: { id: MessageId.create(now), blocks: [{ type: 'text', text: said }], state: 'complete' },
        pin: { sessionId: used.id, sessionEpoch: context.epoch, instructionsHash: null },
      },
      at: now,
    })
  }

  #newSession(agent: string, now: Date) {
    return {
      id: SessionId.create(now),
      agent,
      agentSessionId: randomUUID(),
      workDir: '/w',
      runtimeId: 'r',
      epoch: 0,
      continues: null,
      poison: null,
      turns: 0,
      resumes: 0,
      contextTokens: null,
      contextWindow: null,
      costUsd: 0,
      createdAt: now,
      lastUsedAt: now,
    }
  }

  /** What the model has in front of it, against the conversation as it stands. */
  async #check(run: RunRecord, heard: string): Promise<void> {
    const messages = await store.listMessages(this.id)
    const before = messages.filter((m) => m.turn < run.links.turn!)
    const words = (list: typeof messages) =>
      list.flatMap((m) => m.blocks.flatMap((b) => (b.type === 'text' ? [b.text] : [])))
    const inFront = heard.match(/w\d+\./g) ?? []
    const boundary = before.findLastIndex((m) => m.role === 'assistant' && m.agent !== run.agent)
    const due = this.#scope === 'shared' ? before : before.slice(boundary + 1)
    // Everything due is there, once, in order; the question comes last.
    const expected = [...words(due), run.prompt]
    expect(inFront.filter((word) => expected.includes(word))).toEqual(expected)
    // Nothing is there that the conversation no longer says. (In scope `agent` a resumed session may still know its
    // own earlier turns, from before the boundary: they are part of the conversation.)
    const allowed = this.#scope === 'shared' ? expected : [...words(before), run.prompt]
    expect(inFront.filter((word) => !allowed.includes(word))).toEqual([])
  }
}

it.each(['shared', 'agent'] as const)('scope %s', async (scope) => {
  const seed = Number(process.env.REPRISE_TEST_SEED ?? Date.now() % 2 ** 31)
  console.log(`fast-check seed ${seed}`)
  let resumed = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const play = new Play(scope)
      await play.begin()
      for (const s of steps) await play.step(s)
      resumed += (await store.listRuns({ limit: 200 })).items.filter((run) => run.decision?.resumed).length
    }),
    { seed, numRuns: 150 },
  )
  expect(resumed).toBeGreaterThan(0)
})
