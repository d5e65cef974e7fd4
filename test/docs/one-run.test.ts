/** Every file and every name on docs/one-run.md exists. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/one-run.md'), 'utf8')
const named = [...page.matchAll(/^\| `(src\/[^`]+)`(?: `([^`]+)`)? \|/gm)].map(([, file, name]) => ({
  file: file ?? '',
  name,
}))

it('names many files', () => {
  expect(named.length).toBeGreaterThan(30)
})

it.each(named)('$file $name', ({ file, name }) => {
  const source = readFileSync(join(ROOT, file), 'utf8')
  if (name !== undefined) {
    expect(source).toMatch(
      new RegExp(`^export (async )?(function\\*?|const|class|interface|type) ${name}\\b`, 'm'),
    )
  }
})
