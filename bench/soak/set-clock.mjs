/**
 * Loaded into the daemon of a mixed soak: its clock is ahead by the number of milliseconds in the file that
 * REPRISE_SOAK_CLOCK names.
 */
import { readFileSync } from 'node:fs'

const path = process.env.REPRISE_SOAK_CLOCK ?? ''
const Machine = Date
let known = 0

function aheadMs() {
  try {
    known = Number(readFileSync(path, 'utf8')) || 0
  } catch {
    // No descriptor is left, or the file is being written: the clock stays as it was.
  }
  return known
}

globalThis.Date = class extends Machine {
  constructor(...given) {
    if (given.length === 0) super(Machine.now() + aheadMs())
    else super(...given)
  }

  static now() {
    return Machine.now() + aheadMs()
  }
}
