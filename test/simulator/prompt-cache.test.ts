import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countTokens, promptBlocks } from '../../src/simulator/prompt-blocks.ts'
import { PromptCache } from '../../src/simulator/prompt-cache.ts'

type Message = {
  role: 'user' | 'assistant' | 'system'
  content: string | { type: string; [key: string]: unknown }[]
}

const MINUTE = 60_000
const words = (count: number) => 'abcd'.repeat(count)
const text = (value: string, ttl?: '5m' | '1h') => ({
  type: 'text',
  text: value,
  ...(ttl && { cache_control: { type: 'ephemeral', ttl } }),
})

function use(
  cache: PromptCache,
  messages: Message[],
  { model = 'm', minTokens = 1, now = 0, system = '' } = {},
) {
  return cache.use(model, promptBlocks({ system, messages }), minTokens, now)
}

describe('token counts', () => {
  it('follow the text, about four characters each', () => {
    expect(countTokens(promptBlocks({ messages: [{ role: 'user', content: words(100) }] }))).toBe(100)
  })

  it('are the same for a string and a text block, with or without cache_control', () => {
    const count = (content: Message['content']) =>
      countTokens(promptBlocks({ messages: [{ role: 'user', content }] }))
    expect(count([text('hello there', '1h')])).toBe(count('hello there'))
  })

  it('count tools and system, but not the billing note of Claude Code', () => {
    const messages: Message[] = [{ role: 'user', content: 'hi' }]
    const plain = countTokens(promptBlocks({ messages }))
    const note = [text('x-anthropic-billing-header: cc_version=1;')]
    expect(countTokens(promptBlocks({ messages, system: note }))).toBe(plain)
    expect(countTokens(promptBlocks({ messages, system: words(10) }))).toBe(plain + 10)
    expect(countTokens(promptBlocks({ messages, tools: [{ name: 'Bash' }] }))).toBeGreaterThan(plain)
  })

  it('count an image with its usual size, not the length of its encoding', () => {
    const image = { type: 'image', source: { data: words(100_000) } }
    expect(countTokens(promptBlocks({ messages: [{ role: 'user', content: [image] }] }))).toBe(1500)
  })
})

describe('the prompt cache', () => {
  const first: Message[] = [{ role: 'user', content: [text(words(100), '5m')] }]
  const second: Message[] = [
    { role: 'user', content: words(100) },
    { role: 'assistant', content: words(10) },
    { role: 'user', content: [text(words(20), '5m')] },
  ]

  it('writes up to the last breakpoint, then reads it in the next turn', () => {
    const cache = new PromptCache()
    expect(use(cache, first)).toEqual({
      inputTokens: 0,
      cacheReadTokens: 0,
      cacheWrite5mTokens: 100,
      cacheWrite1hTokens: 0,
    })
    expect(use(cache, second)).toEqual({
      inputTokens: 0,
      cacheReadTokens: 100,
      cacheWrite5mTokens: 30,
      cacheWrite1hTokens: 0,
    })
    expect(use(cache, second)).toMatchObject({ cacheReadTokens: 130, cacheWrite5mTokens: 0 })
  })

  it('does nothing without a breakpoint', () => {
    const cache = new PromptCache()
    const plain: Message[] = [{ role: 'user', content: words(50) }]
    use(cache, plain)
    expect(use(cache, plain)).toMatchObject({ inputTokens: 50, cacheReadTokens: 0, cacheWrite5mTokens: 0 })
  })

  it('is per model', () => {
    const cache = new PromptCache()
    use(cache, first, { model: 'a' })
    expect(use(cache, first, { model: 'b' })).toMatchObject({ cacheReadTokens: 0, cacheWrite5mTokens: 100 })
  })

  it('misses when anything before changed, the system prompt included', () => {
    const cache = new PromptCache()
    use(cache, first, { system: 'one' })
    expect(use(cache, first, { system: 'two' }).cacheReadTokens).toBe(0)
  })

  it('does not write prefixes below the minimum', () => {
    const cache = new PromptCache()
    expect(use(cache, first, { minTokens: 101 })).toMatchObject({ inputTokens: 100, cacheWrite5mTokens: 0 })
    expect(use(cache, first, { minTokens: 101 }).cacheReadTokens).toBe(0)
  })

  it('forgets after the TTL since the last use', () => {
    const cache = new PromptCache()
    use(cache, first, { now: 0 })
    expect(use(cache, first, { now: 4 * MINUTE }).cacheReadTokens).toBe(100)
    expect(use(cache, first, { now: 8 * MINUTE }).cacheReadTokens).toBe(100)
    expect(use(cache, first, { now: 13 * MINUTE }).cacheReadTokens).toBe(0)
  })

  it('refreshes the shorter entries inside the one it uses', () => {
    const cache = new PromptCache()
    use(cache, first, { now: 0 })
    use(cache, second, { now: 4 * MINUTE })
    const branch: Message[] = [
      { role: 'user', content: words(100) },
      { role: 'user', content: [text('another way', '5m')] },
    ]
    expect(use(cache, branch, { now: 8 * MINUTE }).cacheReadTokens).toBe(100)
  })

  it('keeps one-hour entries for an hour, and accounts for them separately', () => {
    const cache = new PromptCache()
    const mixed: Message[] = [
      { role: 'user', content: [text(words(100), '1h'), text(words(10), '5m'), text(words(3))] },
    ]
    expect(use(cache, mixed)).toEqual({
      inputTokens: 3,
      cacheReadTokens: 0,
      cacheWrite5mTokens: 10,
      cacheWrite1hTokens: 100,
    })
    expect(use(cache, mixed, { now: 30 * MINUTE })).toMatchObject({
      cacheReadTokens: 100,
      cacheWrite5mTokens: 10,
    })
  })

  it('looks back 20 blocks from a breakpoint, not further', () => {
    const grown = (added: number): Message[] => [
      { role: 'user', content: words(100) },
      ...Array.from({ length: added - 1 }, (_, i): Message => ({ role: 'assistant', content: words(i + 1) })),
      { role: 'user', content: [text(words(5), '5m')] },
    ]
    const cache = new PromptCache()
    use(cache, first)
    expect(use(cache, grown(20)).cacheReadTokens).toBe(100)
    const other = new PromptCache()
    use(other, first)
    expect(use(other, grown(21)).cacheReadTokens).toBe(0)
  })
})

