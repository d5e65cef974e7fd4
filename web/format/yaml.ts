/** Settings as YAML, for reading. */
export function toYaml(value: unknown, indent = ''): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return value.map((item) => `\n${indent}- ${toYaml(item, `${indent}  `).trimStart()}`).join('')
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
    if (entries.length === 0) return '{}'
    const text = entries
      .map(([key, inner]) => {
        const isNested = typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0
        return `${indent}${key}:${isNested ? (Array.isArray(inner) ? toYaml(inner, `${indent}  `) : `\n${toYaml(inner, `${indent}  `)}`) : ` ${toYaml(inner)}`}`
      })
      .join('\n')
    return text
  }
  if (typeof value === 'string')
    return /^[\w./@~-](?:[\w ./@~-]|:(?! ))*$/.test(value) ? value : JSON.stringify(value)
  return String(value)
}
