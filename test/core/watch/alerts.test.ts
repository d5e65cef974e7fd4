import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WatchEvent } from '../../../src/contract/cycle.ts'
import { readEvents } from '../../../src/core/watch/alerts.ts'
import { checkProperty } from '../random.ts'

const T0 = new Date('2026-03-01T12:00:00Z')
const hash = (text: string) => createHash('sha256').update(text).digest('hex')

function read(payload: unknown) {
  const result = readEvents(payload, T0, hash)
  if (!result.ok) throw new Error(result.problem)
  return result
}
const problemOf = (payload: unknown) => {
  const result = readEvents(payload, T0, hash)
  return result.ok ? null : result.problem
}
const one = (payload: unknown) => read(payload).firing[0] as WatchEvent

const alert = (change: object = {}) => ({
  status: 'firing',
  labels: { alertname: 'HighLoad', instance: 'web1:9100', severity: 'critical' },
  annotations: { summary: 'Load is above 10', description: 'For ten minutes.' },
  startsAt: '2026-03-01T11:50:00.123Z',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://prometheus.example:9090/graph?g0.expr=node_load1',
  fingerprint: '1a30ba71cca2921f',
  ...change,
})

const alertmanager = (alerts: readonly unknown[], change: object = {}) => ({
  receiver: 'reprise',
  status: 'firing',
  alerts,
  groupLabels: { alertname: 'HighLoad' },
  commonLabels: { alertname: 'HighLoad' },
  commonAnnotations: {},
  externalURL: 'http://alertmanager.example:9093',
  version: '4',
  groupKey: '{}:{alertname="HighLoad"}',
  truncatedAlerts: 0,
  ...change,
})

describe("Alertmanager's webhook", () => {
  it('is one event for each alert that fires, with the alert as it was sent', () => {
    const other = alert({ fingerprint: 'bc97ff14869b13e3', labels: { alertname: 'DiskFull' } })
    expect(read(alertmanager([alert(), other]))).toEqual({
      ok: true,
      firing: [
        {
          fingerprint: '1a30ba71cca2921f',
          title: 'HighLoad (web1:9100): Load is above 10',
          receivedAt: T0.toISOString(),
          payload: alert(),
        },
        expect.objectContaining({
          fingerprint: 'bc97ff14869b13e3',
          title: 'DiskFull: Load is above 10',
          payload: other,
        }),
      ],
      resolved: [],
    })
  })

  it('says for each alert of a group whether it is resolved', () => {
    const over = alert({ status: 'resolved', fingerprint: 'over' })
    const result = read(alertmanager([alert(), over], { status: 'firing' }))
    expect(result.firing.map(({ fingerprint }) => fingerprint)).toEqual(['1a30ba71cca2921f'])
    expect(result.resolved).toEqual(['over'])
  })

  it('without fingerprints, as older ones send it: the labels tell alerts apart, and nothing else', () => {
    const { fingerprint: _, ...bare } = alert()
    const fire = (change: object) => one(alertmanager([{ ...bare, ...change }])).fingerprint
    const sorted = { severity: 'critical', instance: 'web1:9100', alertname: 'HighLoad' }
    expect(fire({ startsAt: 'later', annotations: {} })).toBe(fire({}))
    expect(fire({ labels: sorted })).toBe(fire({}))
    expect(fire({ labels: { ...sorted, instance: 'web2:9100' } })).not.toBe(fire({}))
    expect(read(alertmanager([{ ...bare, status: 'resolved' }])).resolved).toEqual([fire({})])
    expect(fire({ labels: {}, startsAt: 'a' })).not.toBe(fire({ labels: {}, startsAt: 'b' }))
  })

  it("is recognised by its group key too: Grafana's has another version", () => {
    const payload = alertmanager([alert(), alert({ fingerprint: 'b' })], { version: '1', orgId: 1 })
    expect(read(payload).firing).toHaveLength(2)
    expect(read({ alerts: [1, 2] }).firing, 'which is none').toHaveLength(1)
  })

  it('without alerts is nothing; the same alert twice is one, as it was last', () => {
    expect(read(alertmanager([]))).toEqual({ ok: true, firing: [], resolved: [] })
    expect(read(alertmanager([alert(), alert()])).firing).toHaveLength(1)
    expect(read(alertmanager([alert(), alert({ status: 'resolved' })]))).toEqual({
      ok: true,
      firing: [],
      resolved: ['1a30ba71cca2921f'],
    })
  })

  it('with more than 100 alerts, or with what is none, is refused with the reason', () => {
    const many = (count: number) =>
      alertmanager(Array.from({ length: count }, (_, n) => alert({ fingerprint: `f${n}` })))
    expect(read(many(100)).firing).toHaveLength(100)
    expect(problemOf(many(101))).toMatch(/^101 alerts.*at most 100.*max_alerts/)
    expect(problemOf(alertmanager([alert(), 'x']))).toBe('alerts[1] is not an object')
  })
})

