/** Numbers as people type them, with a comma or a point. */

/** undefined: nothing was typed. */
export function typedNumber(name: string, typed: string): number | undefined {
  if (typed.trim() === '') return undefined
  const value = Number(typed.trim().replace(',', '.'))
  if (!Number.isFinite(value)) throw new Error(`${name}: ${typed} is not a number`)
  return value
}

/** A limit that must not be left out: nothing typed, or nothing allowed, is an error. */
export function typedLimit(name: string, typed: string): number {
  const value = typedNumber(name, typed)
  if (value === undefined || value <= 0) throw new Error(`${name}: expected a number above 0`)
  return value
}
