/** The operations of the table with their method and pattern. */
import { OPERATION_IDS, type OperationId, splitPath } from '../../contract/routes/paths.ts'
import type { RouteSpec } from '../../contract/routes/route.ts'
import { ROUTES } from '../../contract/routes/table.ts'

export interface Route {
  id: OperationId
  method: string
  /** As Hono writes it: `/api/runs/:id`. */
  pattern: string
  spec: RouteSpec
}

export const ALL_ROUTES: readonly Route[] = OPERATION_IDS.map((id) => {
  const { method, path } = splitPath(id)
  return { id, method, pattern: path.replaceAll(/\{(\w+)\}/g, ':$1'), spec: ROUTES[id] }
})

/** The methods of the operations at a path. Which operation a request is for is decided by the router alone. */
export const methodsAt = (path: string): string[] => [
  ...new Set(ALL_ROUTES.filter(({ pattern }) => fits(pattern, path)).map(({ method }) => method)),
]

/** Whether a path has the form of a pattern. */
function fits(pattern: string, path: string): boolean {
  const expected = pattern.split('/')
  const actual = path.split('/')
  return (
    expected.length === actual.length &&
    expected.every((part, index) => (part.startsWith(':') ? actual[index] !== '' : part === actual[index]))
  )
}