describe('any other JSON', () => {
  it.each([
    [{ fingerprint: 'f', id: 'i' }, 'f'],
    [{ dedupKey: 'd', id: 'i' }, 'd'],
    [{ dedup_key: 'd', id: 'i' }, 'd'],
    [{ fingerprint: '', id: 17 }, '17'],
    [{ fingerprint: null, id: 'größer' }, 'größer'],
  ])('%j is one event with the fingerprint %s', (payload, fingerprint) => {
    expect(read(payload)).toEqual({
      ok: true,
      firing: [{ fingerprint, title: 'event', receivedAt: T0.toISOString(), payload }],
      resolved: [],
    })
  })

  it('without a fingerprint is identified by its content, in any order of keys', () => {
    const a = one({ host: 'a', deep: { x: 1, y: [1, 2] } })
    expect(a.fingerprint).toBe(hash('{"deep":{"x":1,"y":[1,2]},"host":"a"}'))
    expect(one({ deep: { y: [1, 2], x: 1 }, host: 'a' }).fingerprint).toBe(a.fingerprint)
    expect(one({ host: 'a', deep: { x: 1, y: [2, 1] } }).fingerprint).not.toBe(a.fingerprint)
    for (const payload of [null, true, 0, 'text', [], [1, { a: 2 }]]) {
      expect(one(payload)).toMatchObject({ title: 'event', payload })
    }
  })

  it.each([
    [{ title: 'a', summary: 'b' }, 'a'],
    [{ title: ' ', summary: 'b', message: 'c' }, 'b'],
    [{ title: 7, message: 'c', name: 'd' }, 'c'],
    [{ name: 'two\n\n  lines\u2028\u202ethree\u0000' }, 'two lines three'],
  ])('%j has a title in one line', (payload, title) => {
    expect(one(payload).title).toBe(title)
  })

  it('that is resolved ends what fired, with or without a fingerprint', () => {
    expect(read({ id: 'x', status: 'resolved' })).toEqual({ ok: true, firing: [], resolved: ['x'] })
    const { fingerprint } = one({ host: 'a', status: 'firing' })
    expect(read({ host: 'a', status: 'resolved' }).resolved).toEqual([fingerprint])
    expect(one({ host: 'a' }).fingerprint).toBe(fingerprint)
    expect(one({ host: 'a', status: 'down' }).fingerprint, 'says something').not.toBe(fingerprint)
  })
})

describe('a malicious or malformed payload', () => {
  it('is cut where it is long, and says so', () => {
    const text = '"<ä😀\\'.repeat(100_000)
    const event = one({ title: text, fingerprint: text, text })
    expect(event.title.length).toBe(200)
    expect(event.title.isWellFormed()).toBe(true)
    expect(event.fingerprint).toBe(hash(text))
    expect(Buffer.byteLength(JSON.stringify(event.payload))).toBeLessThan(64 * 1024)
    expect(event.payload).toEqual({
      cut: expect.stringMatching(/^This event had \d+ bytes of JSON; 65536 are kept at most/),
      excerpt: expect.stringMatching(/^{"fingerprint":"/),
    })
    const fits = { text: 'x'.repeat(64 * 1024 - 11) }
    expect(one(fits).payload).toBe(fits)
    expect(one({ text: `${fits.text}x` }).payload).toHaveProperty('cut')
  })

  it('is refused if it is nested too deeply', () => {
    const nested = (depth: number) => JSON.parse(`${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)}`)
    expect(problemOf(nested(50))).toBeNull()
    expect(problemOf(nested(51))).toMatch(/more than 100 levels/)
    expect(problemOf(JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`))).toMatch(/more than 100/)
    expect(problemOf(alertmanager([alert({ annotations: nested(100) })]))).toMatch(/more than 100/)
    expect(problemOf(undefined)).toBe('there is no payload')
  })

  it('changes no prototype, and takes nothing from one', () => {
    const payload = JSON.parse(
      '{"__proto__": {"fingerprint": "p", "status": "resolved", "title": "polluted"}}',
    )
    const event = one(payload)
    expect(event.title).toBe('event')
    expect(event.fingerprint).toBe(hash(JSON.stringify(payload)))
    expect(({} as { title?: string }).title).toBeUndefined()
    const other = one(JSON.parse('{"__proto__": 1, "status": "firing"}'))
    expect(other.fingerprint).toBe(hash('{"__proto__":1}'))
  })

  it('never throws; what it is read as has a limit and is the same each time', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.constantFrom('\ud800', '\u0000', '</event>', 'x'.repeat(70_000), '__proto__'),
    )
    const word = fc.constantFrom(
      ...['status', 'labels', 'annotations', 'alertname', 'instance', 'summary', 'title', 'message', 'name'],
      ...['fingerprint', 'id', 'dedupKey', '__proto__', 'constructor', 'toString', 'toJSON', 'length'],
    )
    const { node } = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        fc.oneof(hostile, fc.constantFrom('firing', 'resolved', null, true, 0, -0, 1e308)),
        fc.array(tie('node'), { maxLength: 4 }),
        fc
          .array(fc.tuple(fc.oneof(word, hostile), tie('node')), { maxLength: 6 })
          // As a parser makes it: `__proto__` is a key like any other.
          .map((entries) => Object.fromEntries(entries)),
      ),
    }))
    const payload = fc.oneof(
      node,
      fc.array(node, { maxLength: 4 }).map((alerts) => alertmanager(alerts)),
      fc.anything({ withBigInt: true, withNullPrototype: true, withDate: true, withMap: true }),
    )
    checkProperty(
      fc.property(payload, (given) => {
        const result = readEvents(given, T0, hash)
        if (!result.ok) return
        expect(result).toEqual(readEvents(given, T0, hash))
        const fingerprints = [...result.firing.map(({ fingerprint }) => fingerprint), ...result.resolved]
        expect(new Set(fingerprints).size).toBe(fingerprints.length)
        for (const text of fingerprints) expect(text).toMatch(/^.{1,200}$/u)
        for (const event of result.firing) {
          WatchEvent.parse(event)
          expect(event.title).toMatch(/^.{1,200}$/)
          expect(event.title.isWellFormed()).toBe(true)
        }
      }),
      200,
    )
  })

  it('is not changed by being read', () => {
    const frozen = Object.freeze({ title: 'a', labels: Object.freeze({ b: 1 }) })
    expect(one(frozen).payload).toBe(frozen)
  })
})
