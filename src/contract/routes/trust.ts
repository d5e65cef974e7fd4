import { page } from '../http.ts'
import { DecideTrust, DirectoryTrust, TrustedDirectory, TrustQuery } from '../trust.ts'
import { empty, type FeatureRoutes, json } from './route.ts'

export const trustRoutes = {
  inspectTrust: {
    tag: 'access',
    summary: 'Says what the files of a directory would allow or start, and whether a person has trusted them',
    query: TrustQuery,
    responses: { 200: json('The directory', DirectoryTrust) },
    errors: ['work-dir-unusable'],
  },
  listTrust: {
    tag: 'access',
    summary: 'Lists the directories that a person has decided about',
    responses: { 200: json('All of them', page(TrustedDirectory)) },
  },
  decideTrust: {
    tag: 'access',
    summary: 'Trusts the content of a directory, or decides to go without it',
    description:
      'The decision is about the content with this `digest`. When the content changes, it is open again.',
    scope: 'admin',
    body: DecideTrust,
    responses: { 200: json('The directory after the decision', DirectoryTrust) },
    errors: ['conflict', 'work-dir-unusable'],
  },
  revokeTrust: {
    tag: 'access',
    summary: 'Forgets the decision about a directory',
    scope: 'admin',
    query: TrustQuery,
    responses: { 204: empty('Forgotten') },
    errors: ['not-found'],
  },
} satisfies FeatureRoutes
