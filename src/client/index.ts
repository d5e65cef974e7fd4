export { RepriseError } from '../contract/errors.ts'
export { type Client, type ClientOptions, createClient } from './client.ts'
export type { FollowOptions } from './follow.ts'
export type { KeyOptions, PageOptions } from './request.ts'
