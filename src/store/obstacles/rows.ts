import type { ExpressionBuilder } from 'kysely'
import type { Obstacle } from '../../core/obstacle/obstacle.ts'
import type { Tables } from '../base/schema.ts'
import { PAUSED_MS } from '../runs/rows.ts'
import type { ObstaclesTable } from './schema.ts'

export const obstacleKey = ({ account, model }: Pick<Obstacle, 'account' | 'model'>) =>
  `${account}/${model ?? ''}`

export const accountOf = (key: string) => key.slice(0, key.indexOf('/'))

export const modelOf = (key: string) => key.slice(key.indexOf('/') + 1)

export const toObstacle = (row: ObstaclesTable): Obstacle => ({
  kind: row.kind,
  account: row.account,
  model: row.model === '' ? null : row.model,
  message: row.message,
  since: new Date(Number(row.since)),
  nextTryAt: new Date(Number(row.next_try_at)),
  resetsAt: row.resets_at === null ? null : new Date(Number(row.resets_at)),
  failures: row.failures,
  lastFailureAt: new Date(Number(row.last_failure_at)),
  lastAttemptId: row.last_attempt_id,
})

/** A run without a time is due. */
export const isNotPaused = (eb: ExpressionBuilder<Tables, 'runs'>) =>
  eb.or([eb('not_before', 'is', null), eb('not_before', '<', PAUSED_MS)])
