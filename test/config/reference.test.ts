import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { referencePage } from '../../scripts/configuration-reference.ts'
import { configSchema } from '../../src/config/schema.ts'

test('docs/configuration.md describes the settings as they are; `npm run docs` updates it', () => {
  const { expected, actual } = referencePage()
  expect(actual).toBe(expected)
  expect(actual).toContain('| `server.port` | a whole number from 0 to 65535 | `7717` |')
  expect(actual).toContain('`REPRISE_PORT`')
})

test('its example is valid', () => {
  const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(referencePage().actual) ?? []
  expect(configSchema.safeParse(parse(example)).error).toBeUndefined()
})
