/** Redacting takes time in proportion to the length of the text, whatever the text is. */
import { expect, it } from 'vitest'
import { DeltaStream } from '../../src/core/redact/delta-stream.ts'
import { Redactor } from '../../src/core/redact/redactor.ts'
import { SECRETS } from './corpus.ts'

const redactor = new Redactor({ builtIn: true, patterns: [], values: [] })

const HOSTILE: readonly (readonly [name: string, unit: string])[] = [
  ['curl', 'curl '],
  ['curl with arguments', 'curl -u -u '],
  ['mysql', 'mysql -x '],
  ['netrc', 'machine a login '],
  ['netrc with spaces', 'machine          '],
  ['cookies', 'Cookie: a'],
  ['cookie pairs', 'a=b; '],
  ['backslashes', 'Cookie\\\\\\\\: '],
  ['keys', 'client-key-data : '],
  ['webhooks', 'hooks.slack.com/services/'],
  ['characters without width', '\u200b'],
  ['a split word', 'a\u200b1'],
  ['secrets', SECRETS.map(([, text]) => text).join('\n')],
]

/** Processor time, because other programs may be busy. */
function cpuMs(work: () => void): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1000)
  }
  return best
}

const SHORT = 10_000
const FACTOR = 8

it.each(HOSTILE)('%s', (_name, unit) => {
  const short = unit.repeat(Math.ceil(SHORT / unit.length))
  const long = short.repeat(FACTOR)
  const whole = (text: string) => () => redactor.json(JSON.stringify({ text }))
  const inPieces = (text: string) => () => {
    const stream = new DeltaStream(redactor)
    for (let at = 0; at < text.length; at += 20) stream.push(text.slice(at, at + 20))
    stream.flush()
  }
  for (const how of [whole, inPieces]) {
    how(short)()
    // In proportion it would be 8 times as long; with the square of the length, 64 times.
    expect(cpuMs(how(long))).toBeLessThan(FACTOR * 3 * cpuMs(how(short)) + 20)
  }
})
