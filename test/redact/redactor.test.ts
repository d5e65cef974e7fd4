/** Secrets go, everything else stays as it is. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Redactor } from '../../src/core/redact/redactor.ts'
import { checkProperty } from '../core/random.ts'
import { INNOCENT, PRIVATE_KEY, SECRETS } from './corpus.ts'

const builtIn = new Redactor({ builtIn: true, patterns: [], values: [] })
const knowing = (...values: string[]) => new Redactor({ builtIn: false, patterns: [], values })
const matching = (...patterns: string[]) => new Redactor({ builtIn: false, patterns, values: [] })

describe('what has the form of a secret', () => {
  it.each(SECRETS)('goes, and what is around it stays: %s %#', (_, text, secret) => {
    const at = text.indexOf(secret)
    const redacted = builtIn.text(text)
    expect(redacted).toMatch(/\[redacted: [a-z-]+\]/)
    const [before, after] = [text.slice(0, at), text.slice(at + secret.length)]
    expect(redacted.startsWith(before) && redacted.endsWith(after), redacted).toBe(true)
    const left = redacted.slice(before.length, redacted.length - after.length)
    expect(left).toMatch(/^\[redacted: [a-z-]+\]$/)
  })

  it.each(SECRETS)('goes from JSON, also from JSON in JSON: %s %#', (_, text, secret) => {
    for (const said of [{ text }, { text: JSON.stringify({ text }) }, [['x', `\n${text}\t`]]]) {
      const json = builtIn.json(JSON.stringify(said))
      expect(JSON.parse(json)).not.toEqual(said)
      for (const line of secret.split(/\n|\\n/)) {
        if (line.length > 20) expect(json).not.toContain(line.slice(3, -3))
      }
    }
  })

  it('goes from fields that are named like one', () => {
    const said = {
      password: 'S0me"thing',
      n: { apiKey: 'a1b2"c3d4e5f6g7', tokens: 'a1b2c3d4e5f6g7h8' },
      token: 123456789012,
    }
    expect(JSON.parse(builtIn.json(JSON.stringify(said)))).toEqual({
      password: '[redacted: secret]',
      n: { apiKey: '[redacted: secret]', tokens: 'a1b2c3d4e5f6g7h8' },
      token: 123456789012,
    })
  })

  it('goes whole where there are several', () => {
    const text = SECRETS.map(([, t]) => t).join('\n')
    const redacted = builtIn.text(text)
    for (const [, , secret] of SECRETS) expect(redacted).not.toContain(secret)
    expect(builtIn.text(redacted)).toBe(redacted)
  })

  it('goes also where its end is missing', () => {
    expect(builtIn.text(PRIVATE_KEY.slice(0, 150))).toBe('[redacted: private-key]')
  })

  it('stays if nobody looks for it', () => {
    const idle = new Redactor({ builtIn: false, patterns: [], values: [] })
    expect(idle.active).toBe(false)
    for (const [, text] of SECRETS) {
      expect(idle.text(text)).toBe(text)
      expect(idle.json(JSON.stringify({ text }))).toBe(JSON.stringify({ text }))
    }
  })
})

describe('what is no secret', () => {
  it.each(INNOCENT)('stays: %s', (text) => {
    expect(builtIn.text(text)).toBe(text)
    const json = JSON.stringify({ type: 'text-end', text, list: [text, 1e21, null] })
    expect(builtIn.json(json)).toBe(json)
  })
})

describe('a given value', () => {
  const value = 'sé"cr\\et\n/x'

  it('goes wherever it stands', () => {
    expect(knowing('hunter2', 'swordfish').text('hunter2swordfish, hunter2')).toBe(
      '[redacted][redacted], [redacted]',
    )
    expect(knowing(value).text(`a ${value} b`)).toBe('a [redacted] b')
  })

  it.each([
    ['as it is written usually', JSON.stringify({ v: value })],
    [
      'with every character escaped',
      `{"v":"${[...value].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"}`,
    ],
    ['with slashes escaped', JSON.stringify({ v: value }).replace('/', '\\/')],
    ['in JSON in JSON', JSON.stringify({ v: JSON.stringify(JSON.stringify(value)) })],
  ])('goes from JSON %s', (_, json) => {
    const said = JSON.parse(knowing(value).json(json)) as { v: string }
    expect(said.v.replaceAll(/["\\]/g, '')).toBe('[redacted]')
  })

  it('may be the longer one of two that begin alike', () => {
    expect(knowing('abcdef', 'abcdefgh').text('abcdefgh')).toBe('[redacted]')
  })
})

describe('a given pattern', () => {
  it('is looked for in what a JSON text says', () => {
    expect(matching('^ACME-\\d+$', 'x"y').json('{"a":"ACME-12","b":"no ACME-12","c":"x\\"y"}')).toBe(
      '{"a":"[redacted]","b":"no ACME-12","c":"[redacted]"}',
    )
  })

  it('does not match what was redacted', () => {
    const redactor = matching('[a-z]{4,}')
    expect(redactor.text(redactor.text('abcde 12'))).toBe('[redacted] 12')
  })
})

describe('JSON', () => {
  const secrets = fc.constantFrom(...SECRETS.map(([, text]) => text), 'hunter2', 'sé"cr\\et\n')
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    secrets,
    fc.tuple(fc.string(), secrets).map((parts) => parts.join(' ')),
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      texts,
      fc.double(),
      fc.constant(null),
      fc.array(tie('value')),
      fc.dictionary(texts, tie('value')),
    ),
  }))
  const redactor = new Redactor({
    builtIn: true,
    patterns: ['ACME-\\d+'],
    values: ['hunter2', 'sé"cr\\et\n'],
  })

  it('stays JSON of the same shape, and redacting it again changes nothing', () => {
    checkProperty(
      fc.property(value, fc.nat({ max: 2 }), (said, indent) => {
        const json = JSON.stringify(said, null, indent)
        const redacted = redactor.json(json)
        expect(shapeOf(JSON.parse(redacted), redactor)).toEqual(shapeOf(JSON.parse(json), redactor))
        expect(redactor.json(redacted)).toBe(redacted)
        expect(redacted).not.toContain('hunter2')
      }),
      1000,
    )
  })

  it('leaves alone the fields it is told to, at the top only', () => {
    const json = '{"id":"hunter2","in":{"id":"hunter2"}}'
    expect(redactor.json(json, new Set(['id']))).toBe('{"id":"hunter2","in":{"id":"[redacted]"}}')
  })
})

/** All but what the strings say; names as they are after redaction, because two may become one. */
function shapeOf(value: unknown, redactor: Redactor): unknown {
  if (typeof value === 'string') return ''
  if (Array.isArray(value)) return value.map((inner) => shapeOf(inner, redactor))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [redactor.text(name), shapeOf(inner, redactor)]),
  )
}

