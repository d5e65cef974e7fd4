/**
 * The prompt cache of the Messages API, emulated: which part of a prompt is read from the cache, which is written to
 * it, which is plain input.
 *
 * - An entry is a prefix of the prompt, ending at a block that carried `cache_control`. Entries are per model.
 * - A request looks for entries at each of its own breakpoints and up to 20 blocks before each; the longest wins.
 * - What lies between that entry and the request's last breakpoint is written; what follows the last breakpoint is
 *   plain input. Prefixes below the minimum size are never written.
 * - An entry lives 5 minutes or 1 hour, counted from its last use; using it also refreshes the shorter ones inside it.
 */
import { createHash } from 'node:crypto'
import type { PromptBlock } from './prompt-blocks.ts'

export interface CacheUsage {
  inputTokens: number
  cacheReadTokens: number
  cacheWrite5mTokens: number
  cacheWrite1hTokens: number
}

const TTL_MS = { '5m': 5 * 60_000, '1h': 60 * 60_000 } as const
const LOOK_BACK_BLOCKS = 20

interface Entry {
  ttlMs: number
  expiresAt: number
}

/** A point in the prompt: after block `index`, with the hash and size of everything up to it. */
interface Prefix {
  hash: string
  tokens: number
  breakpoint: '5m' | '1h' | undefined
}

export class PromptCache {
  readonly #entries = new Map<string, Entry>()

  /** Accounts for one answered request and updates the cache. */
  use(model: string, blocks: readonly PromptBlock[], minTokens: number, now: number): CacheUsage {
    this.#forgetExpired(now)
    const prefixes = prefixesOf(model, blocks)
    const hit = this.#longestHit(prefixes)
    const readTokens = prefixes[hit]?.tokens ?? 0
    for (const { hash } of prefixes.slice(0, hit + 1)) {
      const entry = this.#entries.get(hash)
      if (entry) entry.expiresAt = now + entry.ttlMs
    }

    const usage = {
      inputTokens: prefixes.at(-1)?.tokens ?? 0,
      cacheReadTokens: readTokens,
      cacheWrite5mTokens: 0,
      cacheWrite1hTokens: 0,
    }
    let paidTokens = readTokens
    for (const { hash, tokens, breakpoint } of prefixes) {
      if (!breakpoint || tokens < minTokens || tokens === 0) continue
      const ttlMs = Math.max(TTL_MS[breakpoint], this.#entries.get(hash)?.ttlMs ?? 0)
      this.#entries.set(hash, { ttlMs, expiresAt: now + ttlMs })
      const written = Math.max(0, tokens - paidTokens)
      paidTokens += written
      if (breakpoint === '1h') usage.cacheWrite1hTokens += written
      else usage.cacheWrite5mTokens += written
    }
    usage.inputTokens -= paidTokens
    return usage
  }

  clear(): void {
    this.#entries.clear()
  }

  get size(): number {
    return this.#entries.size
  }

  /** The index of the longest prefix found, or -1. */
  #longestHit(prefixes: readonly Prefix[]): number {
    let inReach = 0
    for (let index = prefixes.length - 1; index >= 0; index--) {
      const prefix = prefixes[index]
      if (!prefix) continue
      if (prefix.breakpoint) inReach = LOOK_BACK_BLOCKS + 1
      if (inReach-- > 0 && this.#entries.has(prefix.hash)) return index
    }
    return -1
  }

  #forgetExpired(now: number): void {
    for (const [hash, entry] of this.#entries) if (entry.expiresAt <= now) this.#entries.delete(hash)
  }
}

function prefixesOf(model: string, blocks: readonly PromptBlock[]): Prefix[] {
  let hash = hashOf(model)
  let tokens = 0
  return blocks.map((part) => {
    hash = hashOf(hash, part.identity)
    tokens += part.tokens
    return { hash, tokens, breakpoint: part.breakpoint }
  })
}

function hashOf(...parts: string[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\0')
  return hash.digest('hex')
}
