export { RepriseError } from '../contract/errors.ts'
export { type Client, type ClientOptions, createClient, type PageOptions } from './client.ts'
export type { FollowOptions } from './follow.ts'