describe('for any conversation', () => {
  const block = fc.record({
    value: fc.string({ minLength: 1, maxLength: 60 }),
    mark: fc.option(fc.constantFrom('5m', '1h'), { nil: undefined }),
  })
  const conversation = fc.array(
    fc.record({
      role: fc.constantFrom('user', 'assistant'),
      blocks: fc.array(block, { minLength: 1, maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 8 },
  )
  const toMessages = (
    drawn: { role: string; blocks: { value: string; mark: '5m' | '1h' | undefined }[] }[],
  ) =>
    drawn.map(({ role, blocks }) => ({
      role,
      content: blocks.map((b) => text(b.value, b.mark)),
    })) as Message[]
  const sum = (usage: ReturnType<typeof use>) => Object.values(usage).reduce((total, part) => total + part, 0)

  it('the parts of the usage add up to the count, none is negative, and asking again reads what was written', () => {
    fc.assert(
      fc.property(conversation, fc.nat(20), (drawn, minTokens) => {
        const cache = new PromptCache()
        const messages = toMessages(drawn)
        const total = countTokens(promptBlocks({ messages }))
        const before = use(cache, messages, { minTokens })
        const after = use(cache, messages, { minTokens, now: MINUTE })
        expect(sum(before)).toBe(total)
        expect(sum(after)).toBe(total)
        expect(Math.min(...Object.values(before), ...Object.values(after))).toBeGreaterThanOrEqual(0)
        expect(after.cacheReadTokens).toBe(before.cacheWrite5mTokens + before.cacheWrite1hTokens)
        expect(after.cacheWrite5mTokens + after.cacheWrite1hTokens).toBe(0)
      }),
      { verbose: true },
    )
  })

  it('what is read is a prefix both have in common', () => {
    fc.assert(
      fc.property(conversation, conversation, (a, b) => {
        const cache = new PromptCache()
        use(cache, toMessages(a))
        const read = use(cache, toMessages(b)).cacheReadTokens
        const [left, right] = [a, b].map((drawn) => promptBlocks({ messages: toMessages(drawn) }))
        const differsAt = left!.findIndex((part, i) => part.identity !== right![i]?.identity)
        expect(read).toBeLessThanOrEqual(countTokens(differsAt < 0 ? left! : left!.slice(0, differsAt)))
      }),
      { verbose: true },
    )
  })

  it('the place of cache_control does not change the prompt', () => {
    fc.assert(
      fc.property(conversation, (drawn) => {
        const bare = drawn.map((m) => ({ ...m, blocks: m.blocks.map((b) => ({ ...b, mark: undefined })) }))
        const identities = (m: Message[]) => promptBlocks({ messages: m }).map((part) => part.identity)
        expect(identities(toMessages(drawn))).toEqual(identities(toMessages(bare)))
      }),
      { verbose: true },
    )
  })
})
