/** What every store must do, whatever its database. Each backend's test calls this with a function that opens one. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { EventBody } from '../../src/contract/events.ts'
import { ConversationId, MessageId, RunId, SessionId } from '../../src/contract/ids.ts'
import { OwnershipLost } from '../../src/store/base/errors.ts'
import { EventBatch } from '../../src/store/runs/event-batch.ts'
import type { Store } from '../../src/store/store.ts'
import { describeActions } from './actions.ts'
import { describeChangeFeed } from './change-feed.ts'
import { describeClockChanges } from './clock-changes.ts'
import { describeEscalations } from './escalations.ts'
import { describeJobs } from './jobs.ts'
import { describeOutbox } from './outbox.ts'
import { describeOutside } from './outside.ts'
import { describeProcesses } from './processes.ts'
import {
  admitted,
  at,
  COMPLETED,
  ending,
  everythingOf,
  newAttempt,
  newRun,
  newSession,
  note,
  running,
  startAttempt,
  T0,
} from './records.ts'
import { describeWatching } from './watching.ts'

export function describeStore(openEmpty: () => Promise<Store>): void {
  async function open(): Promise<Store> {
    const store = await openEmpty()
    onTestFinished(() => store.close())
    return store
  }
  const times = <T>(count: number, make: (index: number) => T) =>
    Array.from({ length: count }, (_, i) => make(i))
  const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id)

  describeActions(open)
  describeEscalations(open)
  describeChangeFeed(open)
  describeClockChanges(open)
  describeJobs(open)
  describeOutbox(open)
  describeOutside(open)
  describeProcesses(open)
  describeWatching(open)

  describe('admitting a run', () => {
    it('returns it as given, queued and unchanged', async () => {
      const store = await open()
      const given = newRun({ model: 'haiku', prompt: 'NUL \u0000 and 😀', idempotencyKey: 'k' })
      const { run, created } = await store.admitRun(given)
      expect(created).toBe(true)
      const { idempotencyKey, ...kept } = given
      expect(run).toMatchObject({
        ...kept,
        state: { at: 'queued', notBefore: null },
        attemptCount: 0,
        startedAt: null,
      })
      expect(await store.getRun(run.id)).toEqual(run)
      expect(await store.getRun(RunId.create(T0))).toBeNull()
      expect(await store.listEvents(run.id)).toEqual([])
    })

    it('twice with one key and one request is one run, also after it has started and settled', async () => {
      const store = await open()
      const first = await store.admitRun(newRun({ idempotencyKey: 'k', model: 'haiku' }))
      const again = await store.admitRun(newRun({ idempotencyKey: 'k', model: 'haiku' }))
      expect(again).toMatchObject({ created: false, run: { id: first.run.id } })
      const session = newSession()
      const attempt = await startAttempt(store, {
        attempt: newAttempt(first.run, session),
        newSession: session,
        events: () => [],
      })
      if (attempt) await store.endAttempt(ending(attempt))
      const later = await store.admitRun(newRun({ idempotencyKey: 'k', model: 'haiku' }))
      expect(later).toMatchObject({ created: false, run: { id: first.run.id, state: { at: 'settled' } } })
      expect((await store.listRuns({ limit: 10 })).items).toHaveLength(1)
    })

    it('twice with one key is one turn, also if its conversation was moved since it was asked', async () => {
      const store = await open()
      const conversation = {
        title: 't',
        agent: 'claude',
        instructions: null,
        historyScope: 'shared',
      } as const
      const id = ConversationId.create(T0)
      await store.createConversation({ ...conversation, id, workDir: '/first', createdAt: T0 })
      const ask = (workDir: string) =>
        store.admitTurn({
          messageId: MessageId.create(T0),
          conversationId: id,
          run: newRun({ idempotencyKey: 'k', workDir }),
        })
      const { run } = await ask('/first')
      await store.settleQueued(run.id, COMPLETED, at(1))
      await store.updateConversation(id, { workDir: '/second' }, at(2))
      expect(await ask('/second')).toMatchObject({
        created: false,
        run: { id: run.id, workDir: '/first' },
      })
    })

    it.each([
      ['prompt', { prompt: 'something else' }],
      ['work directory', { workDir: '/elsewhere' }],
      ['agent', { agent: 'codex' }],
      ['model', { model: 'opus' }],
      ['permissions', { request: { ...newRun().request, permissions: 'allow' as const } }],
      ['session', { sessionId: SessionId.create(T0) }],
      ['limit', { request: { ...newRun().request, maxTurns: 3 } }],
    ])('with a key that was used for another %s is refused, and nothing is made', async (_, change) => {
      const store = await open()
      const first = await admitted(store, { idempotencyKey: 'k' })
      await expect(store.admitRun(newRun({ idempotencyKey: 'k', ...change }))).rejects.toMatchObject({
        code: 'conflict',
        details: { runId: first.id },
      })
      expect(ids((await store.listRuns({ limit: 10 })).items)).toEqual([first.id])
    })

    it('many times at once with one key is one run', async () => {
      const store = await open()
      const answers = await Promise.all(times(20, () => store.admitRun(newRun({ idempotencyKey: 'k' }))))
      expect(new Set(answers.map(({ run }) => run.id)).size).toBe(1)
      expect(answers.filter(({ created }) => created)).toHaveLength(1)
    })

    it('without a key is a run each time', async () => {
      const store = await open()
      await Promise.all(times(5, () => store.admitRun(newRun())))
      expect((await store.listRuns({ limit: 10 })).items).toHaveLength(5)
    })
  })

  describe('events', () => {
    it('are numbered from 1 without gaps, in order, also with concurrent writers', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      const batches = times(40, (i) => times(i % 5, (j) => note(`${i}.${j}`)))
      const last = await Promise.all(
        batches.map((bodies, i) => store.advanceAttempt(attempt, EventBatch.of(bodies), i, at(2))),
      )
      const events = await store.listEvents(run.id)
      expect(events.map(({ seq }) => seq)).toEqual(times(1 + batches.flat().length, (i) => i + 1))
      expect(events.map(({ body }) => body)).toEqual([note('attempt 1'), ...batches.flat()])
      expect(Math.max(...last)).toBe(events.length)
    })

    it('of a large batch are returned unchanged, whatever their content', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      const odd: EventBody[] = [
        { type: 'native', name: 'x', line: { deep: [null, { n: 1e300, s: '\u2028\u0000' }] } },
        { type: 'tool-start', toolUseId: 't', name: 'Bash', input: { command: "'; drop table runs; --" } },
        { type: 'raw-line', text: '' },
      ]
      const bodies = [...times(333, (i) => note(String(i))), ...odd]
      expect(await store.advanceAttempt(attempt, EventBatch.of(bodies), 1, at(2))).toBe(1 + bodies.length)
      const events = await store.listEvents(run.id, { afterSeq: 1 })
      expect(events.map(({ body }) => body)).toEqual(bodies)
      expect(events[0]).toMatchObject({ runId: run.id, attemptId: attempt.id, at: at(2) })
    })

    it('can be selected by number, attempt, type and count', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      const other = await running(store)
      await store.advanceAttempt(other.attempt, EventBatch.of([note('of another run')]), 1, at(2))
      const text: EventBody = { type: 'text-delta', text: 'hi' }
      await store.advanceAttempt(attempt, EventBatch.of([note('a'), text, note('b')]), 1, at(2))
      const seqs = async (query: Parameters<Store['listEvents']>[1]) =>
        (await store.listEvents(run.id, query)).map(({ seq }) => seq)
      expect(await seqs({ afterSeq: 2 })).toEqual([3, 4])
      expect(await seqs({ afterSeq: 1, limit: 2 })).toEqual([2, 3])
      expect(await seqs({ types: ['text-delta'] })).toEqual([3])
      expect(await seqs({ types: ['text-delta', 'note'], limit: 3 })).toEqual([1, 2, 3])
      expect(await seqs({ attemptId: other.attempt.id })).toEqual([])
      expect(await seqs({ afterSeq: 99 })).toEqual([])
    })
  })

  describe('starting an attempt', () => {
    it('makes the run running, the session leased, the attempt planned, with its events, in one step', async () => {
      const store = await open()
      const { run, session, attempt } = await running(store)
      expect(attempt).toMatchObject({
        number: 1,
        state: 'planned',
        process: null,
        spoolOffset: 0,
        stopCause: null,
      })
      expect(await store.getRun(run.id)).toMatchObject({
        state: { at: 'running' },
        sessionId: session.id,
        decision: { resumed: false, freshReason: 'first-run', carry: 'none' },
        attemptCount: 1,
        resumeCount: 0,
        startedAt: at(1),
      })
      expect(await store.getSession(session.id)).toMatchObject({
        ...session,
        state: 'created',
        messages: 0,
        finished: false,
      })
      expect(await store.findLeaseHolder(session.id)).toBe(run.id)
      expect((await store.listOpenProcesses()).map((open) => open.attempt)).toEqual([attempt])
      expect(await store.countRuns()).toEqual({ queued: 0, running: 1, settled: 0 })
    })

    it('succeeds for one of many concurrent callers', async () => {
      const store = await open()
      const run = await admitted(store)
      const started = await Promise.all(
        times(10, () => {
          const session = newSession()
          return startAttempt(store, {
            attempt: newAttempt(run, session),
            newSession: session,
            events: () => [note('s')],
          })
        }),
      )
      expect(started.filter((attempt) => attempt !== null)).toHaveLength(1)
      expect(await store.listAttempts(run.id)).toHaveLength(1)
      expect((await store.listSessions({ limit: 50 })).items).toHaveLength(1)
      expect(await store.listEvents(run.id)).toHaveLength(1)
    })

    it('gives a session to one run only; the others stay queued, untouched', async () => {
      const store = await open()
      const { session, attempt } = await running(store)
      await store.endAttempt(ending(attempt))
      const runs = await Promise.all(times(6, () => admitted(store)))
      const started = await Promise.all(
        runs.map((run) =>
          startAttempt(store, {
            attempt: newAttempt(run, session, { resumed: true }),
            newSession: null,
            events: () => [],
          }),
        ),
      )
      const winner = started.findIndex((a) => a !== null)
      expect(started.filter((a) => a !== null)).toHaveLength(1)
      expect(await store.findLeaseHolder(session.id)).toBe(runs[winner]?.id)
      for (const [i, run] of runs.entries()) {
        if (i !== winner) expect(await store.getRun(run.id)).toEqual(run)
      }
      expect(await store.getSession(session.id)).toMatchObject({ resumes: 1 })
      expect(started[winner]?.fence).toBeGreaterThan(attempt.fence)
    })

    it('of a run that is settled is refused', async () => {
      const store = await open()
      const run = await admitted(store)
      await store.settleQueued(run.id, COMPLETED, at(2))
      const session = newSession()
      const input = { attempt: newAttempt(run, session), newSession: session, events: () => [] }
      expect(await startAttempt(store, input)).toBeNull()
      expect(await store.getSession(session.id)).toBeNull()
    })
  })

  describe('an attempt in progress', () => {
    const PROCESS = { pid: 4711, startTicks: '12345', bootId: 'boot' }

    it('knows its process once it is launched', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      await store.markLaunched(attempt, PROCESS)
      expect(await store.listAttempts(run.id)).toMatchObject([{ state: 'running', process: PROCESS }])
    })

    it('advances events and offset together', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      await store.advanceAttempt(attempt, EventBatch.of([note('a')]), 100, at(2))
      // An event that cannot be stored: neither the events beside it nor the offset may be stored.
      const bad = { type: 'question-ask', requestId: null } as unknown as EventBody
      await expect(
        store.advanceAttempt(attempt, EventBatch.of([note('b'), bad]), 200, at(3)),
      ).rejects.toThrow()
      expect(await store.listAttempts(run.id)).toMatchObject([{ spoolOffset: 100 }])
      expect((await store.listEvents(run.id)).map(({ body }) => body)).toEqual([note('attempt 1'), note('a')])
      expect(await store.advanceAttempt(attempt, EventBatch.of([note('c')]), 300, at(4))).toBe(3)
    })

    it('keeps offsets of spools beyond 4 GB', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      await store.advanceAttempt(attempt, EventBatch.of([]), 5_000_000_000_000, at(2))
      expect(await store.listAttempts(run.id)).toMatchObject([{ spoolOffset: 5_000_000_000_000 }])
    })

    it('has one stop cause: the first', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      const answers = await Promise.all([
        store.setStopCause(attempt, 'timed-out', 'too long', at(3)),
        store.setStopCause(attempt, 'cancelled', 'by hand', at(3)),
        store.setStopCause(attempt, 'timed-out', 'again', at(3)),
      ])
      expect(answers).toEqual([true, false, false])
      expect(await store.listAttempts(run.id)).toMatchObject([{ stopCause: 'timed-out' }])
      expect((await store.listEvents(run.id, { types: ['stop-request'] })).map(({ body }) => body)).toEqual([
        { type: 'stop-request', cause: 'timed-out', message: 'too long' },
      ])
    })

    it('that is taken over excludes its old owner from every write, without a trace', async () => {
      const store = await open()
      const { run, attempt: old } = await running(store)
      await store.markLaunched(old, PROCESS)
      const now = await store.takeOver(old, at(5))
      expect(now).toMatchObject({ id: old.id, process: PROCESS })
      expect(now.fence).toBeGreaterThan(old.fence)
      const before = await everythingOf(store, run.id)

      await expect(store.markLaunched(old, { ...PROCESS, pid: 1 })).rejects.toThrow(OwnershipLost)
      await expect(store.advanceAttempt(old, EventBatch.of([note('late')]), 9, at(6))).rejects.toThrow(
        OwnershipLost,
      )
      await expect(store.endAttempt(ending(old))).rejects.toThrow(OwnershipLost)
      expect(await store.setStopCause(old, 'cancelled', 'late', at(6))).toBe(false)
      expect(await everythingOf(store, run.id)).toEqual(before)
      expect(await store.findLeaseHolder(old.sessionId)).toBe(run.id)

      await store.advanceAttempt(now, EventBatch.of([note('mine')]), 10, at(7))
      await store.endAttempt(ending(now))
      expect(await store.getRun(run.id)).toMatchObject({ state: { at: 'settled' } })
    })

    it('that has ended can neither be taken over nor written', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      await store.endAttempt(ending(attempt))
      const before = await everythingOf(store, run.id)
      await expect(store.takeOver(attempt, at(10))).rejects.toThrow(OwnershipLost)
      await expect(store.endAttempt(ending(attempt))).rejects.toThrow(OwnershipLost)
      await expect(store.advanceAttempt(attempt, EventBatch.of([note('x')]), 1, at(10))).rejects.toThrow(
        OwnershipLost,
      )
      await expect(store.markLaunched(attempt, PROCESS)).rejects.toThrow(OwnershipLost)
      expect(await store.setStopCause(attempt, 'cancelled', 'x', at(10))).toBe(false)
      expect(await everythingOf(store, run.id)).toEqual(before)
    })
  })

  describe('the last answer in a session', () => {
    it('is that of the newest attempt that completed with a paid model call, as a turn, under the same id', async () => {
      const store = await open()
      const { session, attempt } = await running(store)
      const answered = () => store.findAnsweredPrompt(session)
      expect(await answered()).toBeNull()
      await store.endAttempt(ending(attempt))
      expect(await answered()).toBe(attempt.promptId)
      const crashed = { name: 'crashed', message: 'x' } as const
      for (const [started, ended, counts] of [
        [{}, { outcome: crashed }, false],
        [{}, { costUsd: 0 }, false],
        [{ kind: 'compact' }, {}, false],
        [{ agentSessionId: 'another' }, {}, false],
        [{}, {}, true],
      ] as const) {
        const run = await admitted(store, { sessionId: session.id })
        const next = await startAttempt(store, {
          attempt: { ...newAttempt(run, session), ...started },
          newSession: null,
          events: () => [],
        })
        const before = await answered()
        await store.endAttempt(ending(next!, ended))
        expect(await answered()).toBe(counts ? next!.promptId : before)
      }
    })
  })

  describe('the end of an attempt', () => {
    it('settles the run, frees the session and stores what was spent', async () => {
      const store = await open()
      const { run, session, attempt } = await running(store)
      await store.endAttempt(ending(attempt))
      expect(await store.getRun(run.id)).toMatchObject({
        state: { at: 'settled', outcome: COMPLETED, endedAt: at(9) },
        resultText: 'done',
        interruptions: 0,
        spend: { ...ending(attempt).spend, costUsd: 0.5 },
      })
      expect(await store.listAttempts(run.id)).toMatchObject([
        { state: 'ended', exitCode: 0, outcome: COMPLETED, costUsd: 0.5, endedAt: at(9) },
      ])
      expect(await store.findLeaseHolder(session.id)).toBeNull()
      expect(await store.getSession(session.id)).toMatchObject({
        agentSessionId: session.agentSessionId,
        turns: 1,
        costUsd: 0.5,
        contextTokens: 1000,
        contextWindow: 200_000,
        poison: null,
        lastUsedAt: at(9),
      })
      expect(await store.listOpenProcesses()).toEqual([])
      expect((await store.listEvents(run.id)).at(-1)?.body.type).toBe('run-end')
      expect(await store.countRuns()).toEqual({ queued: 0, running: 0, settled: 1 })
    })

    it('records a compaction of the session when it is read, and the texts it was given when it ends', async () => {
      const store = await open()
      const { session, attempt } = await running(store)
      const told = { told: 'abc', compacted: false }
      await store.advanceAttempt(attempt, EventBatch.of([{ type: 'compaction' }]), 1, at(2))
      expect(await store.getSession(session.id)).toMatchObject({ told: null, compacted: true })
      await store.endAttempt(ending(attempt, { session: { ...ending(attempt).session, told } }))
      expect(await store.getSession(session.id)).toMatchObject(told)
    })

    it('may change the session: another id, a poison, more turns and cost; unknown values stay', async () => {
      const store = await open()
      const { run, session, attempt } = await running(store)
      await store.endAttempt(ending(attempt))
      const next = await admitted(store)
      const second = await startAttempt(store, {
        attempt: newAttempt(next, session, { resumed: true, freshReason: null }),
        newSession: null,
        events: () => [],
      })
      if (!second) throw new Error('expected the attempt to start')
      const poison = { refused: true, message: 'No conversation found' }
      const change = {
        agentSessionId: 'minted-anew',
        turns: 2,
        told: null,
        poison,
        contextTokens: null,
        contextWindow: null,
      }
      await store.endAttempt(ending(second, { session: change, costUsd: 0.25 }))
      expect(await store.getSession(session.id)).toMatchObject({
        agentSessionId: 'minted-anew',
        turns: 3,
        resumes: 1,
        costUsd: 0.75,
        poison,
        contextTokens: 1000,
      })
      expect((await store.findSession('minted-anew'))?.id).toBe(session.id)
      expect(await store.findSession(session.agentSessionId)).toBeNull()
      expect(ids((await store.listRuns({ limit: 9, sessionId: session.id })).items)).toEqual([
        next.id,
        run.id,
      ])
    })

    it('without a price gets it later, once, and run, session and totals with it', async () => {
      const store = await open()
      const { run, session, attempt } = await running(store)
      await store.endAttempt(
        ending(attempt, { costUsd: null, next: { kind: 'retry', notBefore: at(9), why: 'again' } }),
      )
      const second = await startAttempt(store, {
        attempt: newAttempt(run, session, { resumed: true, freshReason: null }),
        newSession: null,
        events: () => [],
      })
      await store.endAttempt(ending(second!, { costUsd: 0.5 }))
      const costs = async () => [
        (await store.getRun(run.id))?.spend.costUsd,
        (await store.getSession(session.id))?.costUsd,
        (await store.readStats()).costUsd,
      ]
      expect(await costs()).toEqual([null, 0.5, 0])
      const [unpriced, ...others] = await store.listUnpriced()
      expect(others).toEqual([])
      expect(unpriced?.id).toBe(attempt.id)
      await store.priceAttempt(unpriced!, 0.25)
      await store.priceAttempt(unpriced!, 8)
      expect(await costs()).toEqual([0.75, 0.75, 0.75])
      expect(await store.listUnpriced()).toEqual([])
    })

    it('may queue the run again, for later, with the reason; it then starts its next attempt', async () => {
      const store = await open()
      const { run, session, attempt } = await running(store)
      await store.endAttempt(
        ending(attempt, {
          outcome: { name: 'crashed', message: 'gone' },
          exitCode: null,
          costUsd: null,
          interruptions: 1,
          resultText: null,
          next: { kind: 'retry', notBefore: at(30), why: 'trying again' },
          events: [note('again')],
        }),
      )
      expect(await store.getRun(run.id)).toMatchObject({
        state: { at: 'queued', notBefore: at(30), why: 'trying again' },
        interruptions: 1,
        sessionId: session.id,
      })
      expect(await store.findLeaseHolder(session.id)).toBeNull()
      expect(await store.listStartable(at(29), 10)).toEqual([])
      expect(ids(await store.listStartable(at(30), 10))).toEqual([run.id])
      const second = await startAttempt(store, {
        attempt: newAttempt(run, session, { resumed: true, freshReason: null, startedAt: at(31) }),
        newSession: null,
        events: (number) => [note(`attempt ${number}`)],
      })
      expect(second).toMatchObject({ number: 2, resumed: true })
      expect(second?.fence).toBeGreaterThan(attempt.fence)
      expect(await store.getRun(run.id)).toMatchObject({ attemptCount: 2, resumeCount: 1, startedAt: at(1) })
      expect((await store.listAttempts(run.id)).map(({ number }) => number)).toEqual([1, 2])
      expect((await store.listEvents(run.id)).map(({ body }) => body)).toEqual(
        ['attempt 1', 'again', 'attempt 2'].map(note),
      )
    })
  })

  describe('what may start', () => {
    it('is queued and due, oldest first, no more than requested', async () => {
      const store = await open()
      const runs = await Promise.all(times(4, () => admitted(store)))
      const order = ids(runs).toSorted()
      expect(ids(await store.listStartable(T0, 10))).toEqual(order)
      expect(ids(await store.listStartable(T0, 2))).toEqual(order.slice(0, 2))
      await store.postponeRun(order[0] as RunId, at(10), 'later')
      expect(ids(await store.listStartable(at(9), 10))).toEqual(order.slice(1))
      expect(ids(await store.listStartable(at(10), 10))).toEqual(order)
      await store.settleQueued(order[1] as RunId, COMPLETED, at(1))
      expect(ids(await store.listStartable(at(10), 10))).toEqual([order[0], order[2], order[3]])
    })

    it('is the first of its lane, and none of it while one runs', async () => {
      const store = await open()
      const { session, attempt } = await running(store)
      const first = await admitted(store, { sessionId: session.id })
      const second = await admitted(store, { sessionId: session.id })
      const elsewhere = await admitted(store)
      expect(ids(await store.listStartable(T0, 10))).toEqual([elsewhere.id])
      await store.endAttempt(ending(attempt))
      expect(ids(await store.listStartable(T0, 10))).toEqual([first.id, elsewhere.id])
      // The lane keeps its order while its first run waits for a time.
      expect(await store.findAhead(second.id)).toMatchObject({ shares: 'lane', id: first.id, why: null })
      await store.postponeRun(first.id, at(10), 'later')
      expect(ids(await store.listStartable(at(9), 10))).toEqual([elsewhere.id])
      expect(await store.findAhead(second.id)).toMatchObject({ id: first.id, state: 'queued', why: 'later' })
      expect(await store.findAhead(elsewhere.id)).toBeNull()
      await store.settleQueued(first.id, COMPLETED, at(10))
      expect(ids(await store.listStartable(at(9), 10))).toEqual([second.id, elsewhere.id])
    })

    it('is due at the earliest time that a queued run waits for', async () => {
      const store = await open()
      expect(await store.nextDueAt(at(2))).toBeNull()
      const [a, b] = [await admitted(store), await admitted(store)]
      expect(await store.nextDueAt(at(2))).toBeNull()
      await store.postponeRun(a.id, at(20), 'x')
      await store.postponeRun(b.id, at(10), 'y')
      expect(await store.nextDueAt(at(2))).toEqual(at(10))
      expect(await store.getRun(b.id)).toMatchObject({ state: { at: 'queued', notBefore: at(10), why: 'y' } })
      await store.settleQueued(b.id, COMPLETED, at(1))
      expect(await store.nextDueAt(at(2))).toEqual(at(20))
      // What is due already is startable and not listed as next.
      expect(await store.nextDueAt(at(20))).toBeNull()
    })
  })

  describe('cancelling', () => {
    it('settles a queued run at once, once, with a last event', async () => {
      const store = await open()
      const run = await admitted(store)
      const cancelled = { name: 'cancelled', message: 'cancelled' } as const
      const answers = await Promise.all(times(3, () => store.settleQueued(run.id, cancelled, at(2))))
      expect(answers.filter(Boolean)).toHaveLength(1)
      expect(await store.getRun(run.id)).toMatchObject({ state: { at: 'settled', outcome: cancelled } })
      expect((await store.listEvents(run.id)).map(({ body }) => body)).toEqual([
        { type: 'run-end', outcome: cancelled },
      ])
    })

    it('is recorded for a running one, which cannot be settled from outside', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      expect(await store.settleQueued(run.id, COMPLETED, at(2))).toBe(false)
      expect((await store.getRun(run.id))?.cancelRequested).toBe(false)
      expect(await store.markCancelRequested(run.id, at(2))).toBe(true)
      expect(await store.markCancelRequested(run.id, at(3))).toBe(true)
      expect(await store.getRun(run.id)).toMatchObject({ cancelRequested: true, state: { at: 'running' } })
      await store.endAttempt(ending(attempt))
      expect(await store.markCancelRequested(run.id, at(10))).toBe(false)
    })

    it('of a run that does not exist, or is queued, records nothing', async () => {
      const store = await open()
      const run = await admitted(store)
      expect(await store.markCancelRequested(run.id, at(2))).toBe(false)
      expect(await store.markCancelRequested(RunId.create(T0), at(2))).toBe(false)
      expect(await store.getRun(run.id)).toEqual(run)
    })
  })

  describe('questions', () => {
    const permission = (requestId: string, toolUseId = `tool-${requestId}`): EventBody => ({
      type: 'permission-ask',
      requestId,
      toolUseId,
      tool: 'Bash',
      input: { command: 'ls' },
      via: 'prompt',
    })
    const question: EventBody = {
      type: 'question-ask',
      requestId: 'q',
      toolUseId: 'tool-q',
      questions: [{ question: 'Which?', options: [{ label: 'A' }] }],
    }
    const allow = (toolUseId: string) => ({ toolUseId, decision: 'allow' as const })
    const pending = async (store: Store, runId: RunId) =>
      (await store.listPending(runId)).map(({ ask }) => ask.requestId)

    it('are pending from the moment they are stored, until they are answered', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      await store.advanceAttempt(attempt, EventBatch.of([permission('p')]), 1, at(2))
      await store.advanceAttempt(attempt, EventBatch.of([question]), 2, at(3))
      expect(await store.listPending(run.id)).toMatchObject([
        { ask: permission('p'), askedAt: at(2), answer: null, answeredAt: null, closedAt: null },
        { ask: question, askedAt: at(3) },
      ])
      const answered = await store.answerQuestion(run.id, allow('tool-p'), 'policy', at(4))
      expect(answered).toMatchObject({ answer: { decision: 'allow' }, answeredAt: at(4) })
      expect(await pending(store, run.id)).toEqual(['q'])
      const answers = { answers: { 'Which?': 'A' } }
      await store.answerQuestion(run.id, { toolUseId: 'tool-q', ...answers }, 'person', at(5))
      expect(await pending(store, run.id)).toEqual([])
      expect((await store.listQuestions(attempt.id)).map(({ answer }) => answer)).toEqual([
        { decision: 'allow' },
        answers,
      ])
      expect(await store.listQuestions(attempt.id)).toContainEqual(answered)
      expect(
        (await store.listEvents(run.id, { types: ['question-answer'] })).map(({ body }) => body),
      ).toEqual([
        { type: 'question-answer', toolUseId: 'tool-p', decision: 'allow', by: 'policy' },
        { type: 'question-answer', toolUseId: 'tool-q', decision: 'answer', by: 'person' },
      ])
    })

    it('are answered only if they are the ones that were shown', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      await store.advanceAttempt(attempt, EventBatch.of([permission('p', 'tool')]), 1, at(2))
      const [seen] = await store.listPending(run.id)
      const answer = { ...allow('tool'), askHash: seen?.askHash ?? '' }
      // The agent withdraws it and asks for something else under the same id.
      const other = { ...permission('r', 'tool'), input: { command: 'rm' } } as EventBody
      await store.advanceAttempt(
        attempt,
        EventBatch.of([{ type: 'question-cancel', requestId: 'p' }, other]),
        2,
        at(3),
      )
      await expect(store.answerQuestion(run.id, answer, 'person', at(4))).rejects.toMatchObject({
        code: 'conflict',
      })
      const [now] = await store.listPending(run.id)
      expect(now?.askHash).not.toBe(seen?.askHash)
      await store.answerQuestion(run.id, { ...answer, askHash: now?.askHash }, 'person', at(4))
      expect(await pending(store, run.id)).toEqual([])
    })

    it('are answered by one of many concurrent callers', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      await store.advanceAttempt(attempt, EventBatch.of([permission('p')]), 1, at(2))
      const answers = await Promise.allSettled(
        times(8, (i) =>
          store.answerQuestion(
            run.id,
            { toolUseId: 'tool-p', decision: i % 2 ? 'allow' : 'deny' },
            'person',
            at(3),
          ),
        ),
      )
      expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const answer of answers) {
        if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'question-answered' })
      }
      expect(await store.listEvents(run.id, { types: ['question-answer'] })).toHaveLength(1)
    })

    it('that do not exist are refused, also those of another run', async () => {
      const store = await open()
      const { run } = await running(store)
      const other = await running(store)
      await store.advanceAttempt(other.attempt, EventBatch.of([permission('p')]), 1, at(2))
      const unknown = { code: 'question-unknown' }
      await expect(store.answerQuestion(run.id, allow('tool-p'), 'person', at(3))).rejects.toMatchObject(
        unknown,
      )
      await expect(store.answerQuestion(run.id, allow('nothing'), 'person', at(3))).rejects.toMatchObject(
        unknown,
      )
    })

    it.each<[string, EventBody]>([
      ['withdrawn', { type: 'question-cancel', requestId: 'p' }],
      [
        'made pointless by the end of the tool',
        { type: 'tool-end', toolUseId: 'tool-p', isError: false, content: '' },
      ],
    ])('that were %s are closed', async (_, event) => {
      const store = await open()
      const { run, attempt } = await running(store)
      await store.advanceAttempt(attempt, EventBatch.of([permission('p'), permission('other')]), 1, at(2))
      await store.advanceAttempt(attempt, EventBatch.of([event]), 2, at(3))
      expect(await pending(store, run.id)).toEqual(['other'])
      await expect(store.answerQuestion(run.id, allow('tool-p'), 'person', at(4))).rejects.toMatchObject({
        code: 'run-settled',
      })
    })

    it('of an attempt that has ended are closed', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      await store.advanceAttempt(attempt, EventBatch.of([permission('p')]), 1, at(2))
      await store.endAttempt(ending(attempt))
      expect(await pending(store, run.id)).toEqual([])
      await expect(store.answerQuestion(run.id, allow('tool-p'), 'person', at(10))).rejects.toMatchObject({
        code: 'run-settled',
      })
    })

    it('by hook and by prompt about one tool call are two, one after the other', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      await store.advanceAttempt(attempt, EventBatch.of([permission('hook', 't')]), 1, at(2))
      await store.answerQuestion(run.id, allow('t'), 'person', at(3))
      await store.advanceAttempt(attempt, EventBatch.of([permission('prompt', 't')]), 2, at(4))
      expect((await store.answerQuestion(run.id, allow('t'), 'person', at(5))).ask.requestId).toBe('prompt')
    })

    it('that are read twice are stored once', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      await store.advanceAttempt(attempt, EventBatch.of([permission('p')]), 1, at(2))
      await store.answerQuestion(run.id, allow('tool-p'), 'person', at(3))
      await store.advanceAttempt(attempt, EventBatch.of([permission('p')]), 2, at(4))
      expect(await store.listQuestions(attempt.id)).toMatchObject([
        { askedAt: at(2), answer: { decision: 'allow' } },
      ])
    })

    it('about permission cannot be answered with text', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      await store.advanceAttempt(attempt, EventBatch.of([permission('p')]), 1, at(2))
      const answer = store.answerQuestion(
        run.id,
        { toolUseId: 'tool-p', answers: { a: 'b' } },
        'person',
        at(3),
      )
      await expect(answer).rejects.toMatchObject({ code: 'bad-request' })
      expect(await pending(store, run.id)).toEqual(['p'])
    })
  })

  describe('lists', () => {
    it('of runs are newest first, in pages that neither repeat nor miss while more are added', async () => {
      const store = await open()
      const there = ids(await Promise.all(times(7, () => admitted(store))))
        .toSorted()
        .toReversed()
      const seen: string[] = []
      let cursor: string | undefined
      for (;;) {
        const page = await store.listRuns({ limit: 3, cursor })
        seen.push(...ids(page.items))
        await admitted(store)
        if (page.nextCursor === null) break
        cursor = page.nextCursor
      }
      expect(seen).toEqual(there)
    })

    it('have no next page when they are exactly full', async () => {
      const store = await open()
      await Promise.all(times(3, () => admitted(store)))
      expect((await store.listRuns({ limit: 3 })).nextCursor).toBeNull()
      expect((await store.listRuns({ limit: 2 })).nextCursor).not.toBeNull()
    })

    it('can be of one state', async () => {
      const store = await open()
      const [queued, { run: active }] = [await admitted(store), await running(store)]
      const settled = await admitted(store)
      await store.settleQueued(settled.id, COMPLETED, at(1))
      const of = async (state: 'queued' | 'running' | 'settled') =>
        ids((await store.listRuns({ limit: 9, state })).items)
      expect([await of('queued'), await of('running'), await of('settled')]).toEqual([
        [queued.id],
        [active.id],
        [settled.id],
      ])
      expect(await store.countRuns()).toEqual({ queued: 1, running: 1, settled: 1 })
    })

    it('add up how resumed turns used the prompt cache, by cause, also where resuming cost more', async () => {
      const store = await open()
      const use = {
        expectedReadTokens: 1000,
        readTokens: 1000,
        writtenTokens: 50,
        rewrittenTokens: 0,
        cause: null,
        rewriteUsd: 0,
        savedUsd: 0.25,
      }
      const rewritten = { ...use, readTokens: 0, rewrittenTokens: 1000, rewriteUsd: 0.5, savedUsd: -1 }
      const uses = [
        use,
        { ...rewritten, cause: 'expired' as const },
        { ...use, rewriteUsd: null, savedUsd: null },
      ]
      for (const cacheUse of uses) {
        const { run, session, attempt } = await running(store)
        const cacheState = {
          model: 'haiku',
          cachedTokens: 1050,
          version: null,
          tools: 'Bash',
          at: T0.toISOString(),
          ttlMs: null,
          baseTokens: 9,
        }
        const end = ending(attempt)
        await store.endAttempt({ ...end, cacheUse, session: { ...end.session, cacheState } })
        expect((await store.listAttempts(run.id))[0]).toMatchObject({
          cacheUse,
          contextTokens: end.session.contextTokens,
          contextWindow: end.session.contextWindow,
        })
        expect((await store.getSession(session.id))?.cacheState).toEqual(cacheState)
      }
      expect((await store.readStats()).cache).toEqual({
        resumedTurns: 3,
        expectedReadTokens: 3000,
        readTokens: 2000,
        writtenTokens: 150,
        rewrittenTokens: 1000,
        rewriteUsd: 0.5,
        savedUsd: -0.75,
        rewrites: { expired: { turns: 1, tokens: 1000, costUsd: 0.5 } },
      })
    })

    it('add up, settled ones and open ones alike, each once', async () => {
      const store = await open()
      await running(store)
      for (const next of [
        { kind: 'settle', outcome: COMPLETED },
        { kind: 'retry', notBefore: at(9), why: 'once more' },
      ] as const) {
        const { attempt } = await running(store)
        await store.endAttempt(ending(attempt, { next, costUsd: 0.25 }))
        await store.endAttempt(ending(attempt, { next, costUsd: 0.25 })).catch(() => {})
      }
      const cancelled = await admitted(store)
      await store.settleQueued(cancelled.id, { name: 'cancelled', message: 'cancelled' }, at(1))
      await store.settleQueued(cancelled.id, { name: 'cancelled', message: 'cancelled' }, at(1))
      expect(await store.countRuns()).toEqual({ queued: 1, running: 1, settled: 2 })
      expect(await store.readStats()).toMatchObject({
        runs: 4,
        attempts: 3,
        outcomes: { completed: 1, cancelled: 1, queued: 1, running: 1 },
        freshReasons: { 'first-run': 3 },
        costUsd: 0.5,
      })
    })

    it('of sessions are newest first, in pages', async () => {
      const store = await open()
      const sessions = []
      for (let i = 0; i < 5; i++) sessions.push((await running(store)).session.id)
      const first = await store.listSessions({ limit: 3 })
      const second = await store.listSessions({ limit: 3, cursor: first.nextCursor ?? undefined })
      expect(ids([...first.items, ...second.items])).toEqual(sessions.toReversed())
      expect(second.nextCursor).toBeNull()
    })

    it.each(['', 'nonsense', "' or 1=1", SessionId.create(T0)])(
      'refuse an invalid cursor: %j',
      async (cursor) => {
        const store = await open()
        await expect(store.listRuns({ limit: 3, cursor })).rejects.toMatchObject({ code: 'bad-request' })
        const wrong = cursor.startsWith('ses_') ? RunId.create(T0) : cursor
        await expect(store.listSessions({ limit: 3, cursor: wrong })).rejects.toMatchObject({
          code: 'bad-request',
        })
      },
    )
  })

  it('facts are kept by key, the newest counts', async () => {
    const store = await open()
    expect(await store.getFact('k')).toBeNull()
    await store.putFact('k', 'one')
    await Promise.all([store.putFact('k', 'two'), store.putFact('other', 'x')])
    expect(await store.getFact('k')).toBe('two')
    expect(await store.getFact('other')).toBe('x')
  })

  it('work that fails does not affect work that was requested at the same time', async () => {
    const store = await open()
    const { attempt } = await running(store)
    const stale = { ...attempt, fence: attempt.fence + 1 }
    const results = await Promise.allSettled([
      store.putFact('before', '1'),
      store.advanceAttempt(stale, EventBatch.of([note('never')]), 5, at(2)),
      store.advanceAttempt(attempt, EventBatch.of([note('kept')]), 5, at(2)),
      store.admitRun(newRun({ id: attempt.runId })),
      store.putFact('after', '1'),
    ])
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(await store.getFact('after')).toBe('1')
    expect((await store.listEvents(attempt.runId)).map(({ body }) => body)).toEqual([
      note('attempt 1'),
      note('kept'),
    ])
  })

  it('requested work is done before the store closes', async () => {
    const store = await openEmpty()
    const runs = times(10, () => newRun())
    const admitting = Promise.all(runs.map((run) => store.admitRun(run)))
    await store.close()
    expect(await admitting).toHaveLength(10)
  })
}
