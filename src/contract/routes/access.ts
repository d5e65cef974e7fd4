import { z } from 'zod'
import {
  AuditEntry,
  CreatedToken,
  CreateSignInLink,
  CreateToken,
  SignedIn,
  SignIn,
  SignInLink,
  Token,
} from '../access.ts'
import { page } from '../http.ts'
import { TokenId } from '../ids.ts'
import { PageQuery } from './parameters.ts'
import { empty, type FeatureRoutes, json } from './route.ts'

const TokenPath = z.object({ id: TokenId.schema })

export const accessRoutes = {
  createSignInLink: {
    tag: 'access',
    summary: 'Makes a link that signs a browser in, once, within ten minutes',
    scope: 'admin',
    body: CreateSignInLink,
    bodyOptional: true,
    responses: { 201: json('The link', SignInLink) },
  },
  signIn: {
    tag: 'access',
    summary: 'Exchanges the secret of a link for a sign-in: a cookie, and a key for the page',
    auth: 'none',
    body: SignIn,
    bodyLimit: 'small',
    responses: { 200: json('Signed in; the cookie is set', SignedIn) },
    errors: ['unauthorized'],
  },
  signOut: {
    tag: 'access',
    summary: "Ends this browser's sign-in",
    scope: 'read',
    responses: { 204: empty('Signed out; the cookie is removed') },
  },
  listTokens: {
    tag: 'access',
    summary: 'Lists who may call the daemon: tokens and sign-ins',
    scope: 'admin',
    responses: { 200: json('All of them', page(Token)) },
  },
  createToken: {
    tag: 'access',
    summary: 'Creates a token for a script or a person',
    scope: 'admin',
    body: CreateToken,
    responses: { 201: json('The token, shown once', CreatedToken) },
  },
  revokeToken: {
    tag: 'access',
    summary: 'Revokes a token or a sign-in',
    scope: 'admin',
    params: TokenPath,
    responses: { 204: empty('It is not accepted any more') },
    errors: ['not-found', 'conflict'],
  },
  rotateToken: {
    tag: 'access',
    summary: 'Replaces the secret of a token; the old one is not accepted any more',
    description:
      'If it is the token of the command line, all other tokens, sign-ins and sign-in links end, too. Open streams of tokens that end are closed.',
    scope: 'admin',
    params: TokenPath,
    responses: { 200: json('The token with its new secret', CreatedToken) },
    errors: ['not-found', 'conflict'],
  },
  listAudit: {
    tag: 'access',
    summary: 'Lists answers, approvals and changes: who made them, when and from where; newest first',
    query: PageQuery.extend({
      subject: z.string().max(128).optional().describe('Only those about this id.'),
    }),
    responses: { 200: json('One page', page(AuditEntry)) },
  },
} satisfies FeatureRoutes
