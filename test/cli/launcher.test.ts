/** What package.json, the launcher and doctor say about Node must agree. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test('any Node from 20 on installs; what is missing to 24 is brought along', () => {
  const manifest = JSON.parse(read('package.json'))
  const needed = /^needed=(\d+)$/m.exec(read('bin/reprise'))?.[1]
  expect(manifest.engines).toEqual({ node: '>=20' })
  expect(manifest.optionalDependencies.node).toMatch(new RegExp(`^${needed}\\.`))
  expect(read('src/cli/doctor/machine.ts')).toContain(`const NODE_NEEDED = ${needed}\n`)
})

test('the lockfile names no registry', () => {
  expect(read('package-lock.json')).not.toContain('"resolved"')
})
