/** The licenses of the packages that are part of a bundle, which must be distributed with it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export function collectLicenses(root: string, modules: readonly string[]): string {
  const names = modules.flatMap((id) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? [])
  return [...new Set(names)]
    .sort()
    .map((name) => describe(join(root, 'node_modules', name), name))
    .join('\n')
}

function describe(dir: string, name: string): string {
  const { version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as {
    version: string
    license?: string
  }
  const file = readdirSync(dir).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file === undefined ? `License: ${license}\n` : readFileSync(join(dir, file), 'utf8')
  return `${name} ${version}\n\n${text.trim()}\n\n---\n`
}
