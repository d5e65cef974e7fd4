/**
 * Property: after any sequence of turns, edits, truncations, retries, agent switches, changed instructions, compactions,
 * commands, use by hand, upgrades of the agent, renames and moves of the work directory and jumps of the clock, every
 * agent has exactly the history and the instructions that it should have, also if these happen while turns wait, run, or
 * have crashed and will be retried. The test uses the real store, view, decision and prompt; instead of the CLI it uses
 * sessions that only remember what they were sent.
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { HistoryScope } from '../../src/contract/conversation.ts'
import type { EventBody } from '../../src/contract/events.ts'
import { AttemptId, ConversationId, MessageId, RunId } from '../../src/contract/ids.ts'
import type { Outcome } from '../../src/contract/outcome.ts'
import { knownAfter } from '../../src/core/continue/known.ts'
import type { OutsideTurn } from '../../src/core/history/outside.ts'
import { composePrompt } from '../../src/core/prompt/compose.ts'
import { remindMidTurn } from '../../src/core/prompt/reminder.ts'
import { NOTHING_TO_REDACT } from '../../src/core/redact/redactor.ts'
import { decideResume } from '../../src/core/resume/decide.ts'
import type { Place } from '../../src/core/resume/place.ts'
import { readTurnContext } from '../../src/engine/conversations/context.ts'
import { readTurnEnding } from '../../src/engine/conversations/ending.ts'
import { requireTurn } from '../../src/engine/conversations/turn.ts'
import { standingOf } from '../../src/engine/path/context.ts'
import { readEarlierAttempts, toInterruption } from '../../src/engine/path/history.ts'
import { hasForgotten } from '../../src/engine/path/trace.ts'
import type { AttemptRecord } from '../../src/store/runs/attempt-records.ts'
import { EventBatch } from '../../src/store/runs/event-batch.ts'
import { recordSession } from '../../src/store/runs/new-session.ts'
import type { NewRun, RunRecord } from '../../src/store/runs/records.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { announceSeed } from '../core/random.ts'

const AGENTS = ['claude', 'other', 'third'] as const
type Step =
  | { do: 'say'; agent: number }
  /** `raced`: what happens between preparing and starting. */
  | { do: 'start'; raced: 'edit' | 'rename' | 'move' | null; at: number }
  /**
   * `compacts`: the agent compacts its session at the end; `reminded`: and is told again what it may have forgotten, unless
   * that was what the command did.
   * `command`: it answers by itself, without the model.
   */
  | { do: 'finish'; compacts: boolean; command: boolean; reminded?: boolean }
  | { do: 'settle' }
  /** A whole turn, after all waiting turns. */
  | { do: 'turn'; agent: number; compacts: boolean; command: boolean; reminded?: boolean }
  /** A turn that clears the agent's memory, after all waiting turns. */
  | { do: 'clear'; agent: number }
  /**
   * `accepted`: the agent reported that it accepted the question. `recorded`: its session contains the question. `again`:
   * another attempt follows. `works`: it called a tool after what it said.
   */
  | {
      do: 'crash'
      accepted: boolean
      recorded: boolean
      again: boolean
      compacts: boolean
      works?: boolean
    }
  | { do: 'edit' | 'drop' | 'retry'; at: number; agent: number }
  /** Something is said in the agent's session outside Reprise; `forked`: from an earlier point. */
  | { do: 'by-hand'; agent: number; forked: boolean }
  | { do: 'instruct'; removed: boolean }
  /** The agents' program is replaced: by a newer version, or by an older one. */
  | { do: 'upgrade'; by: 1 | -1 }
  | { do: 'set-clock'; hours: number }
  /** The work directory is renamed, or the conversation is moved to another directory, possibly an earlier one. */
  | { do: 'rename' }
  | { do: 'move'; at: number }

const seldom = fc.integer({ min: 0, max: 3 }).map((n) => n === 0)

