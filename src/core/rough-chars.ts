/** Roughly how many characters a value has as JSON. The texts in it count, and a little for everything else. */
export function roughChars(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  return inner.reduce<number>((sum, one) => sum + roughChars(one) + 8, 0)
}
