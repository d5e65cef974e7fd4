/**
 * Refuses to load on a Node that is too old, in one sentence. Modules that such a Node cannot even load must be imported
 * dynamically after this one.
 */
import { RepriseError } from '../contract/errors.ts'

const NEEDED = 24

const { node } = process.versions
if (Number.parseInt(node, 10) < NEEDED) {
  const error = new RepriseError(
    'node-too-old',
    `reprise needs Node ${NEEDED} or newer, but this is Node ${node}; only reprise/client also runs on Node 20.`,
  )
  error.stack = `${error.name}: ${error.message}`
  throw error
}
