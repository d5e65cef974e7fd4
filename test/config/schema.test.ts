import { expect, test } from 'vitest'
import { configJsonSchema } from '../../src/config/schema.ts'

test('the JSON Schema describes what a file may contain, with defaults as they are written', () => {
  const schema = configJsonSchema()
  expect(schema).toMatchObject({
    title: 'Reprise configuration',
    additionalProperties: false,
    properties: {
      server: {
        additionalProperties: false,
        properties: { port: { type: 'integer', default: 7717, maximum: 65_535 } },
      },
      run: {
        properties: {
          maxDuration: { default: '30m', type: 'string' },
          permissions: { enum: ['ask-all', 'ask', 'edits', 'allow'], default: 'edits' },
        },
      },
      redact: {
        additionalProperties: false,
        properties: {
          values: { default: [], items: { type: 'string', minLength: 6 } },
          patterns: { default: [], items: { type: 'string' } },
          builtIn: { default: true, type: 'boolean' },
        },
      },
      agents: { additionalProperties: { properties: { command: { type: 'string' } } } },
      notify: {
        additionalProperties: {
          additionalProperties: false,
          properties: {
            on: { items: { enum: ['done', 'failed', 'attention'] } },
            webhook: { type: 'string', format: 'uri' },
            command: { type: 'string' },
          },
        },
      },
      watches: {
        propertyNames: { pattern: '^[a-z0-9][a-z0-9._-]{0,62}$' },
        additionalProperties: {
          additionalProperties: false,
          properties: {
            every: { type: 'string' },
            workDir: { type: 'string', default: '.' },
            memory: { enum: ['fresh', 'persistent'] },
            paused: { default: false },
          },
        },
      },
      followUps: { properties: { hold: { default: '2m' }, maxPending: { default: 20 } } },
    },
  })
  expect(schema).not.toHaveProperty('required')
  expect(JSON.parse(JSON.stringify(schema))).toEqual(schema)
})
