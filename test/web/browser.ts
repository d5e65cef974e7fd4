/**
 * The browser of the tests: a Chromium that comes from npm, so that no other installation is needed. Where it does not
 * start, `findBrowser` says why, and the tests that need it are skipped.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const CACHE = resolve(import.meta.dirname, '../../node_modules/.cache/chromium')

/** Ends only what would never end: the machine may be busy. */
export const PATIENCE_MS = 90_000

export type Found = { browser: Browser } | { problem: string }

export async function findBrowser(): Promise<Found> {
  try {
    // It is unpacked once, into the folder for temporary files; ours survives and is not shared with other users.
    mkdirSync(CACHE, { recursive: true })
    const executablePath = await unpack()
    const args = ['--no-sandbox', '--disable-dev-shm-usage', '--font-render-hinting=none', '--disable-gpu']
    return { browser: await chromium.launch({ executablePath, args, timeout: PATIENCE_MS }) }
  } catch (error) {
    return { problem: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) }
  }
}

/** Workers do this at the same time: each unpacks into a folder of its own, and the first complete one is used by all. */
async function unpack(): Promise<string> {
  const ready = join(CACHE, 'ready')
  const executable = join(ready, 'chromium')
  if (existsSync(executable)) return executable
  const own = mkdtempSync(join(CACHE, 'unpacking-'))
  const before = process.env.TMPDIR
  process.env.TMPDIR = own
  try {
    const { default: packed } = await import('@sparticuz/chromium')
    await packed.executablePath()
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
  try {
    renameSync(own, ready)
  } catch {
    rmSync(own, { recursive: true, force: true })
  }
  return executable
}