describe('any text', () => {
  const words = fc.constantFrom(
    ...[
      'token',
      'password',
      '=',
      ':',
      '"',
      "'",
      '\\',
      '\n',
      ' ',
      '://',
      '@',
      'eyJ',
      '.',
      '-',
      '_',
      'sk-',
      'Bearer ',
      'Basic ',
    ],
    ...[
      '-----BEGIN ',
      'PRIVATE KEY-----',
      'ghp_',
      'a1b2c3d4',
      'Authorization',
      '[redacted]',
      'api_key',
      '--',
      '[',
      ']',
      '→',
    ],
    ...SECRETS.map(([, , secret]) => secret),
  )

  it('may hold a great many', () => {
    const [, , secret] = SECRETS[0]!
    const text = `[redacted] ${secret}, `.repeat(200_000)
    expect(builtIn.text(text)).toBe('[redacted] [redacted: github-token], '.repeat(200_000))
  })

  it('redacted twice is as redacted once', () => {
    const redactor = new Redactor({ builtIn: true, patterns: [], values: ['hunter2', 'redacted', 'a1b2c3'] })
    checkProperty(
      fc.property(fc.array(words, { maxLength: 30 }), (parts) => {
        const once = redactor.text(parts.join(''))
        expect(redactor.text(once)).toBe(once)
      }),
      3000,
    )
  })

  it.each(
    [
      'token=',
      'token:',
      'password="',
      'eyJ',
      '-eyJa',
      'eyJaaaaaaaa.',
      '://a:',
      '://',
      '-----BEGIN PRIVATE KEY-----',
      '-----BEGIN ',
    ]
      .concat([
        'sk-',
        '-sk-a',
        'ghp_',
        'Bearer ',
        'Basic ',
        'Authorization: ',
        '\\',
        '\\"',
        'a',
        'A',
        '=',
        ' ',
        '--token ',
        'AKIA',
      ])
      .concat([
        '-----BEGIN PRIVATE KEY-----\\n',
        'MII'.repeat(8),
        'password=password',
        'xoxb-',
        '{"token":"',
        '[redacted',
      ]),
  )('of a megabyte is gone through, whatever it repeats: %j', (part) => {
    const text = part.repeat(Math.ceil(1_000_000 / part.length))
    expect(builtIn.text(builtIn.text(text))).toBe(builtIn.text(text))
    expect(JSON.parse(builtIn.json(JSON.stringify({ text })))).toHaveProperty('text')
  })

  it('of a megabyte that looks like the headers of a private key is gone through', () => {
    for (const part of ['password: ', 'authorization: a ', 'a: b\\r']) {
      const text = `-----BEGIN RSA PRIVATE KEY-----\n${part.repeat(1_000_000 / part.length)}`
      expect(builtIn.text(text)).toContain(part)
    }
  })
})
