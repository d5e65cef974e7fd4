/** JSON with sorted keys: equal values have equal texts, whatever the order of their keys. */

/** Far more than real payloads have, and far below the depth at which the recursion would overflow the stack. */
export const MAX_LEVELS = 100

/** null: the value is nested too deeply. Values that JSON does not support become `null`. */
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