const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.record({ do: fc.constant('say' as const), agent: fc.nat(2) }), weight: 4 },
  {
    arbitrary: fc.record({
      do: fc.constant('start' as const),
      raced: fc.constantFrom(null, null, null, 'edit' as const, 'rename' as const, 'move' as const),
      at: fc.nat(20),
    }),
    weight: 3,
  },
  {
    arbitrary: fc.record({
      do: fc.constant('finish' as const),
      compacts: fc.boolean(),
      command: seldom,
      reminded: fc.boolean(),
    }),
    weight: 2,
  },
  { arbitrary: fc.record({ do: fc.constant('settle' as const) }), weight: 1 },
  {
    arbitrary: fc.record({
      do: fc.constant('turn' as const),
      agent: fc.nat(1),
      compacts: seldom,
      command: seldom,
      reminded: fc.boolean(),
    }),
    weight: 4,
  },
  {
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      accepted: fc.boolean(),
      recorded: fc.boolean(),
      again: fc.boolean(),
      compacts: fc.boolean(),
      works: fc.boolean(),
    }),
    weight: 2,
  },
  { arbitrary: fc.record({ do: fc.constant('clear' as const), agent: fc.nat(2) }), weight: 1 },
  { arbitrary: fc.record({ do: fc.constant('instruct' as const), removed: seldom }), weight: 1 },
  { arbitrary: fc.record({ do: fc.constant('rename' as const) }), weight: 1 },
  { arbitrary: fc.record({ do: fc.constant('move' as const), at: fc.nat(3) }), weight: 1 },
  {
    arbitrary: fc.record({
      do: fc.constant('upgrade' as const),
      by: fc.constantFrom(1 as const, -1 as const),
    }),
    weight: 1,
  },
  {
    arbitrary: fc.record({ do: fc.constant('set-clock' as const), hours: fc.integer({ min: -72, max: 72 }) }),
    weight: 1,
  },
  {
    arbitrary: fc.record({
      do: fc.constantFrom('edit' as const, 'drop' as const, 'retry' as const),
      at: fc.nat(20),
      agent: fc.nat(2),
    }),
    weight: 3,
  },
  {
    arbitrary: fc.record({
      do: fc.constant('by-hand' as const),
      agent: fc.nat(2),
      forked: seldom,
    }),
    weight: 3,
  },
)

let dir: string
let store: Store
beforeEach(async () => {
  // The database is in memory, because there are thousands of small transactions and no crash to survive.
  dir = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'history-'))
  store = await openSqliteStore(join(dir, 'test.db'), new Date(), { commitWindowMs: 0 })
})
afterEach(async () => {
  await store.close()
  await rm(dir, { recursive: true })
})

/** The content of an agent's session, and the run that uses it. */
interface Running {
  run: RunRecord
  attempt: AttemptRecord
  heard: string
  /** What it remembered before. */
  before: string
}

interface Ending {
  accepted: boolean
  recorded: boolean
  outcome: Outcome
  again: boolean
  compacts: boolean
  command: boolean
  clears: boolean
  works?: boolean | undefined
  /** It is told again what a compaction may have dropped. */
  reminded?: boolean | undefined
}

const FINISHED: Ending = {
  accepted: true,
  recorded: true,
  outcome: { name: 'completed', message: '' },
  again: false,
  compacts: false,
  command: false,
  clears: false,
}

/** The content of a session after a compaction: the conversation without the texts that Reprise added. */
const summaryOf = (memory: string) =>
  memory
    .replaceAll(/<instructions>[\s\S]*?<\/instructions>/g, '')
    .replaceAll(/<reprise>\nThe instructions given earlier no longer apply\.\n<\/reprise>/g, '')

