/** Notification targets by name: a webhook or a command each. */
import { isIP } from 'node:net'
import { z } from 'zod'
import { NOTIFY_EVENTS } from '../contract/notification.ts'
import { setting, text } from './setting.ts'

/** Headers that Reprise or the HTTP client sets. */
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
      'a text on one line, with characters that are valid in a header',
      'Value of the header.',
    ),
  ),
  'header names with values, except headers that Reprise sets (content-type, user-agent, x-reprise-…)',
  'Headers to add to the request.',
)

const target = z
  .strictObject({
    on: setting(
      z.array(setting(z.enum(NOTIFY_EVENTS), `one of ${NOTIFY_EVENTS.join(', ')}`, 'An event.')).min(1),
      `a list of at least one of ${NOTIFY_EVENTS.join(', ')}`,
      'Events to notify about.',
    ).prefault([...NOTIFY_EVENTS]),
    webhook: setting(
      z.url({ protocol: /^https?$/ }),
      'an http or https address',
      'URL to which the notification is sent as JSON with POST.',
    ).optional(),
    headers: headers.optional(),
    secret: setting(
      z.string().min(1),
      'a text that is not empty',
      'Signs requests: x-reprise-signature is the HMAC-SHA256 of the body.',
    ).optional(),
    command: text('Shell command to run, with the notification as JSON on its stdin.').optional(),
  })
  .superRefine(({ webhook, command, headers, secret }, context) => {
    const refuse = (says: string, path: string[] = []) =>
      context.addIssue({ code: 'custom', message: says, params: { says }, path })
    if (webhook === undefined && command === undefined) refuse('needs a webhook or a command')
    if (command === undefined) return
    if (webhook !== undefined) return refuse('has both a webhook and a command; define two targets instead')
    if (headers !== undefined) refuse('can only be used with a webhook', ['headers'])
    if (secret !== undefined) refuse('can only be used with a webhook', ['secret'])
  })

/** A host name, an address, or a network such as 10.0.0.0/8. */
const isHostOrNetwork = (entry: string) => {
  const [address = '', prefix, ...rest] = entry.split('/')
  const family = isIP(address)
  if (rest.length > 0) return false
  if (family === 0) return prefix === undefined && /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(address)
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128))
}

export const webhooks = z.strictObject({
  allow: setting(
    z.array(
      setting(
        z.string().refine(isHostOrNetwork),
        'a host name, an address, or a network such as 10.0.0.0/8',
        'A host, an address or a network.',
      ),
    ),
    'a list of host names, addresses and networks',
    'Where webhooks may be sent besides public addresses: host names, addresses and networks.',
  ).prefault([]),
})

export const notify = setting(
  z.record(z.string().regex(/^[a-z0-9][a-z0-9._-]*$/), target),
  'names (lower-case letters, digits, . _ -) with a webhook or a command each',
  'Targets to notify when work completes, fails or needs a person.',
)
