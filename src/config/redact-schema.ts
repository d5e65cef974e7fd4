/** Settings of redaction: secrets that are removed from everything that is stored or shown. */
import { z } from 'zod'
import { MIN_VALUE_CHARS } from '../core/redact/redactor.ts'
import { setting } from './setting.ts'

const pattern = setting(
  z.string().superRefine((source, context) => {
    const problem = problemOf(source)
    if (problem === null) return
    const says = `the pattern ${JSON.stringify(source)} ${problem}`
    context.addIssue({ code: 'custom', message: says, params: { says } })
  }),
  'a regular expression',
  'A regular expression that matches a secret.',
)

function problemOf(source: string): string | null {
  try {
    return new RegExp(source).test('') ? 'matches the empty text, so it would match everywhere' : null
  } catch (error) {
    return `is not a valid regular expression: ${(error as Error).message.replace(/^.*: /, '')}`
  }
}

export const redact = z.strictObject({
  values: setting(
    z.array(
      setting(
        z.string().min(MIN_VALUE_CHARS),
        `a text of at least ${MIN_VALUE_CHARS} characters (a shorter one occurs everywhere), or env: followed by the name of a variable`,
        'A secret, or env:NAME for the value of that environment variable of the daemon.',
      ),
    ),
    'a list of texts',
    'Known secrets.',
  ).prefault([]),
  patterns: setting(z.array(pattern), 'a list of regular expressions', 'Patterns of secrets.').prefault([]),
  builtIn: setting(
    z.boolean(),
    'true or false',
    'Whether to redact what looks like a secret: tokens of known vendors, private keys, assigned passwords.',
  ).prefault(true),
})
