/** What is taken out of everything that is stored or shown of what agents do. */
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
  'What matches is a secret.',
)

function problemOf(source: string): string | null {
  try {
    return new RegExp(source).test('') ? 'would match everywhere, because it matches the empty text' : null
  } catch (error) {
    return `cannot be understood: ${(error as Error).message.replace(/^.*: /, '')}`
  }
}

export const redact = z.strictObject({
  values: setting(
    z.array(
      setting(
        z.string().min(MIN_VALUE_CHARS),
        `a text of at least ${MIN_VALUE_CHARS} characters (a shorter one is found everywhere), or env: and the name of a variable`,
        'A secret, or env:NAME: the one in that variable of the daemon.',
      ),
    ),
    'a list of texts',
    'Secrets that are known.',
  ).prefault([]),
  patterns: setting(z.array(pattern), 'a list of regular expressions', 'What secrets look like.').prefault(
    [],
  ),
  builtIn: setting(
    z.boolean(),
    'true or false',
    'Look for what has the form of a secret: tokens of known vendors, private keys, passwords that are assigned.',
  ).prefault(true),
})
