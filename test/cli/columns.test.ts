import { execFileSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import { widthOfChar } from '../../src/cli/terminal/columns.ts'

const LAST_CODE_POINT = 0x10ffff
/** All characters would take 20 seconds. A prime number hits every block at changing places. */
const STEP = 101

test('a single character is as wide as string-width says', () => {
  const different: string[] = []
  for (let code = 0; code <= LAST_CODE_POINT; code += code < 0x500 ? 1 : STEP) {
    const char = String.fromCodePoint(code)
    if (widthOfChar(char) !== stringWidth(char)) different.push(code.toString(16))
  }
  expect(different).toEqual([])
})

test('a command that follows a job starts without preparing to segment text, which takes long', () => {
  const command = pathToFileURL(`${import.meta.dirname}/../../src/cli/commands/run.ts`).href
  const load = `delete Intl.Segmenter; await import(${JSON.stringify(command)}); console.log('loaded')`
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', load], { encoding: 'utf8' })
  expect(said).toContain('loaded')
})
