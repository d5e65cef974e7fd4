/** JSON with the keys of its objects sorted: equal values have equal texts, in whatever order they were sent. */

/** Far more than anybody writes, and far less than what ends a recursion by its depth. */
export const MAX_LEVELS = 100

/** null: nested deeper than that. What JSON has no word for is null in it, too. */
export function canonicalJson(value: unknown, levels = MAX_LEVELS): string | null {
  if (typeof value !== 'object' || value === null) return scalar(value)
  if (levels === 0) return null
  const isArray = Array.isArray(value)
  const keys = isArray ? value.keys() : Object.keys(value).sort()
  const parts: string[] = []
  for (const key of keys) {
    const text = canonicalJson((value as Record<string | number, unknown>)[key], levels - 1)
    if (text === null) return null
    parts.push(isArray ? text : `${JSON.stringify(key)}:${text}`)
  }
  return isArray ? `[${parts.join()}]` : `{${parts.join()}}`
}

function scalar(value: unknown): string {
  const known = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return known ? JSON.stringify(value) : 'null'
}
