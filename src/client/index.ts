/** The entry `reprise/client`: the API of a daemon. Runs in Node 20 and in browsers. */
export * from '../contract/public.ts'
export { type Client, type ClientOptions, createClient } from './client.ts'
export type { FollowOptions } from './follow.ts'
export type { KeyOptions, PageOptions } from './request.ts'
