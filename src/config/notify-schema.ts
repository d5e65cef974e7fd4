/** Whom to tell, by name: a webhook or a command each. */
import { z } from 'zod'
import { NOTIFY_EVENTS } from '../contract/notification.ts'
import { setting, text } from './setting.ts'

/** Set by Reprise, or by what sends the request. */
const OWN_HEADERS =
  /^(content-type|content-length|transfer-encoding|connection|keep-alive|upgrade|expect|host|user-agent|x-reprise-.*)$/i

const headers = setting(
  z.record(
    z
      .string()
      .regex(/^[\w!#$%&'*+.^`|~-]+$/)
      .refine((name) => !OWN_HEADERS.test(name)),
    setting(
      z
        .union([z.string(), z.number(), z.boolean()])
        .transform(String)
        .pipe(z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/)),
      'a text on one line, without characters that a header cannot have',
      'Value of the header.',
    ),
  ),
  'names of headers with their values; those that Reprise sets itself (content-type, user-agent, x-reprise-…) cannot be set',
  'Headers to add to the request.',
)

const target = z
  .strictObject({
    on: setting(
      z
        .array(
          setting(z.enum(NOTIFY_EVENTS), `one of ${NOTIFY_EVENTS.join(', ')}`, 'Something that happened.'),
        )
        .min(1),
      `a list of at least one of ${NOTIFY_EVENTS.join(', ')}`,
      'What to tell.',
    ).prefault([...NOTIFY_EVENTS]),
    webhook: setting(
      z.url({ protocol: /^https?$/ }),
      'an http or https address',
      'Where to POST it as JSON.',
    ).optional(),
    headers: headers.optional(),
    secret: setting(
      z.string().min(1),
      'a text that is not empty',
      'Signs the request: x-reprise-signature is the HMAC-SHA256 of the body.',
    ).optional(),
    command: text('A line for sh to run, with the JSON on its stdin.').optional(),
  })
  .superRefine(({ webhook, command, headers, secret }, context) => {
    const refuse = (says: string, path: string[] = []) =>
      context.addIssue({ code: 'custom', message: says, params: { says }, path })
    if (webhook === undefined && command === undefined) refuse('needs a webhook or a command')
    if (command === undefined) return
    if (webhook !== undefined)
      return refuse('has both a webhook and a command; make it two, with a name each')
    if (headers !== undefined) refuse('is for a webhook; a command has no headers', ['headers'])
    if (secret !== undefined) refuse('is for a webhook; a command is not signed', ['secret'])
  })

export const notify = setting(
  z.record(z.string().regex(/^[a-z0-9][a-z0-9._-]*$/), target),
  'names (small letters, digits, . _ -) with a webhook or a command each',
  'Whom to tell when something is done, has failed or needs a person.',
)
