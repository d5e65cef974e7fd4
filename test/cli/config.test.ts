import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { configJsonSchema } from '../../src/config/schema.ts'
import { type CliDouble, createCliDouble } from './cli-double.ts'

let cli: CliDouble

beforeAll(async () => {
  cli = await createCliDouble({ up: false })
})
afterAll(() => cli.close())

const config = (...args: string[]) => cli.run(['config', ...args])

function writeSettings(text: string): void {
  mkdirSync(cli.home, { recursive: true, mode: 0o700 })
  writeFileSync(join(cli.home, 'config.yaml'), text)
}

test('shows all settings with units, as a file would set them, without secrets', async () => {
  writeSettings(
    'run: { maxDuration: 90m, maxLine: 3MiB }\nagents: { claude: { env: { KEY: hunter2 } } }\n' +
      'watches: { web: { every: 45s, prompt: Look., hookSecret: hunter2-hunter2-hunter2 } }\n',
  )
  const { code, stdout, stderr } = await config()
  expect([code, stderr]).toEqual([0, `From ${join(cli.home, 'config.yaml')}, and defaults.\n`])
  expect(parse(stdout)).toMatchObject({
    server: { port: 7717 },
    run: { maxDuration: '90m', maxLine: '3MiB', hangAfterResult: '10s' },
    agents: { claude: { env: { KEY: '(hidden)' } } },
    watches: { web: { every: '45s', hookSecret: '(hidden)' } },
  })
  expect(stdout).not.toContain('hunter2')
  expect((await config('show', '--json')).json()).toMatchObject({ settings: { resume: { maxAge: '7d' } } })
})

test('validate lists every problem with its place, and exits with 1', async () => {
  writeSettings('server: { port: 1 }\n')
  expect((await config('validate')).stdout).toMatch(/^The configuration is valid \(.*config\.yaml\)\.\n$/)
  writeSettings('server: { prot: 1 }\nrun: { maxDuration: soon }\n')
  const { code, stderr } = await config('validate')
  expect(code).toBe(1)
  expect(stderr).toContain('config.yaml:1:11 server.prot: unknown key; did you mean server.port?')
  expect(stderr).toContain('config.yaml:2:8 run.maxDuration: expected a duration')
})

test('schema prints the JSON Schema', async () => {
  expect((await config('schema')).json()).toEqual(configJsonSchema())
  expect((await config('shcema')).stderr).toContain('Did you mean config schema?')
})
