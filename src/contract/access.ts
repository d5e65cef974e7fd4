/**
 * Who may call the daemon. Everybody who calls it has a token: the command line (the file `token` in the home), every
 * sign-in of a browser, and tokens that a person created for a script. A sign-in link is a token too, which can be used
 * once, to get the token of a sign-in. Only hashes are stored.
 */
import { z } from 'zod'
import { TokenId } from './ids.ts'

/** Each scope includes those before it. */
export const SCOPES = ['read', 'answer', 'act', 'admin'] as const
export const Scope = z
  .enum(SCOPES)
  .describe(
    '`read`: look at everything. `answer`: also answer questions, permission requests and approvals. `act`: also start, change and cancel work. `admin`: also manage tokens and stop the daemon.',
  )
export type Scope = z.infer<typeof Scope>

export const TOKEN_KINDS = ['command-line', 'page', 'named', 'link'] as const
export type TokenKind = (typeof TOKEN_KINDS)[number]

const TokenName = z.string().trim().min(1).max(80)

export const Token = z
  .object({
    id: TokenId.schema,
    kind: z
      .enum(TOKEN_KINDS)
      .describe(
        '`command-line`: the file `token` in the home. `page`: a sign-in of a browser. `named`: created by a person. `link`: a sign-in link that was not used yet.',
      ),
    name: z.string(),
    scope: Scope,
    createdAt: z.iso.datetime(),
    lastUsedAt: z.iso.datetime().nullable(),
    lastUsedFrom: z
      .string()
      .nullable()
      .describe('The address from which it was used last; null: over the Unix socket, or never.'),
    expiresAt: z.iso.datetime().nullable(),
    current: z.boolean().describe('The token of this request.'),
  })
  .meta({ id: 'Token' })
export type Token = z.infer<typeof Token>

export const CreateToken = z
  .strictObject({
    name: TokenName,
    scope: Scope,
    expiresInMs: z
      .number()
      .int()
      .min(60_000)
      .max(366 * 86_400_000)
      .optional(),
  })
  .meta({ id: 'CreateToken' })
export type CreateToken = z.infer<typeof CreateToken>

export const CreatedToken = Token.extend({
  secret: z
    .string()
    .nullable()
    .describe('The token itself, shown only once; null: it is in the file `token`.'),
}).meta({ id: 'CreatedToken' })
export type CreatedToken = z.infer<typeof CreatedToken>

export const CreateSignInLink = z
  .strictObject({
    name: TokenName.optional().describe('The name that the sign-in gets; default: the kind of browser.'),
    scope: Scope.optional().describe('Default: `admin`.'),
  })
  .meta({ id: 'CreateSignInLink' })
export type CreateSignInLink = z.infer<typeof CreateSignInLink>

export const SignInLink = z
  .object({
    url: z
      .string()
      .describe('Opens the dashboard, once. The secret is after the #, so that it reaches no log.'),
    publicUrl: z
      .string()
      .nullable()
      .describe('The same link through the proxy (`server.publicUrl`); null: there is none.'),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'SignInLink' })
export type SignInLink = z.infer<typeof SignInLink>

export const SignIn = z.strictObject({ code: z.string().min(1).max(256) }).meta({ id: 'SignIn' })
export const SignedIn = z
  .object({
    token: Token,
    pageKey: z
      .string()
      .describe(
        'Sent by the page as `X-Reprise-Page` with every request. Browsers send the cookie to every port of a host; the key is known to pages of this port only.',
      ),
  })
  .meta({ id: 'SignedIn' })
export type SignedIn = z.infer<typeof SignedIn>

/** The header that the page sends in addition to its cookie. */
export const PAGE_KEY_HEADER = 'x-reprise-page'

export const AuditEntry = z
  .object({
    id: z.number().int(),
    at: z.iso.datetime(),
    tokenId: TokenId.schema.nullable(),
    who: z.string().describe('The name of the token.'),
    from: z
      .string()
      .nullable()
      .describe('The address from which the request came; null: over the Unix socket.'),
    operation: z.string(),
    subject: z.string().nullable().describe('The id of what was changed or answered.'),
    summary: z.string().nullable().describe('What was decided, such as `allow`.'),
  })
  .meta({ id: 'AuditEntry', description: 'An answer, an approval or a change that somebody made.' })
export type AuditEntry = z.infer<typeof AuditEntry>