/** Texts with numbers: w7 is the seventh text that was said or changed. */
class Play {
  readonly #scope: HistoryScope
  /** What each session remembers, and the ids of the questions in it. */
  readonly #sessions = new Map<string, string>()
  readonly #recorded = new Map<string, Set<string>>()
  /** What was said in attempts of a run so far. */
  readonly #said = new Map<string, string[]>()
  /** Texts of agents that their session lacks. The next attempt is told about them separately from the history. */
  readonly #unheld = new Set<string>()
  /** Words that a session may know twice. */
  readonly #repeated = new Set<string>()
  /** What was said in sessions by hand. */
  readonly #byHand = new Map<string, OutsideTurn[]>()
  /** The same, with what was said in sessions that were cleared since. */
  readonly #everByHand = new Map<string, OutsideTurn[]>()
  /** Runs that cleared the memory of their agent. */
  readonly #clearing = new Set<string>()
  readonly id = ConversationId.create(new Date())
  #running: Running | null = null
  #words = 0
  #instructions: string | null = 'i0;'
  #version = 1
  /** The existing directories: the file system's identity by name. */
  readonly #dirs = new Map([['/w0', 'dir0']])
  #workDir = '/w0'
  /** The directory in which each session was used last. */
  readonly #usedIn = new Map<string, string>()
  #clockMs = 0

  constructor(scope: HistoryScope) {
    this.#scope = scope
  }

  #word = () => `w${++this.#words}.`
  #now = () => new Date(Date.now() + this.#clockMs)

  async begin(): Promise<void> {
    await store.createConversation({
      id: this.id,
      title: 't',
      agent: 'claude',
      workDir: this.#workDir,
      instructions: this.#instructions,
      historyScope: this.#scope,
      createdAt: this.#now(),
    })
  }

