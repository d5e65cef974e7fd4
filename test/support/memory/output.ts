/** Follows what an agent in memory prints, and its end. */
import type { Output } from '../../../src/engine/base/processes.ts'
import type { MemoryProcess } from './process.ts'

/** A wait ends with the next change, and after a moment of real time at the latest: limits of time are looked at then. */
const LOOK_MS = 20

export function followMemory(process: MemoryProcess, from: number): Output {
  let offset = from
  let wake = () => {}
  let hinted = false
  const hint = () => {
    hinted = true
    wake()
  }
  const unwatch = process.watch(hint)
  return {
    read: async () => {
      const bytes = Buffer.from(process.out.subarray(offset))
      offset += bytes.length
      return bytes.length > 0 ? bytes : null
    },
    seek: (to) => {
      offset = to
    },
    end: async () => {
      if (process.alive) return null
      return process.exitCode === null
        ? { kind: 'lost', starved: false }
        : { kind: 'exited', code: process.exitCode, starved: false }
    },
    wait: async (maxMs) => {
      if (!hinted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.min(maxMs, LOOK_MS))
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      hinted = false
    },
    nudge: hint,
    close: async () => {
      unwatch()
    },
  }
}
