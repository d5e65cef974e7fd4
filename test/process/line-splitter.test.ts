/** Splitting bytes into lines: what is read, and from where reading can continue. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineSplitter, type Piece } from '../../src/process/line-splitter.ts'
import { checkProperty } from '../core/random.ts'

function piecesOf(bytes: Buffer, maxLine: number, offset = 0, cuts: readonly number[] = []): Piece[] {
  const splitter = new LineSplitter(maxLine, offset)
  const edges = [0, ...[...cuts].sort((a, b) => a - b), bytes.length]
  const pieces = edges.slice(1).flatMap((to, i) => splitter.push(bytes.subarray(edges[i], to)))
  return [...pieces, ...splitter.flush()]
}

const split = (text: string, maxLine = 1000) => piecesOf(Buffer.from(text), maxLine)
const line = (text: string, end: number, from = end - Buffer.byteLength(text) - 1): Piece => ({
  kind: 'line',
  text,
  from,
  end,
})

describe('lines', () => {
  it('end at a newline, and `end` is where the next one begins', () => {
    expect(split('one\ntwö\n')).toEqual([line('one', 4), line('twö', 9)])
  })

  it('also without one, when no more will come', () => {
    const splitter = new LineSplitter(100)
    expect(splitter.push(Buffer.from('one\ntw'))).toEqual([line('one', 4)])
    expect(splitter.push(Buffer.from('o'))).toEqual([])
    expect(splitter.position).toBe(4)
    expect(splitter.flush()).toEqual([line('two', 7, 4)])
    expect(splitter.position).toBe(7)
    expect(splitter.flush()).toEqual([])
  })

  it('are not split at U+2028, U+2029, U+0085, a lone return, a form feed or NUL', () => {
    const text = 'a\u2028b\u2029c\u0085d\re\ff\vg\u0000h'
    expect(split(`${text}\n`)).toEqual([line(text, Buffer.byteLength(text) + 1)])
  })

  it('may end in return and newline, and empty ones are skipped', () => {
    expect(split('one\r\n\n\r\ntwo\n')).toEqual([line('one', 5, 0), line('two', 12)])
  })

  it('may contain bytes that are not text: their neighbours are not affected', () => {
    const bytes = Buffer.concat([Buffer.from('a\n'), Buffer.from([0xff, 0xc3, 0x0a]), Buffer.from('b\n')])
    expect(piecesOf(bytes, 100)).toMatchObject([line('a', 2), { kind: 'line', end: 5 }, line('b', 7)])
  })

  it('count from where reading continued', () => {
    expect(piecesOf(Buffer.from('x\ny'), 100, 1000)).toEqual([line('x', 1002), line('y', 1003, 1002)])
  })
})

describe('a line that is too long', () => {
  it('is a gap with its position, and the lines around it are complete', () => {
    expect(split('a\n12345678901\nb\n', 10)).toEqual([
      line('a', 2),
      { kind: 'gap', from: 2, end: 14 },
      line('b', 16),
    ])
  })

  it('is one of more bytes, not characters, than the limit', () => {
    expect(split('1234567890\n', 10)).toEqual([line('1234567890', 11)])
    expect(split('ööööö\n', 10)).toMatchObject([{ kind: 'line' }])
    expect(split('ööööö1\n', 10)).toEqual([{ kind: 'gap', from: 0, end: 12 }])
  })

  it('is a gap also when it never ends', () => {
    expect(split('a\n12345678901', 10)).toEqual([line('a', 2), { kind: 'gap', from: 2, end: 13 }])
  })

  it('is a gap also when it comes byte by byte, reported at its end', () => {
    const splitter = new LineSplitter(10)
    for (let i = 0; i < 50; i++) expect(splitter.push(Buffer.from('x'))).toEqual([])
    expect(splitter.push(Buffer.from('\nok\n'))).toEqual([{ kind: 'gap', from: 0, end: 51 }, line('ok', 54)])
  })
})

describe('any bytes', () => {
  const byte = fc.oneof(
    { arbitrary: fc.constantFrom(0x0a, 0x0d, 0x78), weight: 3 },
    { arbitrary: fc.integer({ min: 0, max: 255 }), weight: 2 },
  )
  const bytes = fc
    .array(
      fc.oneof(
        byte.map((b) => [b]),
        fc.constant([...Buffer.from('\u2028é😀')]),
      ),
      { maxLength: 120 },
    )
    .map((parts) => Buffer.from(parts.flat()))
  const cuts = fc.array(fc.nat({ max: 600 }), { maxLength: 12 })
  const limit = fc.integer({ min: 1, max: 20 })

  it('in any chunks give the same pieces', () => {
    checkProperty(
      fc.property(bytes, cuts, limit, (data, at, max) => {
        const inside = at.map((cut) => cut % (data.length + 1))
        expect(piecesOf(data, max, 0, inside)).toEqual(piecesOf(data, max))
      }),
      2000,
    )
  })

  it('are all accounted for: pieces are exactly their bytes, and only newlines are between them', () => {
    checkProperty(
      fc.property(bytes, limit, (data, max) => {
        let at = 0
        for (const piece of piecesOf(data, max)) {
          while (isBlankLine(data, at)) at = data.indexOf(0x0a, at) + 1
          const raw = data.subarray(at, piece.end)
          const content = raw.at(-1) === 0x0a ? raw.subarray(0, -1) : raw
          expect(content.includes(0x0a)).toBe(false)
          expect(content.length > max).toBe(piece.kind === 'gap')
          if (piece.kind === 'gap') expect(piece.from).toBe(at)
          else expect(piece.text).toBe(content.toString('utf8').replace(/\r$/, ''))
          at = piece.end
        }
        while (isBlankLine(data, at)) at = data.indexOf(0x0a, at) + 1
        expect(at).toBe(data.length)
      }),
      2000,
    )
  })

  it('can be read from the end of any piece', () => {
    checkProperty(
      fc.property(bytes, limit, (data, max) => {
        const whole = piecesOf(data, max)
        for (const [i, { end }] of whole.entries()) {
          expect(piecesOf(data.subarray(end), max, end)).toEqual(whole.slice(i + 1))
        }
      }),
      500,
    )
  })

  const isBlankLine = (data: Buffer, at: number) =>
    data[at] === 0x0a || (data[at] === 0x0d && data[at + 1] === 0x0a)
})