  async step(s: Step): Promise<void> {
    switch (s.do) {
      case 'say':
        await store.admitTurn({
          messageId: MessageId.create(this.#now()),
          conversationId: this.id,
          run: this.#run(AGENTS[s.agent]!, this.#word()),
        })
        return
      case 'start':
        await this.#start(s.raced && (() => this.#meddle(s.raced, s.at)))
        return
      case 'finish':
        return this.#end({ ...FINISHED, ...s })
      case 'instruct':
        this.#instructions = s.removed ? null : `i${++this.#words};`
        return store.updateConversation(this.id, { instructions: this.#instructions }, this.#now())
      case 'upgrade':
        this.#version += s.by
        return
      case 'set-clock': {
        const jumpMs = s.hours * 3_600_000
        this.#clockMs += jumpMs
        return store.moveTimes({ jumpMs, missedMs: 0, watches: [], clock: '' })
      }
      case 'rename':
      case 'move':
        await this.#meddle(s.do, 'at' in s ? s.at : 0)
        return
      case 'crash':
        return this.#end({
          ...FINISHED,
          ...s,
          outcome: { name: 'crashed', message: 'the agent was killed' },
        })
      case 'settle':
        return this.settle()
      case 'turn':
        await this.settle()
        await this.step({ do: 'say', agent: s.agent })
        await this.#start(null)
        return this.#end({ ...FINISHED, ...s })
      case 'clear':
        await this.settle()
        await this.step({ do: 'say', agent: s.agent })
        await this.#start(null)
        return this.#end({ ...FINISHED, command: true, clears: true })
      case 'edit':
        await this.#edit(s.at)
        return
      case 'by-hand':
        return this.#sayByHand(s.agent, s.forked)
      default:
        return this.#change(s.do, s.at, AGENTS[s.agent]!)
    }
  }

  /** Repeats until no turn waits. */
  async settle(): Promise<void> {
    do await this.#end(FINISHED)
    while (await this.#start(null))
    const messages = await store.listMessages(this.id)
    const slots = messages.map(({ turn, role }) => `${turn} ${role}`)
    expect(new Set(slots).size).toBe(slots.length)
    for (const { runId, role, editedAt, blocks } of messages) {
      if (role === 'user' || editedAt !== null || runId === null) continue
      const said = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
      expect(this.#said.get(runId)).toEqual(expect.arrayContaining(said))
    }
    const { items } = await store.listRuns({ limit: 200 })
    const own = items.filter((run) => run.links.conversationId === this.id)
    expect(own.filter((run) => run.state.at !== 'settled').map((run) => run.id)).toEqual([])
  }

  /** Adds a turn to an existing session in which no run is active. */
  async #sayByHand(which: number, forked: boolean): Promise<void> {
    const pinned = (await store.listPins(this.id)).flatMap(({ sessionId }) => sessionId ?? [])
    const usable = pinned.filter((id) => this.#sessions.has(id) && this.#running?.attempt.sessionId !== id)
    const session = usable[which % Math.max(1, usable.length)]
    if (session === undefined) return
    const memory = this.#sessions.get(session)
    const [text, answer] = [this.#word(), this.#word()]
    this.#sessions.set(session, `${memory}\n${text}\n${answer}`)
    const turn: OutsideTurn = {
      id: randomUUID(),
      text,
      answer: [{ type: 'text', text: answer }],
      saidAt: this.#now(),
      inSession: !forked,
    }
    for (const said of [this.#byHand, this.#everByHand])
      said.set(session, [...(said.get(session) ?? []), turn])
  }

  /** What is found in the session's file. The run as it is then. */
  async #takeIn(queued: RunRecord): Promise<RunRecord> {
    const { session } = await readTurnContext(store, queued, requireTurn(queued))
    const found = session && session.agent === queued.agent ? (this.#byHand.get(session.id) ?? []) : []
    if (!session || found.length === 0) return queued
    const conversation = { id: this.id, turn: queued.links.turn! }
    await store.takeInOutside({ session, conversation, turns: found, at: this.#now() })
    return (await store.getRun(queued.id))!
  }

  /** False if nothing has changed. */
  async #meddle(how: 'edit' | 'rename' | 'move' | null, at: number): Promise<boolean> {
    if (how === 'edit') return this.#edit(at)
    const name = `/w${++this.#words}`
    if (how === 'rename') {
      this.#dirs.set(name, this.#dirs.get(this.#workDir)!)
      this.#dirs.delete(this.#workDir)
      this.#workDir = name
    } else {
      this.#workDir = [...this.#dirs.keys()][at] ?? name
      this.#dirs.set(this.#workDir, this.#dirs.get(this.#workDir) ?? `dir of ${name}`)
    }
    await store.updateConversation(this.id, { workDir: this.#workDir }, this.#now())
    return true
  }

  async #messageAt(at: number) {
    const messages = await store.listMessages(this.id)
    return messages[at % Math.max(1, messages.length)]
  }

  async #edit(at: number): Promise<boolean> {
    const message = await this.#messageAt(at)
    if (!message) return false
    const { outdated } = await store.editMessage(this.id, message.id, this.#word(), this.#now())
    // The answer to the old question is not part of the answer to the new one.
    if (outdated) this.#said.delete(outdated)
    return true
  }

  /** A running turn that is cancelled continues until the next step that ends it. */
  async #change(kind: 'drop' | 'retry', at: number, agent: string): Promise<void> {
    const message = await this.#messageAt(at)
    if (!message) return
    if (kind === 'drop') await store.truncate(this.id, message.id, this.#now())
    else {
      await store.retryFrom(this.id, message.id, (question) => {
        const [block] = question.blocks
        return this.#run(agent, block?.type === 'text' ? block.text : '')
      })
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
    const now = this.#now()
    return {
      id: RunId.create(now),
      idempotencyKey: null,
      agent,
      model: null,
      workDir: '/where the conversation was before',
      prompt,
      promptId: randomUUID(),
      request,
      sessionId: null,
      createdAt: now,
    }
  }

  /** Does what the engine does, with a session that only remembers. False if there is nothing to start. */
  async #start(meanwhile: (() => Promise<boolean>) | null): Promise<boolean> {
    const startable = await store.listStartable(this.#now(), 200)
    const first = startable.find((run) => run.links.conversationId === this.id)
    if (!first) return false
    expect(this.#running).toBeNull()
    const queued = await this.#takeIn(first)
    const now = this.#now()
    const context = await readTurnContext(store, queued, requireTurn(queued))
    const { run, session, turns, catchUp } = context
    const earlier = await readEarlierAttempts(store, run, context.sameTask)
    // A turn is always asked where its conversation is.
    expect(run.workDir).toBe(this.#workDir)
    const place = { workDir: run.workDir, workDirId: this.#dirs.get(run.workDir)! }
    const runtime = { id: 'r', command: '/bin/agent', version: `1.${100 + this.#version}`, can: [] }
    const decision = decideResume(
      {
        agent: run.agent,
        runtime,
        ...place,
        canResume: true,
        forceFresh: false,
        epoch: context.epoch,
        resumesUsed: run.interruptions,
        pin: session && {
          ...session,
          epoch: context.sessionEpoch,
          full: false,
          transcript: this.#transcriptOf(session.id),
          holder: null,
        },
        limits: { maxAgeMs: 1e9, maxResumes: 5, contextThreshold: 0.8 },
        past: { turns: turns.length > 0, unfinishedWork: earlier.saidSomething },
      },
      now,
    )
    const resumed = decision.kind === 'resume' && session ? session : null
    const stayed = session !== null && this.#usedIn.get(session.id) === place.workDirId
    if (decision.kind === 'resume') expect(stayed).toBe(true)
    else if (decision.reason === 'other-work-dir') expect(stayed).toBe(false)
    const promptRecorded = resumed !== null && this.#recorded.get(resumed.id)?.has(run.promptId) === true
    const interruption = toInterruption(earlier, promptRecorded)
    const standing = session ? standingOf(session, context.standingHash) : 'changed'
    const { texts: added } = await context.readBrief({ decision, standing, structuredOutput: false })
    const prompt = { prompt: run.prompt, turns, catchUp, added }
    const { texts } = composePrompt({ decision, interruption, standing, ...prompt })
    const sent = texts.join('\n\n')
    const used = resumed ?? this.#newSession(run.agent, place, now)
    const before = resumed ? (this.#sessions.get(used.id) ?? '') : ''
    const heard = `${before}\n${sent}`

    const changed = meanwhile !== null && (await meanwhile())
    const attempt = await store.startAttempt({
      attempt: {
        id: AttemptId.create(now),
        runId: run.id,
        sessionId: used.id,
        agentSessionId: used.agentSessionId,
        resumed: resumed !== null,
        freshReason: decision.kind === 'fresh' ? decision.reason : null,
        carry: decision.carry,
        promptId: promptRecorded ? randomUUID() : run.promptId,
        epoch: context.epoch,
        told: context.standingHash,
        runtime,
        startedAt: now,
      },
      newSession: resumed ? null : used,
      place,
      effects: context.startEffects,
      events: (number) => [
        {
          type: 'attempt-start',
          number,
          agentSessionId: used.agentSessionId,
          resumed: resumed !== null,
          carry: decision.carry,
        },
      ],
    })
    expect(attempt === null).toBe(changed)
    if (attempt === null) return this.#start(null)
    await this.#check(run, heard)
    this.#checkInstructions(heard)
    this.#usedIn.set(used.id, place.workDirId)
    this.#running = { run, attempt, heard, before }
    return true
  }

  #transcriptOf(session: string) {
    if (!this.#sessions.has(session)) return 'missing'
    return this.#byHand.get(session)?.some(({ inSession }) => !inSession) ? 'forked' : 'present'
  }

  /** Settles an attempt whose process has ended. An attempt that was cancelled has not completed. */
  async #end({
    accepted,
    recorded,
    outcome,
    again,
    compacts,
    command,
    clears,
    works,
    reminded,
  }: Ending): Promise<void> {
    if (!this.#running) return
    const { attempt, heard, before, run: asked } = this.#running
    this.#running = null
    // A command that the agent answers by itself drops what was added to it. If that was something that others had said,
    // it is told with the next message, and the command once more with it: it was said after that.
    const repeats = command && !clears && /Since your last turn/.test(heard.slice(before.length))
    if (repeats) for (const word of [asked.prompt, `w${this.#words + 1}.`]) this.#repeated.add(word)
    if (recorded) this.#record(attempt, command ? `${before}\n${asked.prompt}` : heard)
    if (clears) await this.#clear(attempt)
    else if (accepted)
      await this.#speak(attempt, { recorded, compacts, works, reminded: reminded && !command })
    const run = (await store.getRun(attempt.runId))!
    const outdated = attempt.number <= run.outdatedAttempts
    const ended: Outcome = run.cancelRequested ? { name: 'cancelled', message: '' } : outcome
    const holds = this.#recorded.get(attempt.sessionId)
    const known = knownAfter({
      completed: ended.name === 'completed',
      accepted,
      modelCalled: !command,
      recorded: {
        question: holds?.has(run.promptId) === true,
        message: holds?.has(attempt.promptId) === true,
      },
    })
    const own = await store.listEvents(run.id, { attemptId: attempt.id, types: ['reminder', 'compaction'] })
    const completed = ended.name === 'completed'
    const goesOn = (again || outdated) && !run.cancelRequested
    const at = this.#now()
    const clock = { now: () => at, monotonicMs: () => at.getTime() }
    const turn = await readTurnEnding(
      { store, clock, redactor: NOTHING_TO_REDACT },
      {
        run,
        settled: goesOn ? null : ended,
        took: known.question && !outdated ? attempt : null,
        informed: known.past,
      },
    )
    await store.endAttempt({
      attempt,
      outcome: ended,
      exitCode: 0,
      costUsd: 0,
      session: {
        // It goes on in another file.
        agentSessionId: clears ? randomUUID() : null,
        turns: accepted ? 1 : 0,
        told: known.standing ? { told: attempt.told, compacted: hasForgotten(own, completed) } : null,
        poison: null,
        contextTokens: null,
        contextWindow: null,
      },
      spend: run.spend,
      resultText: null,
      interruptions: ended.name === 'crashed' ? 1 : 0,
      done: { modelCalls: 0, toolCalls: 0, refusals: 0 },
      next: goesOn ? { kind: 'retry', notBefore: at, why: '' } : { kind: 'settle', outcome: ended },
      events: [{ type: 'attempt-end', number: attempt.number, outcome: ended, exitCode: 0, strays: 0 }],
      effects: turn ? [store.effects.endTurn(turn)] : [],
      at,
    })
  }

  #record({ sessionId, promptId }: AttemptRecord, heard: string): void {
    this.#sessions.set(sessionId, heard)
    this.#recorded.set(sessionId, (this.#recorded.get(sessionId) ?? new Set()).add(promptId))
  }

  /** Reprise sees the text; the session contains it only if it has recorded the question. */
  async #speak(
    attempt: AttemptRecord,
    { recorded, compacts, works, reminded }: Pick<Ending, 'recorded' | 'compacts' | 'works' | 'reminded'>,
  ): Promise<void> {
    const said = this.#word()
    const { outdatedAttempts } = (await store.getRun(attempt.runId))!
    if (attempt.number > outdatedAttempts)
      this.#said.set(attempt.runId, [...(this.#said.get(attempt.runId) ?? []), said])
    if (!recorded) this.#unheld.add(said)
    else {
      const memory = `${this.#sessions.get(attempt.sessionId)}\n${said}`
      const reminder = reminded ? await this.#readReminder(attempt) : ''
      this.#sessions.set(attempt.sessionId, compacts ? `${summaryOf(memory)}\n${reminder}` : memory)
    }
    const compaction: EventBody[] = [
      ...(reminded ? [{ type: 'reminder' as const, requestId: 'r', whole: true }] : []),
      { type: 'compaction' as const },
    ]
    const events: EventBody[] = [
      { type: 'prompt-accept', messageId: attempt.promptId },
      { type: 'text-end', text: said },
      ...(works ? [{ type: 'tool-start' as const, toolUseId: randomUUID(), name: 'Bash', input: {} }] : []),
      ...(compacts && recorded ? compaction : []),
    ]
    await store.advanceAttempt(attempt, EventBatch.of(events), 1, this.#now(), { urgent: true })
  }

  /** What the agent is told in the middle of its turn after a compaction. */
  async #readReminder({ runId }: AttemptRecord): Promise<string> {
    const run = (await store.getRun(runId))!
    const { readBrief } = await readTurnContext(store, run, requireTurn(run))
    const decision = { kind: 'resume', agentSessionId: '', carry: 'none' } as const
    const { texts } = await readBrief({ decision, standing: 'compacted', structuredOutput: false })
    return remindMidTurn(texts, { task: run.prompt, prompt: run.prompt, said: [] }, 10_000).texts.join('\n\n')
  }

  /** The agent starts a new session file without the content of the old one. */
  async #clear(attempt: AttemptRecord): Promise<void> {
    this.#clearing.add(attempt.runId)
    this.#sessions.set(attempt.sessionId, '')
    this.#byHand.delete(attempt.sessionId)
    const events: EventBody[] = [
      { type: 'prompt-accept', messageId: attempt.promptId },
      { type: 'memory-clear' },
    ]
    await store.advanceAttempt(attempt, EventBatch.of(events), 1, this.#now(), { urgent: true })
  }

  #newSession(agent: string, place: Place, now: Date) {
    const known = { agent, agentSessionId: randomUUID(), ...place, runtimeId: 'r', runtime: null }
    return recordSession(known, now)
  }

  /** The last instructions that the model was given are the present ones. */
  #checkInstructions(heard: string): void {
    const last =
      heard.match(/<instructions>\n(i\d+;)|instructions given earlier no longer apply/g)?.at(-1) ?? ''
    expect(/i\d+;/.exec(last)?.[0] ?? null).toBe(this.#instructions)
  }

  /** Compares what the model was sent with the present conversation. */
  async #check(run: RunRecord, heard: string): Promise<void> {
    const messages = await store.listMessages(this.id)
    const before = messages.filter((m) => m.turn < run.links.turn!)
    const words = (list: typeof messages) =>
      list.flatMap((m) => m.blocks.flatMap((b) => (b.type === 'text' ? [b.text] : [])))
    // An interrupted agent is reminded of its own texts, or of the question from before a compaction.
    const said: string[] = heard.replaceAll(/<(said|task)>[^<]*<\/\1>/g, '').match(/w\d+\./g) ?? []
    const all = said.filter((word, index) => !this.#repeated.has(word) || said.lastIndexOf(word) === index)
    // By hand something may have been said in a session before it was told what others, and other sessions, had said by
    // then: only within each session, and among what was said through us, is there an order to compare.
    const outside = new Set(words(messages.filter((m) => m.origin === 'outside')))
    const sessionOf = new Map(
      [...this.#everByHand.values()].flatMap((turns, session) =>
        turns.flatMap(({ text, answer }) =>
          [text, ...answer.flatMap((b) => (b.type === 'text' ? [b.text] : []))].map(
            (w) => [w, session] as const,
          ),
        ),
      ),
    )
    const place = (word: string) =>
      outside.has(word) ? (sessionOf.get(word) ?? -1) : Number.POSITIVE_INFINITY
    const grouped = (list: readonly string[]) =>
      list.toSorted((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)))
    const inFront = grouped(all)
    const cleared = before.findLast(
      (m) =>
        m.role === 'assistant' &&
        m.agent === run.agent &&
        m.editedAt === null &&
        this.#clearing.has(m.runId ?? ''),
    )
    const known = before.filter(({ turn }) => turn > (cleared?.turn ?? 0))
    const boundary = known.findLastIndex((m) => m.role === 'assistant' && m.agent !== run.agent)
    const due = this.#scope === 'shared' ? known : known.slice(boundary + 1)
    // Turns from before its memory was cleared are not sent again.
    const forgotten = words(before.filter((m) => !known.includes(m)))
    expect(inFront.filter((word) => forgotten.includes(word))).toEqual([])
    // Everything due is there, once, in order; the question comes last.
    const expected = [...grouped(words(due).filter((word) => !this.#unheld.has(word))), run.prompt]
    expect(inFront.filter((word) => expected.includes(word))).toEqual(expected)
    // Nothing is there that the conversation no longer says. (In scope `agent` a resumed session may still know its
    // own earlier turns, from before the boundary: they are part of the conversation.) What earlier attempts at the
    // same question said will be part of its answer.
    const own = this.#said.get(run.id) ?? []
    // The agent knows all texts that were seen, from its session or from the prompt.
    expect(own.filter((word) => !heard.includes(word))).toEqual([])
    const allowed = [...words(before), run.prompt, ...own]
    expect(inFront.filter((word) => !allowed.includes(word))).toEqual([])
  }
}

/** Regression cases: sequences that once led to wrong results. */
const FOUND_ONCE: Step[][] = [
  // An agent joins, its memory is cleared, and both turns are removed: it must be given the turns before it joined.
  [
    { do: 'turn', agent: 0, compacts: false, command: false },
    { do: 'turn', agent: 2, compacts: false, command: false },
    { do: 'clear', agent: 2 },
    { do: 'drop', at: 1, agent: 0 },
    { do: 'turn', agent: 2, compacts: false, command: false },
  ],
  // The memory of an agent is cleared, then its session cannot be resumed.
  [
    { do: 'turn', agent: 1, compacts: false, command: false },
    { do: 'turn', agent: 0, compacts: false, command: false },
    { do: 'clear', agent: 0 },
    { do: 'turn', agent: 1, compacts: false, command: false },
    { do: 'upgrade', by: -1 },
    { do: 'turn', agent: 0, compacts: false, command: false },
    { do: 'edit', at: 0, agent: 0 },
    { do: 'turn', agent: 0, compacts: false, command: false },
  ],
  // A turn is tried again after its conversation was moved while it ran.
  [
    { do: 'say', agent: 0 },
    { do: 'start', raced: null, at: 0 },
    { do: 'rename' },
    { do: 'crash', accepted: false, recorded: false, again: true, compacts: false },
  ],
  // An agent is killed after it accepted what others had said meanwhile, and before its session had it; the second time
  // there is no further attempt.
  ...[true, false].map((again): Step[] => [
    { do: 'turn', agent: 0, compacts: false, command: false },
    { do: 'turn', agent: 1, compacts: false, command: false },
    { do: 'say', agent: 0 },
    { do: 'start', raced: null, at: 0 },
    { do: 'crash', accepted: true, recorded: false, again, compacts: false },
    { do: 'turn', agent: 0, compacts: false, command: false },
  ]),
  // Two attempts in a row die before their session has anything of them: the third knows what both have said. The second
  // may also have said nothing, or the first may have been recorded and those after it not, or each has called a tool.
  ...[
    [false, false, true],
    [false, false, false],
    [true, false, true],
    [true, false, true, true],
    [false, false, true, true],
  ].map(([first, second, speaks, works]): Step[] => [
    { do: 'turn', agent: 0, compacts: false, command: false },
    { do: 'say', agent: 0 },
    { do: 'start', raced: null, at: 0 },
    { do: 'crash', accepted: true, recorded: first!, again: true, compacts: false, works: works! },
    { do: 'start', raced: null, at: 0 },
    { do: 'crash', accepted: speaks!, recorded: second!, again: true, compacts: false, works: works! },
    { do: 'start', raced: null, at: 0 },
    { do: 'crash', accepted: speaks!, recorded: second!, again: true, compacts: false, works: works! },
    { do: 'settle' },
  ]),
  // What a turn was told that is asked again is edited while it runs in a new session.
  [
    { do: 'turn', agent: 1, compacts: false, command: false },
    { do: 'turn', agent: 1, compacts: false, command: false },
    { do: 'turn', agent: 0, compacts: false, command: false },
    { do: 'retry', at: 2, agent: 0 },
    { do: 'start', raced: null, at: 0 },
    { do: 'edit', at: 0, agent: 0 },
    { do: 'turn', agent: 0, compacts: false, command: false },
  ],
]

it.each(['shared', 'agent'] as const)('scope %s', async (scope) => {
  const seed = announceSeed()
  let resumed = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20, size: 'max' }), async (steps) => {
      const play = new Play(scope)
      await play.begin()
      for (const s of steps) await play.step(s)
      await play.settle()
      resumed += (await store.listRuns({ limit: 200 })).items.filter((run) => run.decision?.resumed).length
    }),
    {
      seed,
      numRuns: Number(process.env.REPRISE_TEST_RUNS ?? 40),
      examples: FOUND_ONCE.map((steps) => [steps]),
    },
  )
  expect(resumed).toBeGreaterThan(0)
})
