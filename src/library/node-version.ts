/**
 * Refuses to load on a Node that is too old, in one sentence. Modules that such a Node cannot even load must be imported
 * dynamically after this one.
 */
const NEEDED = 24

const { node } = process.versions
if (Number.parseInt(node, 10) < NEEDED) {
  const error = new Error(
    `reprise needs Node ${NEEDED} or newer, but this is Node ${node}; only reprise/client also runs on Node 20.`,
  )
  // The place in the code says nothing to the reader.
  error.stack = `Error: ${error.message}`
  throw error
}
